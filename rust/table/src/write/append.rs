//! Appends a stream of record batches, including the commit.

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ArrowError;
use deltaic_log::Snapshot;
use deltaic_log::transaction::{
    CommitOptions, Committed, Operation, OperationDetails, Transaction, already_done,
};
use deltaic_protocol::features::ensure_appendable;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::give_up::names_no_file;
use super::table_writer::{TableWriter, Written};

/// Appends all batches of a stream in one commit. After a failure the table is unchanged and the written data files are
/// deleted, unless the outcome is unknown: then they are kept, because they may be in the table.
///
/// Must be called inside a multi-threaded runtime.
pub async fn append_stream(
    snapshot: &Snapshot,
    batches: Box<dyn RecordBatchReader + Send>,
    options: CommitOptions,
) -> Result<Committed> {
    if let Some(app) = &options.app_transaction
        && let Some(done) = already_done(snapshot, app)
    {
        return Ok(done); // without reading the stream
    }
    let mut writer = TableWriter::try_new(snapshot, &batches.schema())?;
    let committed = write_and_commit(snapshot, &mut writer, batches, options).await;
    if names_no_file(&committed) {
        writer.abort().await;
    }
    committed
}

async fn write_and_commit(
    snapshot: &Snapshot,
    writer: &mut TableWriter,
    batches: Box<dyn RecordBatchReader + Send>,
    options: CommitOptions,
) -> Result<Committed> {
    let written = write_stream(writer, batches).await?;
    let details = describe(snapshot, &written);
    let mut transaction = Transaction::try_new(snapshot, Operation::Write, ensure_appendable)?;
    transaction.details = details;
    transaction.proposal.adds = written.adds;
    transaction.options = options;
    transaction.commit().await
}

/// Writes the rows of a stream; the files are not yet committed.
pub(crate) async fn write_stream(
    writer: &mut TableWriter,
    mut batches: Box<dyn RecordBatchReader + Send>,
) -> Result<Written> {
    // The source may block, and may itself wait for this runtime, as a scan of another table does.
    while let Some(batch) = tokio::task::block_in_place(|| batches.next()) {
        let batch: RecordBatch = batch.map_err(broken_off)?;
        writer.write(&batch).await?;
    }
    writer.finish().await
}

/// Returns the source's error unchanged if it is one of deltaic's.
fn broken_off(error: ArrowError) -> Error {
    if let ArrowError::ExternalError(cause) = &error
        && let Some(cause) = cause.downcast_ref::<Error>()
    {
        return cause.clone();
    }
    Error::new(
        ErrorKind::InvalidArgument,
        format!("the producer of the data failed: {error}"),
    )
}

fn describe(snapshot: &Snapshot, written: &Written) -> OperationDetails {
    let bytes = written
        .adds
        .iter()
        .fold(0i64, |total, add| total.saturating_add(add.size));
    let partition_columns = serde_json::Value::from(snapshot.metadata().partition_columns.clone());
    OperationDetails {
        parameters: vec![
            ("mode", "Append".to_owned()),
            ("partitionBy", partition_columns.to_string()),
        ],
        metrics: vec![
            ("numFiles", i64::try_from(written.adds.len()).unwrap_or(i64::MAX)),
            ("numOutputRows", i64::try_from(written.rows).unwrap_or(i64::MAX)),
            ("numOutputBytes", bytes),
        ],
    }
}
