//! `deltaic._rust.Schema`

use std::sync::Arc;

use deltaic_protocol::schema::StructType;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::calls::error::CallResult;
use crate::calls::fault::guarded;
use crate::capsule::export_schema;

#[pyclass(module = "deltaic._rust", frozen)]
pub struct Schema(pub Arc<StructType>, pub String);

impl Schema {
    /// A schema with its JSON text in the log, if there is one.
    pub fn new(schema: Arc<StructType>, text: Option<&str>) -> Self {
        let text = text.map_or_else(|| schema.to_json(), str::to_owned);
        Self(schema, text)
    }
}

#[pymethods]
impl Schema {
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.0.names().collect()
    }

    fn to_json(&self) -> &str {
        &self.1
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.0.to_json().hash(&mut hasher);
        hasher.finish()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> CallResult<Bound<'py, PyCapsule>> {
        guarded(|| export_schema(py, &self.0.to_arrow()?))
    }
}
