//! Progress of a check, a write or a vacuum, for callers that display it.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Stage of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Reading the files of the log, by versions.
    #[default]
    Log,
    /// Reading data files.
    Files,
    /// Writing rows.
    Rows,
    /// Deleting files.
    Deletions,
}

impl Stage {
    /// The name of the stage, as callers see it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Files => "files",
            Self::Rows => "rows",
            Self::Deletions => "deletions",
        }
    }

    const fn code(self) -> u8 {
        match self {
            Self::Log => 0,
            Self::Files => 1,
            Self::Rows => 2,
            Self::Deletions => 3,
        }
    }
}

/// Progress of an operation. It can be read from another thread at any time.
#[derive(Debug, Default)]
pub struct Progress {
    stage: AtomicU8,
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// Starts a stage with `total` steps; 0 if their number is not known.
    pub fn begin(&self, stage: Stage, total: u64) {
        self.stage.store(stage.code(), Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// Adds a completed step.
    pub fn step(&self) {
        self.advance(1);
    }

    /// Adds completed steps.
    pub fn advance(&self, steps: usize) {
        self.done.fetch_add(steps as u64, Ordering::Relaxed);
    }

    /// States how many steps of the stage are completed.
    pub fn reach(&self, done: usize) {
        self.done.store(done as u64, Ordering::Relaxed);
    }

    /// Returns the stage, the number of its completed steps, and the number of all its steps.
    #[must_use]
    pub fn now(&self) -> (Stage, u64, u64) {
        let stage = match self.stage.load(Ordering::Relaxed) {
            0 => Stage::Log,
            1 => Stage::Files,
            2 => Stage::Rows,
            _ => Stage::Deletions,
        };
        (
            stage,
            self.done.load(Ordering::Relaxed),
            self.total.load(Ordering::Relaxed),
        )
    }
}
