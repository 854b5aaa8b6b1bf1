//! Runs a Python function in transactions, on the thread that waits.
//!
//! The function may use what is bound to that thread, such as context variables, and Python handles Ctrl-C only on the
//! main thread. The loop over the attempts runs on the runtime's threads and requests the call.

use std::sync::Arc;

use deltaic_log::transaction::{CommitOptions, Committed, Operation, RunPolicy};
use deltaic_protocol::{Error, ErrorKind};
use deltaic_table::operations::{Staging, run_transaction};
use deltaic_table::transaction::TableTransaction;
use pyo3::prelude::*;
use tokio::sync::{Mutex, oneshot};

use crate::calls::diagnostics::deliver;
use crate::calls::error::{CallResult, Raised};
use crate::calls::fault::guarded;
use crate::calls::progress::Reporter;
use crate::calls::runtime::{Event, Work, attached, of_a_parent, poll_python};
use crate::snapshot::Snapshot;
use crate::transaction::Transaction;

/// A transaction in which the function is to be called, and where to say that it returned.
struct Call {
    snapshot: deltaic_log::Snapshot,
    staged: Arc<Mutex<TableTransaction>>,
    returned: oneshot::Sender<()>,
}

/// Calls a function with a transaction, and again with a new one after each conflict. Its exceptions end the operation
/// and are returned.
pub(crate) fn run_with_function(
    py: Python<'_>,
    known: &Snapshot,
    function: Py<PyAny>,
    operation: Operation,
    max_attempts: usize,
    (options, reporter): (CommitOptions, Option<Arc<Reporter>>),
) -> CallResult<Option<Committed>> {
    let policy = RunPolicy {
        max_attempts,
        deadline: options.deadline,
    };
    let snapshot = known.snapshot.clone();
    guarded(|| {
        let work = Work::<_, Call>::begin(|requests| async move {
            let mut stage = |snapshot: &deltaic_log::Snapshot, staged| {
                let (returned, answer) = oneshot::channel();
                let snapshot = snapshot.clone();
                let asked = requests.send(Event::Asked(Call {
                    snapshot,
                    staged,
                    returned,
                }));
                let staging = async move {
                    match (asked, answer.await) {
                        (Ok(()), Ok(())) => Ok(()),
                        _ => Err(Error::new(ErrorKind::InvalidArgument, "the function failed")),
                    }
                };
                Box::pin(staging) as Staging
            };
            run_transaction(snapshot, operation, options, policy, &mut stage).await
        })?;
        let waited = py.detach(move || -> CallResult<deltaic_protocol::Result<_>> {
            let mut raised: Option<PyErr> = None;
            loop {
                match work.next()? {
                    Some(Event::Done(answer)) => return raised.map_or(Ok(answer), |error| Err(error.into())),
                    Some(Event::Asked(call)) => {
                        let transaction =
                            Transaction::of_staged(call.staged, call.snapshot, reporter.clone());
                        let called = attached(|py| function.call1(py, (transaction,)).map(drop));
                        if work.is_inherited() {
                            // The lock inside may be held by a thread that does not exist in this process.
                            std::mem::forget(call.returned);
                            return Err(called.err().map_or_else(of_a_parent, Raised::from));
                        }
                        match called {
                            // If the receiver is closed, the work is about to return an error.
                            Ok(()) => drop(call.returned.send(())),
                            // The work deletes the files that were written, and ends.
                            Err(error) => raised = Some(error),
                        }
                    }
                    None => {
                        if let Err(interrupt) = attached(poll_python) {
                            work.cancel();
                            return Err(interrupt.into());
                        }
                    }
                }
            }
        });
        deliver(py);
        waited?.map_err(Raised::from)
    })
}
