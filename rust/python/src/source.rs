//! Rows that come from Python: they are asked for on the thread that brought them, and nowhere else.
//!
//! What gives them may be bound to its thread, as a database's cursor is, and Ctrl-C is Python's business on the main
//! thread alone. The work that wants the rows is on the runtime's threads and asks.

use std::future::Future;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use deltaic_protocol::Result;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::error::{Answer, Raised};
use crate::fault::guarded;
use crate::runtime::{Event, Work, attached, of_a_parent};

/// How long work that was interrupted may take to put away what it has begun.
const GRACE: Duration = Duration::from_secs(5);

type Given = Option<std::result::Result<RecordBatch, ArrowError>>;

/// The rows as the work sees them.
struct Asking<T> {
    schema: SchemaRef,
    asks: SyncSender<Event<T, ()>>,
    given: Receiver<Given>,
}

impl<T> Iterator for Asking<T> {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let asked = self.asks.send(Event::Asked(()));
        let given = asked.ok().and_then(|()| self.given.recv().ok());
        // Rows that break off are not rows that end.
        given.unwrap_or_else(|| Some(Err(ArrowError::ExternalError("it was interrupted".into()))))
    }
}

impl<T> RecordBatchReader for Asking<T> {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}

/// Lets go of the interpreter and waits for work that reads rows. Ctrl-C ends the wait; work that is still at its rows
/// is told that they broke off, so that it can put away what it has begun.
pub(crate) fn wait_reading<T, F>(
    py: Python<'_>,
    mut rows: Box<dyn RecordBatchReader + Send>,
    work: impl FnOnce(Box<dyn RecordBatchReader + Send>) -> F + Send,
) -> Answer<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    guarded(|| {
        let waited = py.detach(move || -> Answer<Result<T>> {
            let (give, given) = channel();
            let schema = rows.schema();
            let work = Work::begin(|asks| work(Box::new(Asking { schema, asks, given })))?;
            let mut at_its_rows = true;
            loop {
                let looked = match work.next()? {
                    Some(Event::Done(answer)) => return Ok(answer),
                    Some(Event::Asked(())) => give_next(&mut *rows, &give, &mut at_its_rows, &work),
                    None => attached(|py| py.check_signals()),
                };
                if work.is_inherited() {
                    // A thread that this process does not have may hold the lock inside.
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
        waited?.map_err(Raised::from)
    })
}

fn give_next<T: Send + 'static>(
    rows: &mut dyn RecordBatchReader,
    give: &Sender<Given>,
    at_its_rows: &mut bool,
    work: &Work<T, ()>,
) -> PyResult<()> {
    let next = rows.next();
    if work.is_inherited() {
        return Ok(());
    }
    attached(|py| py.check_signals())?;
    // A Ctrl-C inside of what gives the rows comes out of an Arrow stream as text.
    if let Some(Err(error)) = &next
        && error.to_string().contains("KeyboardInterrupt")
    {
        return Err(PyKeyboardInterrupt::new_err(()));
    }
    *at_its_rows = next.is_some();
    // Work that wants no more is about to say why.
    let _ = give.send(next);
    Ok(())
}
