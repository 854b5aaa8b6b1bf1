//! Batches on their way to Python: as an Arrow stream, and one by one with errors of our own classes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use deltaic_log::fault;
use deltaic_table::read::BatchStream;
use futures::StreamExt;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::capsule::export_batch;
use crate::error::{Answer, Raised};
use crate::fault::guarded;
use crate::runtime::{SIGNALS, attached, runtime, wait};

const INTERRUPTED: &str = "this iterator was interrupted or is read by another thread: start the scan anew";
const OF_A_PARENT: &str = "this iterator was begun before a fork, by the parent process: start the scan anew";

/// A stream and the process that began it. What is read for it is on that process's threads, so that in a child it would
/// never go on, and to drop it there might be to wait for one of them.
struct Held {
    process: u32,
    stream: Option<BatchStream>,
}

impl Held {
    fn new(stream: BatchStream) -> Self {
        Self {
            process: std::process::id(),
            stream: Some(stream),
        }
    }

    fn is_inherited(&self) -> bool {
        self.process != std::process::id()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let stream = self.stream.take();
        if self.is_inherited() {
            std::mem::forget(stream);
            return;
        }
        // Python, and C code that releases a stream, can take no error here; Python's hook for such errors is told.
        if catch_unwind(AssertUnwindSafe(|| drop(stream))).is_err() {
            let error = fault::caught();
            let _ = attached(|py| {
                PyErr::from(Raised::from(error)).write_unraisable(py, None);
                Ok(())
            });
        }
    }
}

/// A stream of batches as a blocking reader, for the Arrow C interface.
pub(crate) struct Blocking {
    schema: SchemaRef,
    held: Held,
    /// The main thread, where the stream was asked for there: the only one that can see Ctrl-C.
    main: Option<ThreadId>,
    interrupted: bool,
}

impl Blocking {
    pub(crate) fn new(py: Python<'_>, schema: SchemaRef, stream: BatchStream) -> Answer<Self> {
        let threading = py.import("threading")?;
        let is_main = threading
            .call_method0("current_thread")?
            .is(threading.call_method0("main_thread")?);
        Ok(Self {
            schema,
            held: Held::new(stream),
            main: is_main.then(|| std::thread::current().id()),
            interrupted: false,
        })
    }

    fn next_batch(&mut self) -> Answer<Option<Result<RecordBatch, ArrowError>>> {
        let Some(stream) = &mut self.held.stream else {
            return Ok(None);
        };
        let runtime = runtime()?;
        let looks = self.main == Some(std::thread::current().id());
        loop {
            let next = runtime.block_on(async { tokio::time::timeout(SIGNALS, stream.next()).await });
            if let Ok(next) = next {
                // Arrow's C interface carries text alone, so the hint goes with the message.
                return Ok(next.map(|batch| {
                    batch.map_err(|error| {
                        let hint = error.hint_text();
                        let hint = hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
                        external(&format!("{}: {error}{hint}", error.kind().class_name()))
                    })
                }));
            }
            if looks {
                attached(|py| py.check_signals())?;
            }
        }
    }
}

fn external(text: &str) -> ArrowError {
    ArrowError::ExternalError(text.into())
}

impl Iterator for Blocking {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.held.is_inherited() {
            return Some(Err(external(OF_A_PARENT)));
        }
        if self.interrupted {
            return Some(Err(external("KeyboardInterrupt: reading was interrupted")));
        }
        match self.next_batch() {
            Ok(batch) => batch,
            Err(interrupt) => {
                self.interrupted = true;
                let error = PyErr::from(interrupt);
                let mut pressed_again = false;
                let _ = attached(|py| {
                    // The interface has no way for an exception, so Ctrl-C is pressed once more: whoever reads batch by
                    // batch in Python gets it after this batch without rows, and whoever does not gets an error next.
                    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
                        pressed_again = py.import("_thread")?.call_method0("interrupt_main").is_ok();
                    }
                    Ok(())
                });
                Some(if pressed_again {
                    Ok(RecordBatch::new_empty(Arc::clone(&self.schema)))
                } else {
                    Err(external(&format!("reading was interrupted: {error}")))
                })
            }
        }
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
    process: u32,
    state: Mutex<Reading>,
}

/// Where a reader is. The stream is taken out while a batch is waited for, so that no lock is held then.
enum Reading {
    Ready(Held),
    /// A batch is being waited for, or its wait was interrupted: what comes next is not known.
    Taken,
    Done,
}

impl BatchReader {
    pub(crate) fn new(stream: BatchStream) -> Self {
        Self {
            process: std::process::id(),
            state: Mutex::new(Reading::Ready(Held::new(stream))),
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
        // Before the lock: a child may have inherited it locked.
        if self.process != std::process::id() {
            return Err(PyRuntimeError::new_err(OF_A_PARENT).into());
        }
        let mut held = match self.replace(Reading::Taken) {
            Reading::Ready(held) => held,
            Reading::Done => {
                self.replace(Reading::Done);
                return Ok(None);
            }
            // The end of the iterator here would look like the end of the data.
            Reading::Taken => return Err(PyRuntimeError::new_err(INTERRUPTED).into()),
        };
        let (batch, held) = wait(py, async move {
            let batch = match &mut held.stream {
                Some(stream) => stream.next().await.transpose()?,
                None => None,
            };
            Ok((batch, held))
        })?;
        self.replace(if batch.is_some() {
            Reading::Ready(held)
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
        guarded(|| export_batch(py, &self.0))
    }
}
