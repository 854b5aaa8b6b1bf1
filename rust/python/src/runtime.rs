//! The one runtime of a process: the only place that blocks.
//!
//! Work runs on the runtime's threads, which never touch Python; the thread that asked for it waits, without the
//! interpreter, and looks for Ctrl-C. So a wait can be interrupted whatever the work is at, and what waits nowhere.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use deltaic_log::fault;
use deltaic_protocol::Result;
use futures::FutureExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

use crate::error::{Answer, Raised, broken};
use crate::fault::guarded;

/// The runtime of the process that first asked, and below it those of its children.
static FIRST: OnceLock<PerProcess> = OnceLock::new();

/// A runtime and the process that made it. After a fork its threads are gone, so the child makes its own; the parent's
/// is left as it is, since to drop it would be to wait for threads that are not there. No lock is ever held, since a
/// child would inherit it locked.
struct PerProcess {
    process: u32,
    runtime: Runtime,
    in_a_child: OnceLock<Box<PerProcess>>,
}

impl PerProcess {
    fn try_new(process: u32) -> Answer<Self> {
        let mut builder = Builder::new_multi_thread();
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

/// The error of a call in a child of the process that began it.
pub(crate) fn of_a_parent() -> Raised {
    Raised::from(PyRuntimeError::new_err(OF_A_PARENT))
}

/// How often a wait looks whether the user has pressed Ctrl-C.
pub(crate) const SIGNALS: Duration = Duration::from_millis(50);

/// The process's runtime.
pub(crate) fn runtime() -> Answer<&'static Runtime> {
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

/// What the work tells the thread that waits for it.
pub(crate) enum Event<T, Q> {
    /// It is done.
    Done(Result<T>),
    /// It asks for something that only that thread can do.
    Asked(Q),
}

/// Work on the runtime's threads, which is stopped when it is let go of.
pub(crate) struct Work<T, Q> {
    /// The process whose threads do the work: a child of `fork` would wait for ever.
    process: u32,
    /// None only while it is dropped.
    events: Option<Receiver<Event<T, Q>>>,
    task: AbortHandle,
}

impl<T: Send + 'static, Q: Send + 'static> Work<T, Q> {
    /// Begins work that may ask; a panic of it is an error.
    pub(crate) fn begin<F>(work: impl FnOnce(SyncSender<Event<T, Q>>) -> F) -> Answer<Self>
    where
        F: Future<Output = Result<T>> + Send + 'static,
    {
        // Two places: one for a question and one for the end, so that the work never waits for whoever has gone.
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

    /// Waits for what comes next; none after a while in which nothing came.
    pub(crate) fn next(&self) -> Answer<Option<Event<T, Q>>> {
        if self.is_inherited() {
            return Err(of_a_parent());
        }
        match self.events.as_ref().map(|events| events.recv_timeout(SIGNALS)) {
            Some(Ok(event)) => Ok(Some(event)),
            Some(Err(RecvTimeoutError::Timeout)) => Ok(None),
            Some(Err(RecvTimeoutError::Disconnected)) | None => Err(broken("its work was cut off")),
        }
    }

    /// Lets the work come to its end by itself, for so long.
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
    /// Whether this is a child of the process that began the work. Python code that runs during a wait may fork.
    pub(crate) fn is_inherited(&self) -> bool {
        self.process != std::process::id()
    }
}

impl<T, Q> Drop for Work<T, Q> {
    fn drop(&mut self) {
        if self.is_inherited() {
            // A thread that this process does not have may hold the lock inside.
            std::mem::forget(self.events.take());
        } else {
            self.task.abort();
        }
    }
}

/// Lets go of the interpreter and waits for a future; Ctrl-C ends the wait and the future.
pub(crate) fn wait<T, F>(py: Python<'_>, future: F) -> Answer<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    wait_telling(py, future, |_| Ok(()))
}

/// The same; `tell` is called from time to time while there is no answer yet. What it raises ends the wait and the future.
pub(crate) fn wait_telling<T, F>(
    py: Python<'_>,
    future: F,
    mut tell: impl FnMut(Python<'_>) -> PyResult<()> + Send,
) -> Answer<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    guarded(|| {
        let work = Work::<T, ()>::begin(|_| future)?;
        let waited = py.detach(move || -> Answer<Result<T>> {
            loop {
                if let Some(Event::Done(answer)) = work.next()? {
                    return Ok(answer);
                }
                attached(|py| {
                    tell(py)?;
                    py.check_signals()
                })?;
            }
        });
        waited?.map_err(Raised::from)
    })
}

/// Runs with the interpreter; where that is gone already, nothing.
pub(crate) fn attached(run: impl FnOnce(Python<'_>) -> PyResult<()>) -> PyResult<()> {
    Python::try_attach(run).unwrap_or(Ok(()))
}
