//! `deltaic._rust.WriteTask`

use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_table::write::{self, Share, Written};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Map, Value, json};

use super::source::wait_reading;
use crate::calls::error::CallResult;
use crate::calls::fault::guarded;
use crate::capsule::BatchesIn;

#[pyclass(module = "deltaic._rust", frozen)]
pub struct WriteTask(pub write::WriteTask);

#[pymethods]
impl WriteTask {
    #[getter]
    fn uri(&self) -> &str {
        self.0.uri()
    }

    /// Returns the files as JSON text, as `Transaction.add` takes them. A share is the number of a task and that of all
    /// tasks.
    #[pyo3(signature = (data, share=None))]
    fn write(&self, py: Python<'_>, data: BatchesIn, share: Option<(u32, u32)>) -> CallResult<String> {
        let task = self.0.clone();
        let share = share.map(|(index, count)| Share { index, count });
        wait_reading(py, None, data, |rows| async move {
            let written_for = task.written_for()?;
            let Written {
                adds,
                high_water_marks,
                ..
            } = task.write(rows, share).await?;
            let marks: Map<String, Value> = high_water_marks
                .into_iter()
                .map(|(name, value)| (name, value.into()))
                .collect();
            let files = adds.into_iter().map(|add| {
                let mut file = json!({
                    "path": add.path,
                    "size": add.size,
                    "modification_time": add.modification_time,
                    "partition_values": add.partition_values,
                    "stats": add.stats,
                    "written_for": written_for,
                });
                if let (false, Some(file)) = (marks.is_empty(), file.as_object_mut()) {
                    file.insert("high_water_marks".to_owned(), marks.clone().into());
                }
                file
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
