//! What a machine has done, told where it fails.

use std::io::Write;

use deltaic_protocol::Result;

use super::place::Ended;

/// How many of the last steps are told.
const TOLD: usize = 40;

/// The steps of one table.
pub(crate) struct Trace {
    pub(crate) seed: u64,
    pub(crate) what: String,
    steps: Vec<String>,
}

impl Trace {
    pub(crate) fn of(seed: u64, what: String) -> Self {
        Self {
            seed,
            what,
            steps: Vec::new(),
        }
    }

    /// A step begins.
    pub(crate) fn begin(&mut self, step: String) {
        self.steps.push(step);
    }

    /// More of the step at hand.
    pub(crate) fn add(&mut self, more: &str) {
        if let Some(step) = self.steps.last_mut() {
            step.push_str(more);
        }
    }

    /// How the step at hand ended.
    pub(crate) fn end<T>(&mut self, ended: &Ended<Result<T>>, say: impl Fn(&T) -> String) {
        let how = match &ended.said {
            None => "cut off".to_owned(),
            Some(Ok(said)) => say(said),
            Some(Err(error)) => format!("{:?}: {error}", error.kind()),
        };
        self.add(&format!(" => {how}"));
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }
}

/// Where a test fails, its last steps are told, and how to run them again.
impl Drop for Trace {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let first = self.steps.len().saturating_sub(TOLD);
        let mut out = std::io::stderr().lock();
        let _ = writeln!(
            out,
            "step {} of the table of seed {} ({}):",
            self.len(),
            self.seed,
            self.what
        );
        for (number, step) in self.steps.iter().enumerate().skip(first) {
            let _ = writeln!(out, "  {:4} {step}", number + 1);
        }
        let _ = writeln!(
            out,
            "again: MACHINE_SEED={} MACHINE_TABLES=1 (and the same test)",
            self.seed
        );
    }
}
