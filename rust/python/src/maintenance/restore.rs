//! Restores a table, and `deltaic._rust.RestorePreview`.

use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_table::restore::{self, Restore, RestoreTo, preview_restore};
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::calls::runtime::wait_reporting;
use crate::snapshot::Snapshot;
use crate::writing::commit::Commit;
use crate::writing::commit_options::CommitOptions;

#[pyclass(module = "deltaic._rust", frozen, get_all)]
pub(crate) struct RestorePreview {
    restored_version: i64,
    restored_files: usize,
    restored_bytes: i64,
    removed_files: usize,
    removed_bytes: i64,
    files_after: usize,
    bytes_after: i64,
    missing_files: Vec<String>,
    changes_metadata: bool,
}

impl From<restore::RestoreSummary> for RestorePreview {
    fn from(found: restore::RestoreSummary) -> Self {
        Self {
            restored_version: found.restored_version.as_i64(),
            restored_files: found.restored_files,
            restored_bytes: found.restored_bytes,
            removed_files: found.removed_files,
            removed_bytes: found.removed_bytes,
            files_after: found.files_after,
            bytes_after: found.bytes_after,
            missing_files: found.missing_files,
            changes_metadata: found.changes_metadata,
        }
    }
}

/// What to restore, as given by Python: exactly one of version and time.
pub(crate) fn request(
    version: Option<i64>,
    timestamp_ms: Option<i64>,
    ignore_missing_files: bool,
    load: LoadOptions,
) -> Result<Restore> {
    let to = match (version, timestamp_ms) {
        (Some(version), None) => RestoreTo::Version(Version::try_new(version)?),
        (None, Some(time_ms)) => RestoreTo::Timestamp(time_ms),
        _ => {
            let what = "give a version or a timestamp to restore, and not both";
            return Err(Error::new(ErrorKind::InvalidArgument, what));
        }
    };
    Ok(Restore {
        to,
        ignore_missing_files,
        load,
    })
}

pub(crate) fn run(
    py: Python<'_>,
    known: &Snapshot,
    request: Restore,
    options: CommitOptions,
) -> CallResult<Commit> {
    let (snapshot, (options, reporter)) = (known.snapshot.clone(), options.parse()?);
    let committed = wait_reporting(py, reporter.as_ref(), async move {
        restore::restore(&snapshot, request, options).await
    })?;
    Ok(committed.into())
}

pub(crate) fn preview(
    py: Python<'_>,
    known: &Snapshot,
    request: Restore,
    options: CommitOptions,
) -> CallResult<RestorePreview> {
    let (snapshot, (options, reporter)) = (known.snapshot.clone(), options.parse()?);
    let found = wait_reporting(py, reporter.as_ref(), async move {
        preview_restore(&snapshot, request, &options.progress).await
    })?;
    Ok(found.into())
}
