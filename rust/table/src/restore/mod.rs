//! Restores a table to an earlier version, as the next version of its history.
//!
//! Protocol: *Add File and Remove File*, *Change Metadata*, *Protocol Evolution*, *Row Tracking*.

mod differing_files;
mod preconditions;
mod restore_plan;

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::progress::Progress;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::time_travel::version_at;
use deltaic_log::transaction::{
    CommitOptions, Committed, Operation, OperationDetails, Planned, PreviousAttempt, RunPolicy,
    TableOperation, Transaction, already_done, run,
};
use deltaic_protocol::error::ContextValue;
use deltaic_protocol::expr::format_timestamp;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_storage::TableLocation;

pub use self::restore_plan::RestoreSummary;
use self::restore_plan::{RestorePlan, without_files};
use crate::stored_files::{GoneFiles, NamedFile, gone_files};

/// The version to which a table is restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreTo {
    /// This version.
    Version(Version),
    /// The newest version at or before a time in milliseconds since the epoch.
    Timestamp(i64),
}

/// What to restore.
#[derive(Clone, Copy, Debug)]
pub struct Restore {
    /// The version.
    pub to: RestoreTo,
    /// Whether to leave out files of that version that are gone.
    pub ignore_missing_files: bool,
    /// How the version is loaded.
    pub load: LoadOptions,
}

/// Restores rows, schema, partitioning, properties and clustering columns of an earlier version in one commit. The
/// protocol is never lowered, and the highest row id, the application transactions and user-defined domains remain.
/// Commits nothing if the table is already as in that version. Any concurrent commit conflicts.
///
/// Must be called inside a runtime.
///
/// # Errors
///
/// `VersionNotFound` if the log does not hold the version; `CorruptData` with the number of `files` of that version
/// that are gone, unless they are ignored; `ConstraintViolation` if files would be removed from an append-only table;
/// `UnsupportedFeature` if deltaic cannot change the table as it was or as it is; `CommitConflict` if another commit
/// was made concurrently, or if a vacuum is running that may delete the files. After the commit, `CorruptData` if files
/// were deleted while the version was restored.
pub async fn restore(snapshot: &Snapshot, request: Restore, options: CommitOptions) -> Result<Committed> {
    if let Some(app) = &options.app_transaction
        && let Some(done) = already_done(snapshot, app)
    {
        return Ok(done);
    }
    let policy = RunPolicy {
        max_attempts: 1,
        deadline: options.deadline,
    };
    let progress = Arc::clone(&options.progress);
    let mut restoring = Restoring {
        request,
        options,
        files: Vec::new(),
    };
    let mut committed = run(snapshot.clone(), policy, &mut restoring).await?;
    let location = snapshot.location();
    // A vacuum that the log does not record may have deleted files since they were looked up.
    match gone_files(location, &restoring.files, &progress).await {
        Ok(gone) if gone == GoneFiles::default() => {}
        Ok(gone) => {
            let error = without_files(&gone, committed.version).with("table", location.uri());
            let what = format!("{}, deleted while the version was restored", error.what());
            match request.ignore_missing_files {
                true => committed.warnings.push(what),
                false => return Err(lost(&error, &what, snapshot.version())),
            }
        }
        Err(error) => {
            let what = format!(
                "the restored files could not be looked up again: {}",
                error.what()
            );
            committed.warnings.push(what);
        }
    }
    Ok(committed)
}

/// The error of a restored version that lost files.
fn lost(error: &Error, what: &str, before: Version) -> Error {
    let mut lost = Error::new(ErrorKind::CorruptData, what);
    for (key, value) in error.context() {
        lost = lost.with(key, value.clone());
    }
    lost.hint(format!(
        "the restore is committed: restore version {before}, put the files back from a backup, or remove their \
         entries with repair()"
    ))
}

/// Returns what [`restore`] would do. Nothing is written.
///
/// # Errors
///
/// Those of [`restore`], except for those of its commit.
pub async fn preview_restore(
    snapshot: &Snapshot,
    request: Restore,
    progress: &Progress,
) -> Result<RestoreSummary> {
    let then = version_of(snapshot, request).await?;
    let options = (request.ignore_missing_files, progress);
    let plan = RestorePlan::try_new(snapshot, &then, options).await?;
    plan.support_check()(snapshot.configuration()).map_err(|error| snapshot.located(error))?;
    Ok(plan.summary)
}

struct Restoring {
    request: Restore,
    options: CommitOptions,
    /// The files that are added again.
    files: Vec<NamedFile>,
}

impl TableOperation for Restoring {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        _: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        let then = version_of(snapshot, self.request).await?;
        let options = (self.request.ignore_missing_files, &*self.options.progress);
        let plan = RestorePlan::try_new(snapshot, &then, options).await?;
        if plan.is_empty() && self.options.app_transaction.is_none() {
            return Ok(None);
        }
        let support_check = plan.support_check();
        let mut transaction = Transaction::try_new(snapshot, Operation::Restore, support_check)?;
        transaction.details = OperationDetails {
            parameters: vec![parameter(self.request.to)],
            metrics: plan.summary.metrics(),
        };
        transaction.options = self.options.clone();
        transaction.read.require_version();
        self.files = plan.restored_files();
        plan.stage(&mut transaction.proposal);
        Ok(Some(Planned::without_files(transaction)))
    }

    /// Another commit may be what the user wants to keep.
    fn may_plan_again(&self, _: &Error) -> bool {
        false
    }
}

async fn version_of(snapshot: &Snapshot, request: Restore) -> Result<Snapshot> {
    let location: &Arc<TableLocation> = snapshot.location();
    let version = match request.to {
        RestoreTo::Version(version) => Ok(version),
        RestoreTo::Timestamp(time_ms) => version_at(location, time_ms, request.load).await,
    };
    let version = version.map_err(not_restorable)?;
    let then = Snapshot::load(Arc::clone(location), Some(version), request.load).await;
    then.map_err(not_restorable)
}

/// Replaces the hint of a version that does not exist, which is about opening it.
fn not_restorable(error: Error) -> Error {
    let number = |key| {
        let mut context = error.context().iter();
        context.find_map(|(name, value)| match value {
            ContextValue::Number(number) if *name == key => Some(*number),
            ContextValue::Number(_) | ContextValue::Text(_) => None,
        })
    };
    match (error.kind(), number("oldest"), number("newest")) {
        (ErrorKind::VersionNotFound, Some(oldest), Some(newest)) if oldest == newest => {
            error.hint(format!("version {newest} is the only one in the log"))
        }
        (ErrorKind::VersionNotFound, Some(oldest), Some(newest)) => {
            error.hint(format!("restore a version from {oldest} to {newest}"))
        }
        _ => error,
    }
}

fn parameter(to: RestoreTo) -> (&'static str, String) {
    match to {
        RestoreTo::Version(version) => ("version", version.to_string()),
        RestoreTo::Timestamp(time_ms) => {
            let text = format_timestamp(time_ms.saturating_mul(1000), ' ');
            ("timestamp", text.unwrap_or_else(|| time_ms.to_string()))
        }
    }
}
