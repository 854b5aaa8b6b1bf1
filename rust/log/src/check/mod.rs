//! What is wrong with a log: every file of it is read, and damage is found and not stumbled over.
//!
//! A check replays the log by itself, from the first commit that is there, and goes on after damage: a commit that
//! cannot be read is a finding, and what stands behind it is looked at all the same. Whatever the log says twice is
//! compared: checkpoints, version checksums and compaction files with the commits. Nothing is ever written.

mod checkpoint;
mod checkpoint_statistics;
mod checksum;
mod commit;
mod commit_time;
mod compaction;
mod compare;
pub mod diagnosis;
mod file_action;
mod file_table;
mod finding;
mod fingerprint;
mod folder;
mod hint;
mod places;
mod progress;
mod row_ids;
mod seed;
mod state;
mod statistics;
mod table_form;
mod walk;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use deltaic_protocol::{Result, Version};

pub use self::diagnosis::Diagnosis;
pub use self::file_table::FileEntry;
pub use self::finding::{Finding, Findings, KEPT_OF_A_CODE, Severity};
pub use self::progress::{Progress, Stage};

use self::compaction::examine_compaction;
use self::folder::LogFolder;
use self::state::State;
use self::walk::{Walk, steps_of};
use crate::listing::LogFile;
use crate::location::TableLocation;
use crate::segment::newest_version;
use crate::snapshot::LoadOptions;

/// How often each commit may be read again on average, for the compaction files that stand for it.
const COMMITS_READ_AGAIN: usize = 16;

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    /// The oldest and the newest version that the log's files speak of.
    pub versions: Option<(i64, i64)>,
    /// Commits that were read.
    pub commits: usize,
    /// Checkpoints that were read, each whole.
    pub checkpoints: usize,
    /// Version checksums that were read.
    pub checksums: usize,
    /// Compaction files that were read.
    pub compactions: usize,
    /// Live files of the newest version; none where these cannot be told.
    pub live_files: Option<usize>,
    /// Data files that were looked at.
    pub data_files: usize,
}

/// What a check of a log found, and what it learnt for a look at the data.
#[derive(Debug, Default)]
pub struct Examination {
    /// What was found.
    pub findings: Findings,
    /// What was looked at.
    pub examined: Examined,
    state: State,
}

impl Examination {
    /// The live files of the newest version, as far as they can be told, in no order.
    pub fn live_files(&self) -> impl Iterator<Item = &FileEntry> {
        self.state.files.iter()
    }

    /// Paths that older versions or the change feed name; empty unless they were asked for.
    #[must_use]
    pub fn named_elsewhere(&self) -> HashSet<&str> {
        let names = self.state.named_elsewhere.iter().flatten();
        names.map(AsRef::as_ref).collect()
    }
}

/// Whether a check remembers which paths older versions name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OlderNames {
    /// It does, which a look at the data needs.
    Kept,
    /// It does not.
    Dropped,
}

/// Checks a log. What is wrong with it becomes findings; a place without a table, and a store that cannot be asked,
/// are errors. Must be called inside a runtime.
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
    progress.begin(Stage::Log, steps.len() + compactions.len());
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
