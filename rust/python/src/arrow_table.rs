//! `deltaic._rust.ArrowTable`

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsule::{export_schema, export_stream};
use crate::error::CallResult;
use crate::fault::guarded;

#[pyclass(module = "deltaic._rust", frozen)]
pub struct ArrowTable {
    pub schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
}

#[pymethods]
impl ArrowTable {
    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    #[getter]
    fn schema(&self) -> ArrowSchema {
        ArrowSchema(Arc::clone(&self.schema))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> CallResult<Bound<'py, PyCapsule>> {
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        guarded(|| export_stream(py, Box::new(reader), requested_schema))
    }
}

/// The Arrow schema of an `ArrowTable`. Its columns are those of log actions, not of a Delta table.
#[pyclass(module = "deltaic._rust", frozen)]
pub struct ArrowSchema(SchemaRef);

#[pymethods]
impl ArrowSchema {
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.0
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> CallResult<Bound<'py, PyCapsule>> {
        guarded(|| export_schema(py, &self.0))
    }
}
