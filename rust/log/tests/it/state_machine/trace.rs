//! The steps of a machine, printed if the test fails.

use std::io::Write;

use deltaic_protocol::Result;

use super::table_location::Ended;

/// Number of steps that are printed.
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

    /// Starts a step.
    pub(crate) fn begin(&mut self, step: String) {
        self.steps.push(step);
    }

    /// Adds to the description of the current step.
    pub(crate) fn add(&mut self, more: &str) {
        if let Some(step) = self.steps.last_mut() {
            step.push_str(more);
        }
    }

    /// Records the result of the current step.
    pub(crate) fn end<T>(&mut self, ended: &Ended<Result<T>>, say: impl Fn(&T) -> String) {
        let how = match &ended.outcome {
            None => "cut off".to_owned(),
            Some(Ok(committed)) => say(committed),
            Some(Err(error)) => format!("{:?}: {error}", error.kind()),
        };
        self.add(&format!(" => {how}"));
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }
}

/// If a test fails, prints its last steps and how to run them again.
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
