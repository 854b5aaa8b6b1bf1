//! The outcome of post-commit maintenance.

use deltaic_protocol::{Error, ErrorKind};

use crate::checkpoint::CheckpointWritten;
use crate::checksum::Created;
use crate::cleanup::CleanedUp;
use crate::compaction::Compacted;

/// Results of the steps of post-commit maintenance, and their failures.
#[derive(Clone, Debug, Default)]
pub struct PostCommit {
    /// The version's checksum; `None` if it was not requested, was skipped for a large table, or failed.
    pub checksum: Option<Created>,
    /// The checkpoint, if one was due.
    pub checkpoint: Option<CheckpointWritten>,
    /// The compaction file, if one was due.
    pub compaction: Option<Compacted>,
    /// What the cleanup after the checkpoint deleted.
    pub cleanup: Option<CleanedUp>,
    /// Failures, one sentence each. The commit and the table are unaffected.
    pub failures: Vec<String>,
    /// Steps that deltaic must not perform on this table, one sentence each: they belong to its catalog, or to a client
    /// that supports an unknown feature. These are not failures and need no report after each commit.
    pub left_to_others: Vec<String>,
}

impl PostCommit {
    /// Records the result of a step; `what` describes what is missing if it failed.
    pub(super) fn note<T>(&mut self, what: &str, step: Result<T, Error>) -> Option<T> {
        step.map_err(|error| self.record_failure(what, &error)).ok()
    }

    /// Records a failed step: what is missing, and the consequence.
    pub(super) fn record_failure(&mut self, what: &str, error: &Error) {
        match error.kind() {
            ErrorKind::UnsupportedFeature => self.left_to_others.push(format!("{what}: {error}")),
            // Maintenance reads the log as readers do: damage that stops it may stop them too.
            ErrorKind::CorruptLog | ErrorKind::CorruptData => self.failures.push(format!(
                "{what}: {error}; the table may be unreadable, and later commits do not repair it: check it"
            )),
            _ => self
                .failures
                .push(format!("{what}: {error}; a later commit retries it")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repairable_findings_are_distinguished_from_damage() {
        let message = |kind| {
            let mut post_commit = PostCommit::default();
            let step: Result<(), Error> = Err(Error::new(kind, "it failed"));
            assert_eq!(post_commit.note("nothing was done", step), None);
            post_commit
        };
        let others = message(ErrorKind::UnsupportedFeature);
        assert_eq!((others.failures.len(), others.left_to_others.len()), (0, 1));
        for (kind, is_mended) in [
            (ErrorKind::StorageError, true),
            (ErrorKind::CorruptLog, false),
            (ErrorKind::CorruptData, false),
        ] {
            let [reported] = &message(kind).failures[..] else {
                panic!("{kind:?} is not reported exactly once");
            };
            assert!(reported.starts_with("nothing was done: it failed"), "{reported}");
            assert_eq!(
                reported.ends_with("a later commit retries it"),
                is_mended,
                "{reported}"
            );
        }
    }
}
