//! Reports the progress of a call to a Python function, from the thread that waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use deltaic_log::progress::Progress;
use deltaic_storage::clock::now_ms;
use pyo3::prelude::*;

/// The time between two reports, in milliseconds.
const EVERY_MS: i64 = 200;

/// A Python function that gets the stage, the number of completed steps and their total, and one that is called at the
/// end.
pub(crate) type Functions = (Py<PyAny>, Option<Py<PyAny>>);

/// Reports to the functions.
pub(crate) struct Reporter {
    functions: Functions,
    progress: Arc<Progress>,
    /// The time of the next report.
    next_ms: AtomicI64,
}

impl Reporter {
    pub(crate) fn new(functions: Functions, progress: &Arc<Progress>) -> Self {
        Self {
            functions,
            progress: Arc::clone(progress),
            next_ms: AtomicI64::new(now_ms().saturating_add(EVERY_MS)),
        }
    }

    /// Reports the end: after a success with the last progress.
    pub(crate) fn end(&self, py: Python<'_>, has_succeeded: bool) -> PyResult<()> {
        let reported = if has_succeeded { self.report(py) } else { Ok(()) };
        let ended = self.functions.1.as_ref().map(|end| end.call0(py));
        reported.and(ended.transpose().map(drop))
    }

    /// Reports the progress now.
    fn report(&self, py: Python<'_>) -> PyResult<()> {
        let (stage, done, total) = self.progress.now();
        self.functions.0.call1(py, (stage.name(), done, total)).map(drop)
    }

    /// Reports the progress if the last report is old enough. The caller is detached from the interpreter.
    pub(crate) fn report_if_due(&self) -> PyResult<()> {
        let now = now_ms();
        if now < self.next_ms.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.next_ms
            .store(now.saturating_add(EVERY_MS), Ordering::Relaxed);
        // After the interpreter has shut down, nothing is reported.
        Python::try_attach(|py| self.report(py)).unwrap_or(Ok(()))
    }
}
