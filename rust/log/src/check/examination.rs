//! The result of a check of a log.

use std::collections::HashSet;

use super::file_actions::file_table::FileEntry;
use super::findings::finding::Findings;
use super::state::State;

/// Summary of the files that were checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    /// The oldest and the newest version in the names of the log's files.
    pub versions: Option<(i64, i64)>,
    /// Commits that were read.
    pub commits: usize,
    /// Checkpoints that were read completely.
    pub checkpoints: usize,
    /// Version checksums that were read.
    pub checksums: usize,
    /// Compaction files that were read.
    pub compactions: usize,
    /// Live files of the newest version; `None` if they are unknown.
    pub live_files: Option<usize>,
    /// Data files that were checked.
    pub data_files: usize,
}

/// The findings of a check of a log, and its state for a check of the data files.
#[derive(Debug, Default)]
pub struct Examination {
    /// The findings.
    pub findings: Findings,
    /// Summary of what was checked.
    pub examined: Examined,
    pub(super) state: State,
}

impl Examination {
    /// The known live files of the newest version, in no particular order.
    pub fn live_files(&self) -> impl Iterator<Item = &FileEntry> {
        self.state.files.iter()
    }

    /// Paths that older versions or the change data feed refer to; empty unless requested.
    #[must_use]
    pub fn named_elsewhere(&self) -> HashSet<&str> {
        let names = self.state.named_elsewhere.iter().flatten();
        names.map(AsRef::as_ref).collect()
    }
}
