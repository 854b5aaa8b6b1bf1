//! What became of a log behind a commit.

use deltaic_protocol::{Error, ErrorKind};

use crate::checkpoint::CheckpointWritten;
use crate::checksum::Made;
use crate::cleanup::CleanedUp;
use crate::compaction::Compacted;

/// What was done behind a commit, and what was not.
#[derive(Clone, Debug, Default)]
pub struct Upkept {
    /// The version's checksum; none where it was not asked for, not worth its count, or failed.
    pub checksum: Option<Made>,
    /// The checkpoint that was due.
    pub checkpoint: Option<CheckpointWritten>,
    /// The compaction file that was due.
    pub compaction: Option<Compacted>,
    /// What a cleanup behind the checkpoint deleted.
    pub cleanup: Option<CleanedUp>,
    /// What failed, in a sentence each, for people. The commit stands, and so does the table.
    pub failures: Vec<String>,
    /// What is not ours to do on such a table, in a sentence each: its catalog does it, or somebody who knows a feature
    /// that we do not. No failure, and nothing that anybody has to be told behind each commit.
    pub left_to_others: Vec<String>,
}

impl Upkept {
    /// Takes what became of a step; `what` says what there is not now.
    pub(super) fn note<T>(&mut self, what: &str, step: Result<T, Error>) -> Option<T> {
        step.map_err(|error| self.tell(what, &error)).ok()
    }

    /// Tells of a step that failed: what there is not now, and what comes of that.
    pub(super) fn tell(&mut self, what: &str, error: &Error) {
        match error.kind() {
            ErrorKind::UnsupportedFeature => self.left_to_others.push(format!("{what}: {error}")),
            // Who looks after a log reads it as everybody does: what stands in the way may stand in theirs.
            ErrorKind::CorruptLog | ErrorKind::CorruptData => self.failures.push(format!(
                "{what}: {error}; the table may not be readable: check it, a later commit does not mend it"
            )),
            _ => self
                .failures
                .push(format!("{what}: {error}; a later commit makes up for it")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_later_commit_mends_is_told_from_damage() {
        let said = |kind| {
            let mut upkept = Upkept::default();
            let step: Result<(), Error> = Err(Error::new(kind, "it failed"));
            assert_eq!(upkept.note("nothing was done", step), None);
            upkept
        };
        let others = said(ErrorKind::UnsupportedFeature);
        assert_eq!((others.failures.len(), others.left_to_others.len()), (0, 1));
        for (kind, is_mended) in [
            (ErrorKind::StorageError, true),
            (ErrorKind::CorruptLog, false),
            (ErrorKind::CorruptData, false),
        ] {
            let [told] = &said(kind).failures[..] else {
                panic!("{kind:?} is told once");
            };
            assert!(told.starts_with("nothing was done: it failed"), "{told}");
            assert_eq!(
                told.ends_with("a later commit makes up for it"),
                is_mended,
                "{told}"
            );
        }
    }
}
