//! Progress of a check, for callers that display it.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Stage of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The files of the log, by versions.
    Log,
    /// The data files.
    Files,
}

/// Progress of a check. It can be read from another thread at any time.
#[derive(Debug, Default)]
pub struct Progress {
    stage: AtomicU8,
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// Starts a stage with `total` steps.
    pub fn begin(&self, stage: Stage, total: usize) {
        self.stage
            .store(u8::from(stage == Stage::Files), Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.total
            .store(u64::try_from(total).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Adds a completed step.
    pub fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the stage, the number of its completed steps, and the number of all its steps.
    #[must_use]
    pub fn now(&self) -> (Stage, u64, u64) {
        let stage = if self.stage.load(Ordering::Relaxed) == 0 {
            Stage::Log
        } else {
            Stage::Files
        };
        (
            stage,
            self.done.load(Ordering::Relaxed),
            self.total.load(Ordering::Relaxed),
        )
    }
}
