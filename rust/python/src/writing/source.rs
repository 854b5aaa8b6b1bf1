//! Rows that Python provides. They are requested only on the thread that passed them in.
//!
//! Their source may be bound to that thread, as a database cursor is, and Python handles Ctrl-C only on the main
//! thread. The work that consumes the rows runs on the runtime's threads and sends requests.

use std::future::Future;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_table::write::RowStream;
use futures::stream;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::calls::diagnostics::deliver;
use crate::calls::error::{CallResult, broken};
use crate::calls::fault::guarded;
use crate::calls::progress::Reporter;
use crate::calls::runtime::{Event, Work, attached, of_a_parent, poll_python};
use crate::capsule::BatchesIn;

/// The time that interrupted work may take to delete the files it has written.
const GRACE: Duration = Duration::from_secs(5);

type NextBatch = Option<std::result::Result<RecordBatch, ArrowError>>;

/// What the work requests of the waiting thread.
pub(crate) enum Request {
    /// The next batch.
    Next,
    /// The rows again, from the first: where its batches go, and the schema.
    Again(UnboundedSender<NextBatch>, oneshot::Sender<Result<SchemaRef>>),
}

type Requests<T> = SyncSender<Event<T, Request>>;

/// Rows that are requested from the waiting thread.
fn rows_of_caller<T: Send + 'static>(
    schema: SchemaRef,
    requests: &Requests<T>,
    given: UnboundedReceiver<NextBatch>,
    is_read_again: bool,
) -> RowStream {
    let next = |(requests, mut given): (Requests<T>, UnboundedReceiver<NextBatch>)| async move {
        let next = match requests.send(Event::Asked(Request::Next)) {
            Ok(()) => given.recv().await,
            Err(_) => None,
        };
        // An interrupted source must not look like the end of the rows.
        let interrupted = || Some(Err(ArrowError::ExternalError("it was interrupted".into())));
        next.unwrap_or_else(interrupted)
            .map(|batch| (batch, (requests, given)))
    };
    let rows = RowStream::new(schema, stream::unfold((requests.clone(), given), next));
    if !is_read_again {
        return rows;
    }
    let requests = requests.clone();
    rows.with_again(Box::new(move || {
        Box::pin(async move {
            let interrupted = || {
                Error::new(
                    ErrorKind::InvalidArgument,
                    "the source of the rows was interrupted",
                )
            };
            let (give, given) = unbounded_channel();
            let (answer, schema) = oneshot::channel();
            let request = Event::Asked(Request::Again(give, answer));
            requests.send(request).map_err(|_| interrupted())?;
            let schema = schema.await.map_err(|_| interrupted())??;
            Ok(rows_of_caller(schema, &requests, given, true))
        })
    }))
}

/// Detaches from the interpreter and waits for work that reads rows. Ctrl-C ends the wait, as does an exception of the
/// function that gets the progress. Work that is still reading gets an error as its next batch, so that it can delete the files it has written.
pub(crate) fn wait_reading<T, F>(
    py: Python<'_>,
    reporter: Option<&Reporter>,
    data: BatchesIn,
    work: impl FnOnce(RowStream) -> F + Send,
) -> CallResult<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    guarded(|| {
        let waited = py.detach(move || -> CallResult<Result<T>> {
            let BatchesIn { mut rows, again } = data;
            let (mut give, given) = unbounded_channel();
            let (schema, is_read_again) = (rows.schema(), again.is_some());
            let work = Work::begin(|requests| work(rows_of_caller(schema, &requests, given, is_read_again)))?;
            let mut at_its_rows = true;
            loop {
                let looked = match work.next()? {
                    Some(Event::Done(answer)) => return Ok(answer),
                    Some(Event::Asked(Request::Next)) => next_of(&mut *rows, &give, &mut at_its_rows, &work),
                    Some(Event::Asked(Request::Again(to, answer))) => {
                        let read = attached(|py| {
                            rows = read_again(py, again.as_ref())?;
                            Ok(())
                        });
                        if read.is_ok() {
                            give = to;
                            // If the receiver is closed, the work is about to return an error.
                            let _ = answer.send(Ok(rows.schema()));
                        }
                        read
                    }
                    None => attached(poll_python),
                };
                let looked = looked.and_then(|()| reporter.map_or(Ok(()), Reporter::report_if_due));
                if work.is_inherited() {
                    // The lock inside may be held by a thread that does not exist in this process.
                    std::mem::forget(give);
                    return Err(of_a_parent());
                }
                if let Err(interrupt) = looked {
                    drop(give);
                    if at_its_rows {
                        work.leave(GRACE);
                    } else {
                        work.cancel();
                    }
                    return Err(interrupt.into());
                }
            }
        });
        deliver(py);
        let has_succeeded = matches!(waited, Ok(Ok(_)));
        let ended = reporter.map_or(Ok(()), |reporter| reporter.end(py, has_succeeded));
        let answer = waited??;
        ended?;
        Ok(answer)
    })
}

/// Reads the rows of an object again.
fn read_again(py: Python<'_>, object: Option<&Py<PyAny>>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    let missing = || broken("rows that can be read once were requested again");
    let object = object.ok_or_else(|| PyErr::from(missing()))?;
    Ok(object.bind(py).extract::<BatchesIn>()?.rows)
}

fn next_of<T: Send + 'static>(
    rows: &mut dyn RecordBatchReader,
    give: &UnboundedSender<NextBatch>,
    at_its_rows: &mut bool,
    work: &Work<T, Request>,
) -> PyResult<()> {
    let next = rows.next();
    if work.is_inherited() {
        return Ok(());
    }
    attached(|py| py.check_signals())?;
    if let Some(Err(error)) = &next
        && is_interrupt(error)
    {
        return Err(PyKeyboardInterrupt::new_err(()));
    }
    *at_its_rows = next.is_some();
    // If the receiver is closed, the work is about to return an error.
    let _ = give.send(next);
    Ok(())
}

/// Whether Ctrl-C ended the producer of rows: its exception arrives through an Arrow stream as text, with a traceback
/// before its name.
fn is_interrupt(error: &ArrowError) -> bool {
    const NAME: &str = "KeyboardInterrupt";
    match error {
        ArrowError::ExternalError(cause) => match cause.downcast_ref::<Error>() {
            // Displayed, a long text would be cut.
            Some(error) => error.what().contains(NAME),
            None => cause.to_string().contains(NAME),
        },
        _ => error.to_string().contains(NAME),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_is_found_after_a_long_traceback() {
        let text = format!("{}KeyboardInterrupt: ", "  File \"a.py\", line 1\n".repeat(1000));
        let error = Error::new(ErrorKind::InvalidArgument, text);
        assert!(!error.to_string().contains("KeyboardInterrupt"));
        assert!(is_interrupt(&ArrowError::ExternalError(Box::new(error))));
        assert!(!is_interrupt(&ArrowError::ComputeError("no".to_owned())));
    }
}
