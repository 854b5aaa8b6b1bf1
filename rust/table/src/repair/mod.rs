//! Removes the entries of data files that are gone from storage.
//!
//! Protocol: *Add File and Remove File*.

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::whole_adds;
use deltaic_log::progress::Progress;
use deltaic_log::transaction::{
    CommitOptions, Committed, Operation, OperationDetails, Planned, PreviousAttempt, RunPolicy,
    TableOperation, Transaction, already_done, run,
};
use deltaic_protocol::actions::{Add, Remove};
use deltaic_protocol::features::ensure_removable;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::clock::now_ms;

use crate::stored_files::{GoneFiles, NamedFile, gone_files};

/// A repair of a table.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// The removed files, as named by the log.
    pub missing_files: Vec<String>,
    /// The commit; a skipped one if no file is gone.
    pub committed: Committed,
}

/// Removes the live files whose data files are gone in one commit; their rows are lost. After a conflict, the files are
/// looked up again in the newest version.
///
/// Must be called inside a runtime.
///
/// # Errors
///
/// `CorruptData` if the deletion vector of an existing file is gone: without it, deleted rows would be in the table
/// again. `ConstraintViolation` if the table is append-only; `CommitConflict` and `CommitUnknown` as for other commits;
/// errors of the store.
pub async fn repair(snapshot: &Snapshot, options: CommitOptions) -> Result<Repaired> {
    if let Some(app) = &options.app_transaction
        && let Some(committed) = already_done(snapshot, app)
    {
        return Ok(Repaired {
            missing_files: Vec::new(),
            committed,
        });
    }
    let policy = RunPolicy::of_rows(&options);
    let mut repairing = Repairing {
        options,
        missing_files: Vec::new(),
    };
    let committed = run(snapshot.clone(), policy, &mut repairing).await?;
    Ok(Repaired {
        missing_files: repairing.missing_files,
        committed,
    })
}

/// Returns the live files whose data files are gone, which [`repair`] would remove. Nothing is written.
///
/// # Errors
///
/// Those of [`repair`], except for those of its commit.
pub async fn missing_files(snapshot: &Snapshot, progress: &Progress) -> Result<Vec<String>> {
    let missing = gone(snapshot, progress).await?;
    if !missing.is_empty() {
        ensure_removable(snapshot.configuration()).map_err(|error| snapshot.located(error))?;
    }
    Ok(missing)
}

struct Repairing {
    options: CommitOptions,
    /// What the last plan removes.
    missing_files: Vec<String>,
}

impl TableOperation for Repairing {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        _: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        self.missing_files = gone(snapshot, &self.options.progress).await?;
        if self.missing_files.is_empty() && self.options.app_transaction.is_none() {
            return Ok(None);
        }
        let adds = whole_adds(snapshot, Some(&self.missing_files)).await?;
        let mut transaction = Transaction::try_new(snapshot, Operation::Repair, ensure_removable)?;
        transaction.details = details(&adds);
        transaction.options = self.options.clone();
        transaction
            .read
            .read_files(self.missing_files.iter().map(String::as_str));
        let deleted_ms = now_ms();
        let removes = adds.iter().map(|add| Remove::of(add, deleted_ms));
        transaction.proposal.removes = removes.collect();
        Ok(Some(Planned::without_files(transaction)))
    }
}

/// Returns the live files whose data files are gone, sorted.
async fn gone(snapshot: &Snapshot, progress: &Progress) -> Result<Vec<String>> {
    let (live, _) = snapshot.files(None).await?;
    let batches = live.batches.iter();
    let rows = batches.flat_map(|batch| (0..batch.len()).map(|row| NamedFile::of_row(&batch.adds, row)));
    let files: Vec<NamedFile> = rows.collect();
    drop(live);
    let mut found = gone_files(snapshot.location(), &files, progress)
        .await
        .map_err(|error| snapshot.located(error))?;
    if !found.vectors.is_empty() {
        return Err(snapshot.located(without_vectors(&found)));
    }
    found.data.sort_unstable();
    Ok(found.data)
}

fn without_vectors(found: &GoneFiles) -> Error {
    let first = found.vectors.first();
    let (path, vector) = first.map_or(("", ""), |(path, vector)| (path, vector));
    let what = match found.vectors.len() {
        1 => format!("the deletion vector {vector} of {path} is gone"),
        many => format!("the deletion vectors of {many} files are gone, the first is {vector} of {path}"),
    };
    Error::new(
        ErrorKind::CorruptData,
        format!("{what}, so its deleted rows are unknown; nothing was repaired"),
    )
    .with("path", path)
    .with("files", i64::try_from(found.vectors.len()).unwrap_or(i64::MAX))
    .hint(
        "restore the file of the deletion vector from a backup of the table, restore an earlier version, or \
         remove the data file with all of its rows in a transaction: tx.remove([path])",
    )
}

fn details(adds: &[Add]) -> OperationDetails {
    let size = adds.iter().map(|add| add.size).fold(0, i64::saturating_add);
    OperationDetails {
        parameters: Vec::new(),
        metrics: vec![
            ("numRemovedFiles", i64::try_from(adds.len()).unwrap_or(i64::MAX)),
            ("removedFilesSize", size),
        ],
    }
}
