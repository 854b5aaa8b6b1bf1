//! Runs a vacuum.

use deltaic_log::Snapshot;
use deltaic_log::cleanup::store_time_ms;
use deltaic_log::transaction::CommitOptions;
use deltaic_protocol::{Error, Result, Version};
use deltaic_storage::clock::now_ms;
use tracing::Span;

use super::delete::{Deleted, delete};
use super::found::FileToDelete;
use super::last_vacuum::record_last_vacuum;
use super::plan::plan;
use super::record::{Record, ensure_vacuumable};
use super::request::{RetentionCheck, VacuumRequest};
use super::retention::Retention;

/// Result of a vacuum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vacuumed {
    /// The files that were not needed, sorted by path.
    pub files: Vec<FileToDelete>,
    /// The number of files that were deleted; 0 after a dry run. Files that another client deleted first are not
    /// counted.
    pub deleted_files: usize,
    /// The number of empty folders that were removed, of a local table.
    pub deleted_folders: usize,
    /// How long files are retained, in milliseconds.
    pub retention_ms: i64,
    /// The versions that record the start and the end; `None` after a dry run.
    pub versions: Option<(Version, Version)>,
}

/// Deletes the files that the newest version does not need and that are older than the retention, between two commits
/// that record the start and the end. A dry run writes nothing.
///
/// Must be called inside a runtime.
///
/// # Errors
///
/// `InvalidArgument` for a retention shorter than the table's; `UnsupportedFeature` for a catalog-managed table or one
/// with a feature that deltaic does not support; `CorruptLog` if it cannot be determined which files are needed;
/// `VersionNotFound` if the log does not hold all commits since the last vacuum ([`Candidates::Log`]);
/// `StorageError` with the numbers of files that are `deleted` and `left` if a deletion failed: the end is recorded as failed, and another
/// vacuum deletes the rest. Errors of the commits: see [`deltaic_log::transaction::Transaction::commit`].
///
/// [`Candidates::Log`]: super::Candidates::Log
///
/// ```
/// use std::sync::Arc;
///
/// use deltaic_log::Snapshot;
/// use deltaic_log::snapshot::LoadOptions;
/// use deltaic_log::transaction::{CommitOptions, NewTable, create};
/// use deltaic_protocol::schema::StructType;
/// use deltaic_storage::TableLocation;
/// use deltaic_table::vacuum::{VacuumRequest, vacuum};
///
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// # tokio::spawn(async {
/// let location = Arc::new(TableLocation::parse("memory:///punts", Vec::new())?);
/// let schema = StructType::from_json(
///     r#"{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}"#,
/// )?;
/// let options = CommitOptions::default();
/// create(&location, NewTable::of(schema), &options).await?;
/// let snapshot = Snapshot::load(location, None, LoadOptions::default()).await?;
/// let vacuumed = vacuum(&snapshot, &VacuumRequest::default(), &options).await?;
/// assert_eq!(vacuumed.deleted_files, 0);
/// # Ok::<(), deltaic_protocol::Error>(()) }).await.unwrap() }).unwrap();
/// ```
#[tracing::instrument(target = "deltaic::maintenance", name = "vacuum", level = "info", skip_all, fields(table = snapshot.location().uri(), deleted = tracing::field::Empty))]
pub async fn vacuum(
    snapshot: &Snapshot,
    request: &VacuumRequest,
    options: &CommitOptions,
) -> Result<Vacuumed> {
    // Boxed: nested, the futures of two commits exceed the compiler's depth limit in other crates.
    let vacuumed = Box::pin(vacuum_newest(snapshot, request, options)).await;
    vacuumed.map_err(|error: Error| error.with("table", snapshot.location().uri()))
}

async fn vacuum_newest(
    snapshot: &Snapshot,
    request: &VacuumRequest,
    options: &CommitOptions,
) -> Result<Vacuumed> {
    let snapshot = snapshot.refresh().await?;
    let location = snapshot.location();
    let located = |error: Error| error.with("version", snapshot.version());
    ensure_vacuumable(snapshot.configuration()).map_err(located)?;
    let retention = Retention::of(snapshot.metadata(), request)?;
    // Files have the store's time, tombstones that of their writers. A clock that is ahead must not expire them.
    let now_ms = match request.dry_run {
        true => now_ms(),
        false => now_ms().min(store_time_ms(location).await?),
    };
    let mut plan = plan(&snapshot, request, retention, (now_ms, &options.progress)).await?;
    let mut vacuumed = Vacuumed {
        files: Vec::new(),
        deleted_files: 0,
        deleted_folders: 0,
        retention_ms: retention.ms(),
        versions: None,
    };
    if request.dry_run {
        vacuumed.files = plan.files;
        return Ok(vacuumed);
    }
    let is_checked = request.retention_check == RetentionCheck::Enabled;
    let started = Record::start(&plan, retention, is_checked, options)
        .commit(&snapshot)
        .await?;
    let follows = snapshot.version().next()? == started.version;
    let newest = if follows {
        Ok(snapshot.clone())
    } else {
        snapshot.refresh().await
    };
    // Commits since the plan, of this table or of a clone, may add files that were not needed before.
    let retained = match &newest {
        Ok(newest) => plan.retain_needed(&snapshot, newest).await,
        Err(error) => Err(error.clone()),
    };
    let deleted = match &retained {
        Ok(()) => delete(location, &plan, &options.progress).await,
        Err(error) => Deleted::none(error.clone()),
    };
    Span::current().record("deleted", deleted.files);
    let without_deadline = CommitOptions {
        deadline: None,
        ..options.clone()
    };
    let newest = snapshot.refresh().await;
    let ended = match &newest {
        Ok(newest) => {
            Record::end(&plan, &deleted, &without_deadline)
                .commit(newest)
                .await
        }
        Err(error) => Err(error.clone()),
    };
    retained?;
    if let Some(failure) = &deleted.failure {
        return Err(deleted.incomplete(plan.files.len(), failure));
    }
    let ended = ended?;
    if let Some(version) = plan.complete_until {
        // Without it, the next vacuum by the log reads more commits.
        let _ = record_last_vacuum(location, version).await;
    }
    vacuumed.files = plan.files;
    vacuumed.deleted_files = deleted.files;
    vacuumed.deleted_folders = deleted.folders;
    vacuumed.versions = Some((started.version, ended.version));
    Ok(vacuumed)
}
