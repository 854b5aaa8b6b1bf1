//! The actions that restore an earlier version.

use std::collections::{HashMap, HashSet};

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::whole_adds;
use deltaic_log::progress::Progress;
use deltaic_log::running_vacuum::RunningVacuum;
use deltaic_log::transaction::{Proposal, SupportCheck};
use deltaic_protocol::actions::{Add, Remove};
use deltaic_protocol::change::restored;
use deltaic_protocol::features::supports_for_writers;
use deltaic_protocol::{ConfigurationActions, Conflict, Error, ErrorKind, Result, Version};
use deltaic_storage::clock::now_ms;

use super::differing_files::{DifferingFiles, key};
use super::preconditions::ensure_restorable;
use crate::stored_files::{GoneFiles, NamedFile, gone_files};

/// The number of paths that an error names.
const MOST_NAMED: usize = 5;

/// What restoring a version does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreSummary {
    /// The version that is restored.
    pub restored_version: Version,
    /// The number of files that are added again.
    pub restored_files: usize,
    /// Their size in bytes.
    pub restored_bytes: i64,
    /// The number of files that are removed.
    pub removed_files: usize,
    /// Their size in bytes.
    pub removed_bytes: i64,
    /// The number of files of the table afterwards.
    pub files_after: usize,
    /// Their size in bytes.
    pub bytes_after: i64,
    /// Files of the restored version that are gone and left out.
    pub missing_files: Vec<String>,
    /// Whether schema, partitioning, properties or other metadata change.
    pub changes_metadata: bool,
}

impl RestoreSummary {
    /// The metrics of the commit, named as by Spark.
    pub(super) fn metrics(&self) -> Vec<(&'static str, i64)> {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        vec![
            ("tableSizeAfterRestore", self.bytes_after),
            ("numOfFilesAfterRestore", count(self.files_after)),
            ("numRemovedFiles", count(self.removed_files)),
            ("numRestoredFiles", count(self.restored_files)),
            ("removedFilesSize", self.removed_bytes),
            ("restoredFilesSize", self.restored_bytes),
        ]
    }
}

/// The actions that restore a version.
pub(super) struct RestorePlan {
    pub(super) summary: RestoreSummary,
    adds: Vec<Add>,
    removes: Vec<Remove>,
    configuration: ConfigurationActions,
}

impl RestorePlan {
    /// Plans to restore the version `then`; `now` is the newest version.
    ///
    /// # Errors
    ///
    /// Those of [`super::restore`].
    pub(super) async fn try_new(
        now: &Snapshot,
        then: &Snapshot,
        (ignores_missing, progress): (bool, &Progress),
    ) -> Result<Self> {
        let after = restored(now.configuration(), then.configuration())
            .map_err(|error| now.located(error).with("restored_version", then.version()))?;
        let configuration = after.actions_since(now.configuration());
        let files = DifferingFiles::of(now, then).await?;
        let mut adds = whole_adds(then, Some(&files.added)).await?;
        let mut kept = match files.with_other_row_ids.as_slice() {
            [] => Vec::new(),
            paths => whole_adds(then, Some(paths)).await?,
        };
        let removed = whole_adds(now, Some(&files.removed)).await?;
        let named: Vec<NamedFile> = adds.iter().map(NamedFile::from).collect();
        let gone = gone_files(now.location(), &named, progress).await?;
        let missing_files = gone.unreadable();
        if !missing_files.is_empty() {
            if !ignores_missing {
                return Err(missing(&gone, then));
            }
            let missing: HashSet<&String> = missing_files.iter().collect();
            adds.retain(|add| !missing.contains(&add.path));
        }
        ensure_not_being_vacuumed(now, &adds, &removed)
            .await
            .map_err(|error| now.located(error))?;
        for add in &mut adds {
            add.data_change = true;
        }
        let size = |adds: &[Add]| adds.iter().map(|add| add.size).fold(0, i64::saturating_add);
        let summary = RestoreSummary {
            restored_version: then.version(),
            restored_files: adds.len(),
            restored_bytes: size(&adds),
            removed_files: removed.len(),
            removed_bytes: size(&removed),
            files_after: files.unchanged.saturating_add(adds.len()),
            bytes_after: files.unchanged_bytes.saturating_add(size(&adds)),
            missing_files,
            changes_metadata: configuration.metadata.is_some() || !configuration.domains.is_empty(),
        };
        if supports_for_writers(after.protocol(), "rowTracking") {
            recommit_row_ids(&mut adds, &removed);
        }
        adds.append(&mut kept);
        adds.sort_by(|left, right| left.path.cmp(&right.path));
        let deleted_ms = now_ms();
        let mut removes: Vec<Remove> = removed.iter().map(|add| Remove::of(add, deleted_ms)).collect();
        removes.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(Self {
            summary,
            adds,
            removes,
            configuration,
        })
    }

    /// The files that are added again.
    pub(super) fn restored_files(&self) -> Vec<NamedFile> {
        self.adds.iter().map(NamedFile::from).collect()
    }

    /// Whether the table is already as in the version.
    pub(super) fn is_empty(&self) -> bool {
        self.adds.is_empty() && self.removes.is_empty() && self.configuration.is_empty()
    }

    /// The support check for the actions.
    pub(super) fn support_check(&self) -> SupportCheck {
        match (self.adds.is_empty(), self.removes.is_empty()) {
            (true, true) => ensure_restorable::<false, false>,
            (true, false) => ensure_restorable::<false, true>,
            (false, true) => ensure_restorable::<true, false>,
            (false, false) => ensure_restorable::<true, true>,
        }
    }

    /// Stages the actions.
    pub(super) fn stage(self, proposal: &mut Proposal) {
        proposal.adds = self.adds;
        proposal.removes = self.removes;
        proposal.protocol = self.configuration.protocol;
        proposal.metadata = self.configuration.metadata;
        proposal.domains = self.configuration.domains;
        // No row is copied to another file.
        proposal.keeps_row_ids = true;
    }
}

/// Verifies that no vacuum is about to delete files that are added again. A vacuum that starts later conflicts with the
/// restore, or finds these files live.
async fn ensure_not_being_vacuumed(now: &Snapshot, adds: &[Add], removed: &[Add]) -> Result<()> {
    let live: HashSet<String> = removed.iter().map(|add| key(&add.path)).collect();
    let is_live = |add: &Add| add.deletion_vector.is_none() && live.contains(&key(&add.path));
    let again: Vec<&Add> = adds.iter().filter(|add| !is_live(add)).collect();
    if again.is_empty() {
        return Ok(());
    }
    let now_ms = now_ms();
    let Some(vacuum) = RunningVacuum::find(now.location(), now_ms).await? else {
        return Ok(());
    };
    let threatened = vacuum.threatened(now, again.into_iter(), now_ms).await?;
    let (files, exist) = match threatened {
        0 => return Ok(()),
        1 => ("1 file".to_owned(), "it"),
        many => (format!("{many} files"), "them"),
    };
    Err(Error::new(
        ErrorKind::CommitConflict(Conflict::ConcurrentWrite),
        format!(
            "a vacuum started at version {} and has not recorded its end; the restore would add {files} again while \
             the vacuum may delete {exist}",
            vacuum.version
        ),
    )
    .with("vacuum_version", vacuum.version)
    .with("files", i64::try_from(threatened).unwrap_or(i64::MAX))
    .hint("run it again after the vacuum; if the vacuum was interrupted, 24 hours after its start"))
}

/// Files that had no row ids then, and got some since, keep these.
///
/// Protocol: *Writer Requirements for Row Tracking* (recommitted files).
fn recommit_row_ids(adds: &mut [Add], removed: &[Add]) {
    let known: HashMap<String, &Add> = removed.iter().map(|add| (key(&add.path), add)).collect();
    for add in adds.iter_mut().filter(|add| add.base_row_id.is_none()) {
        if let Some(live) = known.get(&key(&add.path)) {
            add.base_row_id = live.base_row_id;
            add.default_row_commit_version = live.default_row_commit_version;
        }
    }
}

/// The error of files of a version that are gone before the version is restored.
fn missing(gone: &GoneFiles, then: &Snapshot) -> Error {
    without_files(gone, then.version()).with("table", then.location().uri()).hint(
        "vacuum deletes files of old versions: restore a later version, put the files back from a backup, or \
         pass ignore_missing_files=True to restore the version without their rows",
    )
}

/// The error of files of a version that are gone.
pub(super) fn without_files(gone: &GoneFiles, version: Version) -> Error {
    let unreadable = gone.unreadable();
    let named: Vec<&str> = unreadable.iter().map(String::as_str).take(MOST_NAMED).collect();
    let more = unreadable.len().saturating_sub(named.len());
    let more = if more > 0 {
        format!(", and {more} more")
    } else {
        String::new()
    };
    let (files, exist) = match unreadable.len() {
        1 => ("1 file".to_owned(), "no longer exists"),
        many => (format!("{many} files"), "no longer exist"),
    };
    let exist = if gone.data.is_empty() {
        "lost the deletion vector"
    } else {
        exist
    };
    Error::new(
        ErrorKind::CorruptData,
        format!("{files} of version {version} {exist}: {}{more}", named.join(", ")),
    )
    .with("version", version)
    .with("files", i64::try_from(unreadable.len()).unwrap_or(i64::MAX))
}
