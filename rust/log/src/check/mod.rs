//! Checks a log: reads every file of it and reports damage as findings instead of failing.
//!
//! A check replays the log from the first existing commit, and continues after damage: an unreadable commit
//! is a finding, and later files are checked nevertheless. Redundant information is compared: checkpoints,
//! version checksums and compaction files with the commits. A check never writes.

mod examination;
mod file_actions;
mod findings;
mod log_files;
mod state;
mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::{Result, Version};

pub use self::examination::{Examination, Examined};
pub use self::file_actions::file_table::FileEntry;
pub use self::findings::diagnosis::{self, Diagnosis};
pub use self::findings::finding::{Finding, Findings, KEPT_OF_A_CODE};
pub use self::findings::severity::Severity;
pub use self::state::OlderNames;
pub use crate::progress::{Progress, Stage};

use self::log_files::compaction::examine_compaction;
use self::log_files::folder::LogFolder;
use self::state::State;
use self::walk::{Walk, steps_of};
use crate::listing::LogFile;
use crate::segment::newest_version;
use crate::snapshot::LoadOptions;
use deltaic_storage::location::TableLocation;

/// Maximum average number of times a commit is read again to compare the compaction files that cover it.
const COMMITS_READ_AGAIN: usize = 16;

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
