//! Checks a log: reads every file of it and reports damage as findings instead of failing.
//!
//! A check replays the log from the first existing commit, and continues after damage: an unreadable commit
//! is a finding, and later files are checked nevertheless. Redundant information is compared: checkpoints,
//! version checksums and compaction files with the commits. A check never writes.

mod checkpoint;
mod checkpoint_statistics;
mod checksum;
mod commit;
mod commit_time;
mod compaction;
mod compare;
pub mod diagnosis;
mod file_action;
mod file_requirements;
mod file_table;
mod finding;
mod fingerprint;
mod folder;
mod hint;
mod places;
mod row_ids;
mod seed;
mod severity;
mod state;
mod statistics;
mod walk;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use deltaic_protocol::{Result, Version};

pub use self::diagnosis::Diagnosis;
pub use self::file_table::FileEntry;
pub use self::finding::{Finding, Findings, KEPT_OF_A_CODE};
pub use self::severity::Severity;
pub use crate::progress::{Progress, Stage};

use self::compaction::examine_compaction;
use self::folder::LogFolder;
use self::state::State;
use self::walk::{Walk, steps_of};
use crate::listing::LogFile;
use crate::segment::newest_version;
use crate::snapshot::LoadOptions;
use deltaic_storage::location::TableLocation;

/// Maximum average number of times a commit is read again to compare the compaction files that cover it.
const COMMITS_READ_AGAIN: usize = 16;

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
    state: State,
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

/// Whether a check collects the paths that older versions refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OlderNames {
    /// Collected, for a deep check.
    Kept,
    /// Not collected.
    Dropped,
}

/// Checks a log. Damage is reported as findings; a location without a table and failures of the store are
/// errors. Must be called inside a runtime.
pub async fn check_log(
    location: &Arc<TableLocation>,
    options: LoadOptions,
    older_names: OlderNames,
    progress: &Progress,
) -> Result<Examination> {
    let folder = LogFolder::list(location).await?;
    let mut findings = Findings::default();
    folder.examine(&mut findings);
    let (steps, compactions) = steps_of(&folder);
    let commits: BTreeMap<Version, Arc<LogFile>> = steps
        .iter()
        .filter_map(|(version, step)| Some((*version, Arc::clone(step.commit.as_ref()?))))
        .collect();
    progress.begin(Stage::Log, (steps.len() + compactions.len()) as u64);
    let starts_at_zero = commits.contains_key(&Version::ZERO);
    let state = State::new(starts_at_zero, older_names);
    let mut walk = Walk::new(location, &folder, options, progress, state);
    walk.findings = findings;
    walk.run(steps).await?;
    let mut commits_left = commits.len().saturating_mul(COMMITS_READ_AGAIN);
    for file in &compactions {
        examine_compaction(
            location,
            file,
            &commits,
            options.max_line_bytes,
            &mut commits_left,
            &mut walk.findings,
        )
        .await;
        walk.examined.compactions += 1;
        progress.step();
    }
    walk.finish(&folder, newest_version(&folder.listing)).await
}
