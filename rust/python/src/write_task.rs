//! `deltaic._rust.WriteTask`

use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_table::write;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::capsule::BatchesIn;
use crate::error::CallResult;
use crate::fault::guarded;
use crate::source::wait_reading;

#[pyclass(module = "deltaic._rust", frozen)]
pub struct WriteTask(pub write::WriteTask);

#[pymethods]
impl WriteTask {
    #[getter]
    fn uri(&self) -> &str {
        self.0.uri()
    }

    /// Returns the files as JSON text, as `Transaction.add` takes them.
    fn write(&self, py: Python<'_>, data: BatchesIn) -> CallResult<String> {
        let task = self.0.clone();
        wait_reading(py, None, data.0, |rows| async move {
            let written_for = task.written_for()?;
            let files = task.write(rows).await?;
            let files = files.into_iter().map(|add| {
                json!({
                    "path": add.path,
                    "size": add.size,
                    "modification_time": add.modification_time,
                    "partition_values": add.partition_values,
                    "stats": add.stats,
                    "written_for": written_for,
                })
            });
            to_text(&files.collect())
        })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> CallResult<Bound<'py, PyBytes>> {
        guarded(|| Ok(PyBytes::new(py, &self.0.to_bytes()?)))
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> CallResult<Self> {
        guarded(|| Ok(Self(write::WriteTask::from_bytes(data)?)))
    }
}

fn to_text(files: &Vec<Value>) -> Result<String> {
    serde_json::to_string(files).map_err(|error| {
        let what = format!("the written files cannot be described: {error}");
        Error::new(ErrorKind::Internal, what)
    })
}
