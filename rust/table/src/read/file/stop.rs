//! Cancellation flag, for work that never awaits and so cannot be aborted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once; the work checks it periodically.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
