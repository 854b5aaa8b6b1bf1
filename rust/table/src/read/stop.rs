//! Whether anybody still wants what a thread is at: one that waits for nothing cannot be ended from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once, and looked at from time to time by whoever does the work.
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
