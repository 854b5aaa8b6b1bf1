//! Exports batches to Python: as an Arrow stream, or several at a time with errors of deltaic's own classes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;

use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use deltaic_protocol::{Error, Result};
use deltaic_storage::fault;
use deltaic_table::read::BatchStream;
use futures::{FutureExt, StreamExt};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::calls::diagnostics::{deliver, has_records};
use crate::calls::error::{CallResult, Raised};
use crate::calls::fault::guarded;
use crate::calls::runtime::{SIGNALS, attached, poll_python, runtime};
use crate::capsule::export_stream;

const INTERRUPTED: &str = "this iterator was interrupted or is read by another thread: start the scan again";
const OF_A_PARENT: &str = "this iterator was created before the fork and belongs to the parent process: start a new scan in this process";

/// A stream and the process that started it. Its reads run on threads of that process: in a child of `fork` they never
/// progress, and dropping the stream could block on one of them.
struct OwnedStream {
    process: u32,
    stream: Option<BatchStream>,
    /// The error that follows the batches returned last.
    failure: Option<Error>,
}

impl OwnedStream {
    fn new(stream: BatchStream) -> Self {
        Self {
            process: std::process::id(),
            stream: Some(stream),
            failure: None,
        }
    }

    /// Returns the next batch and the batches after it that are ready. Checks for Ctrl-C while it waits.
    fn next_batches(&mut self) -> CallResult<Vec<RecordBatch>> {
        let mut batches = Vec::new();
        let mut bytes = 0;
        loop {
            if let Some(failure) = self.failure.take_if(|_| batches.is_empty()) {
                self.stream = None;
                return Err(failure.into());
            }
            let Some(stream) = self.stream.as_mut().filter(|_| self.failure.is_none()) else {
                return Ok(batches);
            };
            let at_once = {
                // Tasks that the poll spawns need the runtime.
                let _inside = runtime()?.enter();
                stream.next().now_or_never()
            };
            let next = match at_once {
                Some(next) => next,
                None if batches.is_empty() => wait_for(stream, true)?,
                None => return Ok(batches),
            };
            match next {
                Some(Ok(batch)) => {
                    bytes += batch.get_array_memory_size();
                    batches.push(batch);
                    if bytes >= HANDED_OVER {
                        return Ok(batches);
                    }
                }
                Some(Err(failure)) => self.failure = Some(failure),
                None => self.stream = None,
            }
        }
    }

    fn is_inherited(&self) -> bool {
        self.process != std::process::id()
    }
}

/// Blocks this thread until the next batch. No other thread drives the stream.
fn wait_for(stream: &mut BatchStream, polls: bool) -> CallResult<Option<Result<RecordBatch>>> {
    let runtime = runtime()?;
    loop {
        let next = runtime.block_on(async { tokio::time::timeout(SIGNALS, stream.next()).await });
        match next {
            Ok(next) => {
                if polls && has_records() {
                    attached(poll_python)?;
                }
                return Ok(next);
            }
            Err(_) if polls => attached(poll_python)?,
            Err(_) => {}
        }
    }
}

impl Drop for OwnedStream {
    fn drop(&mut self) {
        let stream = self.stream.take();
        if self.is_inherited() {
            std::mem::forget(stream);
            return;
        }
        // Python and C code that release a stream cannot take an error, so it is reported to `sys.unraisablehook`.
        if catch_unwind(AssertUnwindSafe(|| drop(stream))).is_err() {
            let error = fault::caught();
            let _ = attached(|py| {
                PyErr::from(Raised::from(error)).write_unraisable(py, None);
                Ok(())
            });
        }
    }
}

/// A stream of batches as a blocking reader, for the Arrow C stream interface.
pub(crate) struct Blocking {
    schema: SchemaRef,
    held: OwnedStream,
    /// The main thread, if the stream was requested on it: only the main thread sees Ctrl-C.
    main: Option<ThreadId>,
    interrupted: bool,
}

impl Blocking {
    pub(crate) fn new(py: Python<'_>, schema: SchemaRef, stream: BatchStream) -> CallResult<Self> {
        let threading = py.import("threading")?;
        let is_main = threading
            .call_method0("current_thread")?
            .is(threading.call_method0("main_thread")?);
        Ok(Self {
            schema,
            held: OwnedStream::new(stream),
            main: is_main.then(|| std::thread::current().id()),
            interrupted: false,
        })
    }

    fn next_batch(&mut self) -> CallResult<Option<std::result::Result<RecordBatch, ArrowError>>> {
        let polls = self.main == Some(std::thread::current().id());
        let Some(stream) = &mut self.held.stream else {
            return Ok(None);
        };
        // Arrow's C interface carries only text, so the hint is part of the message.
        Ok(wait_for(stream, polls)?.map(|batch| {
            batch.map_err(|error| {
                let hint = error.hint_text();
                let hint = hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
                external(&format!("{}: {error}{hint}", error.kind().class_name()))
            })
        }))
    }
}

fn external(text: &str) -> ArrowError {
    ArrowError::ExternalError(text.into())
}

impl Iterator for Blocking {
    type Item = std::result::Result<RecordBatch, ArrowError>;

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
                    // The C interface cannot carry an exception, so Ctrl-C is signalled again: Python code that reads
                    // batch by batch gets it after this empty batch; other readers get an error on the next call.
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

/// Bytes of batches that are returned at once: enough to amortize the call, few enough for a CPU cache.
const HANDED_OVER: usize = 8 << 20;

/// Returns batches, several at a time.
#[pyclass(module = "deltaic._rust", frozen)]
pub(crate) struct BatchReader {
    process: u32,
    state: Mutex<Reading>,
}

/// The state of a reader. The stream is taken out during a wait, so that no lock is held.
enum Reading {
    Ready(OwnedStream),
    /// A wait is in progress or was interrupted; the position in the stream is unknown.
    Taken,
    Done,
}

impl BatchReader {
    pub(crate) fn new(stream: BatchStream) -> Self {
        Self {
            process: std::process::id(),
            state: Mutex::new(Reading::Ready(OwnedStream::new(stream))),
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

    fn __next__(&self, py: Python<'_>) -> CallResult<Option<Batches>> {
        // Checked before locking: a child may have inherited the lock in its locked state.
        if self.process != std::process::id() {
            return Err(PyRuntimeError::new_err(OF_A_PARENT).into());
        }
        let mut held = match self.replace(Reading::Taken) {
            Reading::Ready(held) => held,
            Reading::Done => {
                self.replace(Reading::Done);
                return Ok(None);
            }
            // Ending the iterator here would look like the end of the data.
            Reading::Taken => return Err(PyRuntimeError::new_err(INTERRUPTED).into()),
        };
        let read = guarded(|| {
            py.detach(move || {
                let batches = held.next_batches()?;
                Ok((batches, held))
            })
        });
        deliver(py);
        let (batches, held) = read?;
        self.replace(if batches.is_empty() {
            Reading::Done
        } else {
            Reading::Ready(held)
        });
        Ok((!batches.is_empty()).then_some(Batches(batches)))
    }
}

/// Batches in memory.
#[pyclass(module = "deltaic._rust", frozen)]
pub struct Batches(Vec<RecordBatch>);

#[pymethods]
impl Batches {
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.iter().map(RecordBatch::num_rows).sum()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> CallResult<Bound<'py, PyCapsule>> {
        let schema = self
            .0
            .first()
            .map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
        let batches = self.0.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, schema);
        guarded(|| export_stream(py, Box::new(reader), requested_schema))
    }
}
