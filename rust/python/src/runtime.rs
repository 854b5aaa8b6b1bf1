//! The one runtime of a process: the only place that blocks.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use tokio::runtime::{Builder, Runtime};

use crate::error::{Answer, Raised, broken};

/// The runtime and the process that made it: after a fork its threads are gone, so the child makes its own.
static RUNTIME: Mutex<Option<(u32, Arc<Runtime>)>> = Mutex::new(None);

/// How often a wait looks whether the user has pressed Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(100);

/// The process's runtime.
pub(crate) fn runtime() -> Answer<Arc<Runtime>> {
    let mut slot = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    match slot.as_ref() {
        Some((owner, runtime)) if *owner == process => Ok(Arc::clone(runtime)),
        _ => {
            let made = Builder::new_multi_thread()
                .enable_all()
                .thread_name("deltaic")
                .build()
                .map_err(broken)?;
            let runtime = Arc::new(made);
            // A parent's runtime is leaked: dropping it would wait for threads that this process does not have.
            if let Some((_, inherited)) = slot.replace((process, Arc::clone(&runtime))) {
                std::mem::forget(inherited);
            }
            Ok(runtime)
        }
    }
}

/// Lets go of the interpreter and waits for a future; Ctrl-C ends the wait.
pub(crate) fn wait<T: Send, F>(py: Python<'_>, future: F) -> Answer<T>
where
    F: Future<Output = deltaic_protocol::Result<T>> + Send,
{
    let runtime = runtime()?;
    py.detach(|| runtime.block_on(interruptible(future)))
}

async fn interruptible<T>(future: impl Future<Output = deltaic_protocol::Result<T>>) -> Answer<T> {
    tokio::pin!(future);
    loop {
        match tokio::time::timeout(SIGNALS, &mut future).await {
            Ok(answer) => return answer.map_err(Raised::from),
            Err(_) => Python::attach(|py| py.check_signals())?,
        }
    }
}
