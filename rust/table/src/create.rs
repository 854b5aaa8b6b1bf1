//! Creates a table with its first rows.
//!
//! Protocol: *Change Metadata*, *Protocol Evolution*, *Add File and Remove File*: one version contains all of it, so no
//! reader sees the table without its rows.

use std::sync::Arc;

use deltaic_log::progress::Stage;
use deltaic_log::transaction::{
    CommitOptions, Committed, NewContents, NewTable, Operation, StagedFiles, create_with_written_files,
};
use deltaic_protocol::{Result, TableConfiguration};
use deltaic_storage::TableLocation;

use crate::transaction::DryRun;
use crate::write::{FileContents, RowStream, TableWriter, WritePlan, Written};

/// Creates a table with the rows of a stream, in one commit. Returns `None` if a table exists and
/// [`IfExists::Ignore`](deltaic_log::transaction::IfExists) is set, and a skipped commit if one exists that records the
/// application transaction of `options`. After a failure the written files are deleted, unless a version may reference
/// them.
///
/// The columns are those of the rows: none of them is an identity column.
///
/// Must be called inside a multi-threaded runtime.
///
/// # Errors
///
/// `TableExists`; those of [`create`](deltaic_log::transaction::create), before a row is read; `SchemaMismatch`,
/// `ConstraintViolation`, `UnsupportedFeature`, `StorageError`, and those of the stream.
pub async fn create_with_rows(
    location: &Arc<TableLocation>,
    table: &NewTable,
    rows: impl Into<RowStream>,
    options: &CommitOptions,
) -> Result<Option<Committed>> {
    let configuration = table.configuration()?;
    let (written, files) = write(location, &configuration, rows.into(), options).await?;
    let mut details = table.details(configuration.metadata());
    details.metrics = written.metrics();
    let contents = NewContents {
        configuration,
        adds: written.adds,
        operation: Operation::CreateTableAsSelect,
        details,
        if_exists: table.if_exists,
    };
    create_with_written_files(location, &contents, &files, options).await
}

/// What creating a table with the rows of a stream would do. The rows are validated and encoded; nothing is written.
///
/// # Errors
///
/// Those of [`create_with_rows`] before its commit.
pub async fn preview_create(
    location: &TableLocation,
    table: &NewTable,
    rows: impl Into<RowStream>,
    options: &CommitOptions,
) -> Result<DryRun> {
    let location = Arc::new(location.without_writes());
    let (written, files) = write(&location, &table.configuration()?, rows.into(), options).await?;
    files.release();
    let bytes = written.adds.iter().map(|add| add.size);
    Ok(DryRun {
        rows: Some(0),
        added_rows: written.rows,
        added_files: written.adds.len(),
        added_bytes: bytes.fold(0, i64::saturating_add),
        ..DryRun::default()
    })
}

/// Writes the rows of a table that does not exist yet. After a failure the files are deleted.
async fn write(
    location: &Arc<TableLocation>,
    table: &TableConfiguration,
    mut rows: RowStream,
    options: &CommitOptions,
) -> Result<(Written, StagedFiles)> {
    let plan = WritePlan::try_new(table, rows.schema(), FileContents::Rows);
    let plan = plan.map_err(|error| error.with("table", location.uri()))?;
    let mut writer = TableWriter::of_plan(location, plan);
    writer.expect_new_rows(options.empty_partition_text);
    writer.limit_memory(options.memory);
    options.progress.begin(Stage::Rows, 0);
    let written = async {
        while let Some(batch) = rows.next().await? {
            writer.write(&batch).await?;
            options.progress.advance(batch.num_rows());
        }
        writer.finish().await
    };
    match written.await {
        Ok(written) => Ok((written, writer.into_files())),
        Err(error) => {
            writer.abort().await;
            Err(error)
        }
    }
}
