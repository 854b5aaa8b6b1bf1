//! Append and overwrite: the rows of a stream are written once, and their data files are committed again after a
//! conflict.

use deltaic_log::Snapshot;
use deltaic_log::transaction::{
    CommitOptions, Committed, Operation, Planned, PreviousAttempt, RunPolicy, TableOperation, run,
};
use deltaic_protocol::{Conflict, Error, ErrorKind, Result};

use super::TableTransaction;
use super::append::NewRows;
use super::evolve::SchemaMode;
use super::replaced::Replaced;
use crate::write::{RowStream, Written};

/// Appends all batches of a stream in one commit. After a failure the table is unchanged and the written data files are
/// deleted, unless the outcome is unknown: then they are kept, because they may be in the table. After a conflict the
/// same data files are added to the newest version. Returns a skipped commit if nothing changes.
///
/// Must be called inside a multi-threaded runtime.
///
/// # Errors
///
/// Those of [`TableTransaction::append`] and of [`run`]; the conflict if the winning commit changed what data files depend
/// on: the protocol, the schema, partition columns or properties.
pub async fn append_stream(
    snapshot: &Snapshot,
    rows: impl Into<RowStream>,
    schema_mode: SchemaMode,
    options: CommitOptions,
) -> Result<Committed> {
    commit_rows(snapshot, rows.into(), schema_mode, None, options).await
}

/// Replaces rows by those of a stream in one commit; see [`TableTransaction::overwrite`]. After a conflict the rows to
/// replace are searched again in the newest version, and the same data files are added to it. Returns a skipped commit if
/// nothing changes.
///
/// Must be called inside a multi-threaded runtime.
///
/// # Errors
///
/// Those of [`TableTransaction::overwrite`] and of [`run`]; the conflict as for [`append_stream`].
pub async fn overwrite_stream(
    snapshot: &Snapshot,
    rows: impl Into<RowStream>,
    replaced: Replaced,
    schema_mode: SchemaMode,
    options: CommitOptions,
) -> Result<Committed> {
    commit_rows(snapshot, rows.into(), schema_mode, Some(replaced), options).await
}

async fn commit_rows(
    snapshot: &Snapshot,
    rows: RowStream,
    schema_mode: SchemaMode,
    replaced: Option<Replaced>,
    options: CommitOptions,
) -> Result<Committed> {
    let policy = RunPolicy::of_rows(&options);
    let mut operation = RowsOnce {
        stream: Some(rows),
        rows: 0,
        schema_mode,
        replaced,
        options,
    };
    run(snapshot.clone(), policy, &mut operation).await
}

/// An append or overwrite, whose stream can be read once.
struct RowsOnce {
    stream: Option<RowStream>,
    /// The number of rows that were read.
    rows: u64,
    schema_mode: SchemaMode,
    /// What an overwrite replaces; `None` for an append.
    replaced: Option<Replaced>,
    options: CommitOptions,
}

impl RowsOnce {
    /// Returns the stream at first, and then the data files that were written, if they are still valid.
    fn rows(&mut self, previous: Option<&PreviousAttempt>) -> Result<NewRows> {
        let Some(previous) = previous else {
            let stream = self.stream.take();
            return stream
                .map(NewRows::Stream)
                .ok_or_else(|| Error::internal("a stream was read twice"));
        };
        let output = previous.reusable().next();
        let output = output.ok_or_else(|| previous.conflict().clone())?;
        let written = Written {
            adds: output.adds.clone(),
            rows: self.rows,
            ..Written::default()
        };
        Ok(NewRows::Written(written))
    }
}

impl TableOperation for RowsOnce {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        previous: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        let rows = self.rows(previous)?;
        let mut transaction =
            TableTransaction::try_new(snapshot.clone(), Operation::Write, self.options.clone())?;
        let staged = match &self.replaced {
            None => transaction.append_new(rows, &self.schema_mode).await,
            Some(replaced) => {
                let overwritten = transaction.overwrite_new(rows, replaced, &self.schema_mode);
                overwritten.await
            }
        };
        let planned = match staged {
            Ok(rows) => {
                self.rows = rows;
                transaction.plan_commit(snapshot).await
            }
            Err(error) => Err(error),
        };
        if planned.is_err() {
            transaction.abandon().await;
        }
        planned
    }

    /// Not after too many winning commits, which `max_attempts` limits; after a commit of the same application, because
    /// two of its runs write at once; and after a change of the protocol, for which no data file was written.
    fn may_plan_again(&self, conflict: &Error) -> bool {
        !matches!(
            conflict.kind(),
            ErrorKind::CommitConflict(
                Conflict::ConcurrentWrite | Conflict::ConcurrentTransaction | Conflict::ProtocolChanged
            )
        )
    }
}
