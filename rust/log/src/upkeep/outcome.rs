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
        match step {
            Ok(done) => Some(done),
            Err(error) => {
                let told = format!("{what}: {error}");
                match error.kind() {
                    ErrorKind::UnsupportedFeature => self.left_to_others.push(told),
                    _ => self.failures.push(told),
                }
                None
            }
        }
    }
}
