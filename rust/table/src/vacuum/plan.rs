//! Determines which files a vacuum deletes.

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::progress::Progress;
use deltaic_log::removed_files::RetainedCommits;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::properties::tombstone_retention_ms;
use deltaic_protocol::{Error, Result, Version};
use deltaic_storage::location::LocalRemains;

use super::found::FileToDelete;
use super::hidden::Hidden;
use super::inner_tables::inner_tables_of;
use super::inventory::inventoried;
use super::listed::listed;
use super::lite::removed_by_log;
use super::needed::Needed;
use super::paths::is_below_any;
use super::request::{Candidates, RetentionCheck, VacuumRequest};
use super::retention::Retention;

/// What a vacuum deletes.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) files: Vec<FileToDelete>,
    /// Folders that may be removed if they are empty afterwards; each before those inside it.
    pub(super) folders: Vec<String>,
    /// The number of folders that were examined.
    pub(super) examined_folders: usize,
    /// The newest commit whose removed files are all deleted afterwards.
    pub(super) complete_until: Option<Version>,
    clones: Vec<Snapshot>,
    hidden: Hidden,
    /// The time of the vacuum, and the time before which files have expired.
    times_ms: (i64, i64),
    has_links: bool,
}

impl Plan {
    /// The total size of the files, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.files
            .iter()
            .map(|file| file.bytes)
            .fold(0, u64::saturating_add)
    }

    /// Retains the files that a later version of the table needs, or one of its clones.
    ///
    /// # Errors
    ///
    /// As for [`plan`].
    pub(super) async fn retain_needed(&mut self, planned: &Snapshot, newest: &Snapshot) -> Result<()> {
        let mut needed = Needed::new(newest.location(), &self.hidden, self.has_links);
        if newest.version() != planned.version() {
            needed.add_table(newest, self.times_ms.1, None).await?;
        }
        for planned in &self.clones {
            let clone = planned.refresh().await?;
            if clone.version() != planned.version() {
                add_clone(&mut needed, &clone, self.times_ms).await?;
            }
        }
        self.files.retain(|file| !needed.contains(&file.path));
        Ok(())
    }
}

/// Plans a vacuum of a version at a time in milliseconds since the epoch.
///
/// # Errors
///
/// `InvalidArgument` for a retention that is shorter than the table's, unless the check is disabled; `CorruptLog` if it
/// cannot be determined which files are needed; `StorageError`; `TableNotFound` for a clone that does
/// not exist; `VersionNotFound` if the log does not hold all commits since the last vacuum, or a version to keep.
pub(super) async fn plan(
    snapshot: &Snapshot,
    request: &VacuumRequest,
    retention: Retention,
    (now_ms, progress): (i64, &Progress),
) -> Result<Plan> {
    let location = snapshot.location();
    let cutoff_ms = retention.cutoff_ms(now_ms);
    let commits = RetainedCommits::list(snapshot).await?;
    if request.retention_check == RetentionCheck::Enabled {
        retention.ensure_safe(now_ms, &commits).await?;
    }
    let hidden = Hidden::of(snapshot);
    let (remains, has_links) = match &request.candidates {
        Candidates::Listed => {
            let hidden = hidden.clone();
            let found = location
                .local_remains(move |folder| !hidden.hides(folder))
                .await?;
            let remains = found.unwrap_or_default();
            let has_links = remains.has_links;
            (remains, has_links)
        }
        // Without a listing it is unknown whether there are links.
        Candidates::Log | Candidates::Inventory(_) => {
            (LocalRemains::default(), location.file_system().is_some())
        }
    };
    let last = commits.newest_not_after(cutoff_ms).await?;
    let mut needed = Needed::new(location, &hidden, has_links);
    needed.add_table(snapshot, cutoff_ms, None).await?;
    needed
        .add_removed(&commits, (last, snapshot.version()), cutoff_ms, None)
        .await?;
    for version in &request.keep_versions {
        needed.add_version(*version).await?;
    }
    let mut clones = Vec::with_capacity(request.clones.len());
    for clone in &request.clones {
        let clone = Snapshot::load(Arc::clone(clone), None, LoadOptions::default()).await?;
        add_clone(&mut needed, &clone, (now_ms, cutoff_ms)).await?;
        clones.push(clone);
    }
    let rules = (&hidden, &needed);
    let (mut found, inner_tables) = match &request.candidates {
        Candidates::Listed => listed(location, &hidden, &needed, cutoff_ms, progress).await?,
        Candidates::Log | Candidates::Inventory(_) => {
            let found = match &request.candidates {
                Candidates::Inventory(entries) => inventoried(location, entries, rules, cutoff_ms),
                _ => removed_by_log(location, &commits, last, rules, cutoff_ms).await?,
            };
            let inner_tables = inner_tables_of(location, &found.files).await?;
            (found, inner_tables)
        }
    };
    let uploads = expired_uploads(&remains, cutoff_ms).filter(|upload| !needed.contains(&upload.path));
    found.files.extend(uploads);
    found
        .files
        .retain(|file| !is_below_any(&file.path, &inner_tables));
    found
        .files
        .retain(|file| !has_links || !location.is_linked(&file.path));
    found.files.sort_unstable();
    let folders = remains.folders.iter();
    let old_folders = folders.filter(|(folder, time)| {
        // The last part is the folder itself, which may be another table.
        *time < cutoff_ms && !is_below_any(&format!("{folder}/"), &inner_tables)
    });
    Ok(Plan {
        files: found.files,
        folders: old_folders.map(|(folder, _)| folder.clone()).collect(),
        examined_folders: found.folders.max(remains.folders.len().saturating_add(1)),
        complete_until: last.filter(|_| {
            // Files of kept versions remain to be deleted.
            !matches!(request.candidates, Candidates::Inventory(_)) && request.keep_versions.is_empty()
        }),
        clones,
        hidden,
        times_ms: (now_ms, cutoff_ms),
        has_links,
    })
}

fn expired_uploads(remains: &LocalRemains, cutoff_ms: i64) -> impl Iterator<Item = FileToDelete> {
    let old = remains
        .uploads
        .iter()
        .filter(move |(_, _, time)| *time < cutoff_ms);
    old.map(|(path, bytes, _)| FileToDelete {
        path: path.clone(),
        bytes: *bytes,
        is_upload: true,
    })
}

/// Adds the files that a version of a clone needs, and those that it removed within its own retention or this one.
async fn add_clone(needed: &mut Needed, clone: &Snapshot, (now_ms, cutoff_ms): (i64, i64)) -> Result<()> {
    let location = clone.location();
    let added = async {
        let own_ms = now_ms.saturating_sub(tombstone_retention_ms(clone.metadata())?);
        let cutoff_ms = own_ms.min(cutoff_ms);
        needed.add_table(clone, cutoff_ms, Some(location)).await?;
        let commits = RetainedCommits::list(clone).await?;
        let last = commits.newest_not_after(cutoff_ms).await?;
        needed
            .add_removed(&commits, (last, clone.version()), cutoff_ms, Some(location))
            .await
    };
    added
        .await
        .map_err(|error: Error| error.with("table", location.uri()))
}
