//! Copies the rows of rewritten files that are not deleted to new files.
//!
//! Protocol: *Row Tracking*: copied rows keep their row ids.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use deltaic_log::Snapshot;
use deltaic_log::progress::Stage;
use deltaic_log::transaction::{CommitOptions, StagedFiles};
use deltaic_protocol::row_tracking::RowTracking;
use deltaic_protocol::{Error, ErrorKind, Result};
use futures::TryStreamExt;

use super::delete_plan::RewrittenFile;
use crate::read::{BatchStream, stream_tasks};
use crate::scan::{Rows, Scan, ScanOptions};
use crate::write::{FileContents, TableWriter, Written};

/// Copies the remaining rows of files. The new files are added to `staged`; after a failure there are none.
///
/// # Errors
///
/// Those of a scan, and of [`TableWriter`].
pub(super) async fn copy_rows(
    snapshot: &Snapshot,
    files: &[RewrittenFile],
    allowed_roots: &[String],
    staged: &StagedFiles,
    options: &CommitOptions,
) -> Result<Written> {
    let contents = FileContents::CopiedRows(match RowTracking::of(snapshot.configuration())? {
        RowTracking::Enabled(columns) => Some(columns),
        _ => None,
    });
    let own = contents.own_columns();
    let scan = Scan::try_new(
        snapshot.clone(),
        ScanOptions {
            row_ids: !own.is_empty(),
            allowed_roots: allowed_roots.to_vec(),
            ..ScanOptions::default()
        },
    )?;
    let rows = files.iter().map(RewrittenFile::copied_rows);
    options.progress.begin(Stage::Rows, rows.sum());
    let tasks = files.iter().map(|file| {
        let kept = Rows::Without(Arc::new(file.not_copied.clone()));
        scan.task_of_rows(&file.add, kept)
    });
    // The last columns of the scan are the row ids, under other names than in files.
    let mut schema = scan.schema().clone();
    let table_columns = schema.fields.len() - own.len();
    schema.fields.truncate(table_columns);
    schema.fields.extend(own);
    let schema = Arc::new(schema.to_arrow()?);
    let renamed = {
        let schema = Arc::clone(&schema);
        stream_tasks(tasks.collect()).and_then(move |batch| {
            let batch = with_schema(&schema, &batch);
            async move { batch }
        })
    };
    write_batches(snapshot, contents, &schema, Box::pin(renamed), staged, options).await
}

/// Writes batches of a schema to new files, which are added to `staged`. After a failure the files are deleted.
pub(super) async fn write_batches(
    snapshot: &Snapshot,
    contents: FileContents,
    schema: &Schema,
    mut batches: BatchStream,
    staged: &StagedFiles,
    options: &CommitOptions,
) -> Result<Written> {
    let mut writer = TableWriter::of_contents(snapshot, snapshot.configuration(), schema, contents)?;
    writer.limit_memory(options.memory);
    let written = async {
        while let Some(batch) = batches.try_next().await? {
            writer.write(&batch).await?;
            options.progress.advance(batch.num_rows());
        }
        writer.finish().await
    };
    match written.await {
        Ok(written) => {
            staged.append(&writer.into_files());
            Ok(written)
        }
        Err(error) => {
            writer.abort().await;
            Err(error)
        }
    }
}

fn with_schema(schema: &SchemaRef, batch: &RecordBatch) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().to_vec();
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(|error| {
        let what = format!("copied rows do not fit their files: {error}");
        Error::new(ErrorKind::Internal, what)
    })
}
