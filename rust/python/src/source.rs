//! Rows that Python provides. They are requested only on the thread that passed them in.
//!
//! Their source may be bound to that thread, as a database cursor is, and Python handles Ctrl-C only on the main
//! thread. The work that consumes the rows runs on the runtime's threads and sends requests.

use std::future::Future;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use deltaic_protocol::Result;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::diagnostics::deliver;
use crate::error::{CallResult, Raised};
use crate::fault::guarded;
use crate::runtime::{Event, Work, attached, of_a_parent, poll_python};

/// The time that interrupted work may take to delete the files it has written.
const GRACE: Duration = Duration::from_secs(5);

type NextBatch = Option<std::result::Result<RecordBatch, ArrowError>>;

/// A reader that requests its rows from the waiting thread.
struct Asking<T> {
    schema: SchemaRef,
    asks: SyncSender<Event<T, ()>>,
    given: Receiver<NextBatch>,
}

impl<T> Iterator for Asking<T> {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let asked = self.asks.send(Event::Asked(()));
        let given = asked.ok().and_then(|()| self.given.recv().ok());
        // An interrupted source must not look like the end of the rows.
        given.unwrap_or_else(|| Some(Err(ArrowError::ExternalError("it was interrupted".into()))))
    }
}

impl<T> RecordBatchReader for Asking<T> {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}

/// Detaches from the interpreter and waits for work that reads rows. Ctrl-C ends the wait. Work that is still reading
/// gets an error as its next batch, so that it can delete the files it has written.
pub(crate) fn wait_reading<T, F>(
    py: Python<'_>,
    mut rows: Box<dyn RecordBatchReader + Send>,
    work: impl FnOnce(Box<dyn RecordBatchReader + Send>) -> F + Send,
) -> CallResult<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    guarded(|| {
        let waited = py.detach(move || -> CallResult<Result<T>> {
            let (give, given) = channel();
            let schema = rows.schema();
            let work = Work::begin(|asks| work(Box::new(Asking { schema, asks, given })))?;
            let mut at_its_rows = true;
            loop {
                let looked = match work.next()? {
                    Some(Event::Done(answer)) => return Ok(answer),
                    Some(Event::Asked(())) => next_of(&mut *rows, &give, &mut at_its_rows, &work),
                    None => attached(poll_python),
                };
                if work.is_inherited() {
                    // The lock inside may be held by a thread that does not exist in this process.
                    std::mem::forget(give);
                    return Err(of_a_parent());
                }
                if let Err(interrupt) = looked {
                    drop(give);
                    if at_its_rows {
                        work.leave(GRACE);
                    }
                    return Err(interrupt.into());
                }
            }
        });
        deliver(py);
        waited?.map_err(Raised::from)
    })
}

fn next_of<T: Send + 'static>(
    rows: &mut dyn RecordBatchReader,
    give: &Sender<NextBatch>,
    at_its_rows: &mut bool,
    work: &Work<T, ()>,
) -> PyResult<()> {
    let next = rows.next();
    if work.is_inherited() {
        return Ok(());
    }
    attached(|py| py.check_signals())?;
    // A Ctrl-C inside the producer of the rows arrives through an Arrow stream as text.
    if let Some(Err(error)) = &next
        && error.to_string().contains("KeyboardInterrupt")
    {
        return Err(PyKeyboardInterrupt::new_err(()));
    }
    *at_its_rows = next.is_some();
    // If the receiver is closed, the work is about to return an error.
    let _ = give.send(next);
    Ok(())
}
