//! The runtime of the process, and the only place that blocks.
//!
//! Work runs on the runtime's threads, which never touch Python. The calling thread waits, detached from the
//! interpreter, and checks for Ctrl-C. So every wait can be interrupted, including one for work that never yields.

use std::future::Future;
use std::num::NonZero;
use std::panic::AssertUnwindSafe;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use deltaic_protocol::Result;
use deltaic_storage::fault;
use futures::FutureExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

use super::diagnostics::deliver;
use super::error::{CallResult, Raised, broken};
use super::fault::guarded;
use super::progress::Reporter;

/// The runtime of the first process that requested one, with those of its children nested in it.
static FIRST: OnceLock<PerProcess> = OnceLock::new();

/// A runtime and the process that created it. After a fork its threads no longer exist, so the child creates its own;
/// the parent's runtime is leaked, because dropping it would wait for these threads. No lock is held at any time, since
/// a child would inherit it locked.
struct PerProcess {
    process: u32,
    runtime: Runtime,
    in_a_child: OnceLock<Box<PerProcess>>,
}

/// The number of threads for requests to local disks and for computations, unless the machine has more cores. None of
/// them waits for another, except for a few seconds after an interrupt.
const BLOCKING_THREADS: usize = 32;

impl PerProcess {
    fn try_new(process: u32) -> CallResult<Self> {
        let mut builder = Builder::new_multi_thread();
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        builder.max_blocking_threads(BLOCKING_THREADS.max(cores));
        let runtime = builder.enable_all().thread_name("deltaic").build();
        Ok(Self {
            process,
            runtime: runtime.map_err(broken)?,
            in_a_child: OnceLock::new(),
        })
    }
}

const OF_A_PARENT: &str =
    "the call was started before the fork and belongs to the parent process: call it again in this process";

/// The error of a call that was started before a fork and continues in the child.
pub(crate) fn of_a_parent() -> Raised {
    Raised::from(PyRuntimeError::new_err(OF_A_PARENT))
}

/// The interval of checks for Ctrl-C during a wait.
pub(crate) const SIGNALS: Duration = Duration::from_millis(50);

/// The time that a cancelled call waits until its work has ended. Work that does not yield takes longer.
const CANCELLED: Duration = Duration::from_millis(500);

/// Returns the runtime of this process; creates it on first use.
pub(crate) fn runtime() -> CallResult<&'static Runtime> {
    let process = std::process::id();
    let mut at = match FIRST.get() {
        Some(first) => first,
        None => {
            let made = PerProcess::try_new(process)?;
            FIRST.get_or_init(|| made)
        }
    };
    while at.process != process {
        at = match at.in_a_child.get() {
            Some(child) => child,
            None => {
                let made = Box::new(PerProcess::try_new(process)?);
                at.in_a_child.get_or_init(|| made)
            }
        };
    }
    Ok(&at.runtime)
}

/// An event that the work sends to the waiting thread.
pub(crate) enum Event<T, Q> {
    /// The work has finished.
    Done(Result<T>),
    /// The work requests something that only the waiting thread can do.
    Asked(Q),
}

/// Work on the runtime's threads. Dropping it cancels the work.
pub(crate) struct Work<T, Q> {
    /// The process whose threads run the work; a child of `fork` would wait forever.
    process: u32,
    /// `None` only during drop.
    events: Option<Receiver<Event<T, Q>>>,
    task: AbortHandle,
}

impl<T: Send + 'static, Q: Send + 'static> Work<T, Q> {
    /// Starts work that may send requests; a panic in it becomes an error.
    pub(crate) fn begin<F>(work: impl FnOnce(SyncSender<Event<T, Q>>) -> F) -> CallResult<Self>
    where
        F: Future<Output = Result<T>> + Send + 'static,
    {
        // Capacity for one request and the result, so that the work never blocks if the receiver has stopped reading.
        let (sender, events) = sync_channel(2);
        let work = AssertUnwindSafe(work(sender.clone())).catch_unwind();
        let task = runtime()?.spawn(async move {
            let answer = work.await.unwrap_or_else(|_| Err(fault::caught()));
            let _ = sender.send(Event::Done(answer));
        });
        Ok(Self {
            process: std::process::id(),
            events: Some(events),
            task: task.abort_handle(),
        })
    }

    /// Waits for the next event; `None` if none arrived within [`SIGNALS`].
    pub(crate) fn next(&self) -> CallResult<Option<Event<T, Q>>> {
        if self.is_inherited() {
            return Err(of_a_parent());
        }
        match self.events.as_ref().map(|events| events.recv_timeout(SIGNALS)) {
            Some(Ok(event)) => Ok(Some(event)),
            Some(Err(RecvTimeoutError::Timeout)) => Ok(None),
            Some(Err(RecvTimeoutError::Disconnected)) | None => Err(broken("its work was cut off")),
        }
    }

    /// Cancels the work and waits a short time until it has deleted the files that it has written: the process may end
    /// after this.
    pub(crate) fn cancel(self) {
        self.task.abort();
        if !self.is_inherited() {
            while let Some(Ok(_)) = self.events.as_ref().map(|events| events.recv_timeout(CANCELLED)) {}
        }
    }

    /// Lets the work finish on its own, until no event arrives for the grace period.
    pub(crate) fn leave(self, grace: Duration) {
        let Ok(runtime) = runtime() else { return };
        runtime.spawn_blocking(move || {
            while let Some(Ok(Event::Asked(_))) =
                self.events.as_ref().map(|events| events.recv_timeout(grace))
            {}
        });
    }
}

impl<T, Q> Work<T, Q> {
    /// Whether this is a child of the process that started the work. Python code that runs during a wait may fork.
    pub(crate) fn is_inherited(&self) -> bool {
        self.process != std::process::id()
    }
}

impl<T, Q> Drop for Work<T, Q> {
    fn drop(&mut self) {
        if self.is_inherited() {
            // The lock inside may be held by a thread that does not exist in this process.
            std::mem::forget(self.events.take());
        } else {
            self.task.abort();
        }
    }
}

/// Detaches from the interpreter and waits for a future. Ctrl-C ends the wait and cancels the future.
pub(crate) fn wait<T, F>(py: Python<'_>, future: F) -> CallResult<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    wait_reporting(py, None, future)
}

/// Like [`wait`], but reports the progress periodically, and when the result is available. An exception that the
/// function raises ends the wait and cancels the future.
pub(crate) fn wait_reporting<T, F>(py: Python<'_>, reporter: Option<&Reporter>, future: F) -> CallResult<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    guarded(|| {
        let work = Work::<T, ()>::begin(|_| future)?;
        let waited = py.detach(move || -> CallResult<Result<T>> {
            loop {
                if let Some(Event::Done(answer)) = work.next()? {
                    return Ok(answer);
                }
                let looked = reporter.map_or(Ok(()), Reporter::report_if_due);
                if let Err(interrupt) = looked.and_then(|()| attached(poll_python)) {
                    work.cancel();
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

/// Does what a waiting thread does from time to time: passes on log records, and checks for Ctrl-C.
pub(crate) fn poll_python(py: Python<'_>) -> PyResult<()> {
    deliver(py);
    py.check_signals()
}

/// Runs a function attached to the interpreter; does nothing after the interpreter has shut down.
pub(crate) fn attached(run: impl FnOnce(Python<'_>) -> PyResult<()>) -> PyResult<()> {
    Python::try_attach(run).unwrap_or(Ok(()))
}
