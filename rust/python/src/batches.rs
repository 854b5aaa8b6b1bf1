//! Batches on their way to Python: as an Arrow stream, and one by one with errors of our own classes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use deltaic_protocol::{Error, ErrorKind};
use deltaic_table::read::BatchStream;
use futures::StreamExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tokio::runtime::Runtime;

use crate::capsule::export_batch;
use crate::error::Answer;
use crate::runtime::{runtime, wait};

/// A stream of batches as a blocking reader, for the Arrow C interface.
pub(crate) struct Blocking {
    runtime: Arc<Runtime>,
    schema: SchemaRef,
    stream: BatchStream,
}

impl Blocking {
    pub(crate) fn new(schema: SchemaRef, stream: BatchStream) -> Answer<Self> {
        Ok(Self {
            runtime: runtime()?,
            schema,
            stream,
        })
    }
}

impl Iterator for Blocking {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // A panic must not unwind into the C code that calls this: there it would end the process.
        let next = AssertUnwindSafe(|| self.runtime.block_on(self.stream.next()));
        let batch = catch_unwind(next).unwrap_or_else(|_| {
            Some(Err(Error::new(
                ErrorKind::CorruptData,
                "reading broke off by a fault in deltaic",
            )))
        })?;
        // Arrow's C interface carries text alone, so the hint goes with the message.
        Some(batch.map_err(|error| {
            let hint = error
                .hint_text()
                .map(|hint| format!("\nhint: {hint}"))
                .unwrap_or_default();
            ArrowError::ExternalError(format!("{}: {error}{hint}", error.kind().class_name()).into())
        }))
    }
}

impl RecordBatchReader for Blocking {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Batches one by one.
#[pyclass(module = "deltaic._rust", frozen)]
pub(crate) struct BatchReader {
    state: Mutex<Reading>,
}

/// Where a reader is. The stream is taken out while a batch is waited for, so that no lock is held then.
enum Reading {
    Ready(BatchStream),
    /// A batch is being waited for, or its wait was interrupted: what comes next is not known.
    Taken,
    Done,
}

impl BatchReader {
    pub(crate) fn new(stream: BatchStream) -> Self {
        Self {
            state: Mutex::new(Reading::Ready(stream)),
        }
    }

    fn replace(&self, state: Reading) -> Reading {
        std::mem::replace(
            &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner),
            state,
        )
    }
}

#[pymethods]
impl BatchReader {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> Answer<Option<Batch>> {
        let mut stream = match self.replace(Reading::Taken) {
            Reading::Ready(stream) => stream,
            Reading::Done => {
                self.replace(Reading::Done);
                return Ok(None);
            }
            // The end of the iterator here would look like the end of the data.
            Reading::Taken => {
                return Err(PyRuntimeError::new_err(
                    "this iterator was interrupted or is read by another thread: start the scan anew",
                )
                .into());
            }
        };
        let batch = wait(py, async { stream.next().await.transpose() })?;
        self.replace(if batch.is_some() {
            Reading::Ready(stream)
        } else {
            Reading::Done
        });
        Ok(batch.map(Batch))
    }
}

/// One batch.
#[pyclass(module = "deltaic._rust", frozen)]
pub struct Batch(RecordBatch);

#[pymethods]
impl Batch {
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> Answer<Bound<'py, PyTuple>> {
        // A batch has one schema; the protocol leaves it to the consumer to convert.
        let _ = requested_schema;
        export_batch(py, &self.0)
    }
}
