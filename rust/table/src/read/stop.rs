//! Cancellation flag, for work that never awaits and so cannot be aborted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once; the work checks it periodically.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
