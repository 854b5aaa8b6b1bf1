//! Copies rows of live files to new files.
//!
//! Protocol: *Row Tracking*: copied rows keep their row ids.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use deltaic_log::Snapshot;
use deltaic_log::progress::Progress;
use deltaic_log::transaction::StagedFiles;
use deltaic_protocol::actions::Add;
use deltaic_protocol::row_tracking::RowTracking;
use deltaic_protocol::schema::ColumnName;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::memory_budget::MemoryBudget;
use futures::TryStreamExt;

use crate::read::{BatchStream, stream_to_write};
use crate::scan::{Scan, ScanOptions, ScanTask};
use crate::write::{FileContents, TableWriter, Written};

/// How rows of a version are copied to new files: with their row ids and row commit versions, if rows have them.
pub(crate) struct CopiedRows {
    scan: Scan,
    contents: FileContents,
    /// The columns of the table, and those of the row ids under their names in files.
    schema: SchemaRef,
}

impl CopiedRows {
    /// Prepares copying rows of a version.
    ///
    /// # Errors
    ///
    /// Those of [`Scan::try_new`].
    pub(crate) fn try_new(snapshot: &Snapshot) -> Result<Self> {
        let contents = FileContents::CopiedRows(match RowTracking::of(snapshot.configuration())? {
            RowTracking::Enabled(columns) => Some(columns),
            _ => None,
        });
        let own = contents.own_columns();
        let scan = Scan::try_new(
            snapshot.clone(),
            ScanOptions {
                row_ids: !own.is_empty(),
                ..ScanOptions::default()
            },
        )?;
        // The last columns of the scan are the row ids, under other names than in files.
        let mut schema = scan.schema().clone();
        let table_columns = schema.fields.len() - own.len();
        schema.fields.truncate(table_columns);
        schema.fields.extend(own);
        let schema = Arc::new(schema.to_arrow()?);
        Ok(Self {
            scan,
            contents,
            schema,
        })
    }

    /// The task that reads the rows of a file that are not deleted.
    pub(crate) fn task_of(&self, add: &Add) -> ScanTask {
        self.scan.task_of(add)
    }

    /// Reads the rows of tasks, in order.
    pub(crate) fn batches(&self, tasks: Vec<ScanTask>) -> BatchStream {
        let schema = Arc::clone(&self.schema);
        let renamed = stream_to_write(tasks).and_then(move |batch| {
            let batch = with_schema(&schema, &batch);
            async move { batch }
        });
        Box::pin(renamed)
    }

    /// Reads the rows of files, but only the columns that have these names or contain fields of these names.
    pub(crate) fn columns_of(&self, files: &[Add], names: &[ColumnName]) -> Result<BatchStream> {
        let mut columns: Vec<String> = names.iter().map(|name| name.column().to_owned()).collect();
        columns.sort_unstable();
        columns.dedup();
        let scan = Scan::try_new(
            self.scan.snapshot.clone(),
            ScanOptions {
                columns: Some(columns),
                ..ScanOptions::default()
            },
        )?;
        Ok(stream_to_write(
            files.iter().map(|add| scan.task_of(add)).collect(),
        ))
    }

    /// Starts to write new files with such rows.
    ///
    /// # Errors
    ///
    /// Those of [`TableWriter::try_new`].
    pub(crate) fn writer(&self, memory: MemoryBudget) -> Result<TableWriter> {
        let (snapshot, contents) = (&self.scan.snapshot, self.contents.clone());
        let mut writer =
            TableWriter::of_contents(snapshot, snapshot.configuration(), &self.schema, contents)?;
        writer.limit_memory(memory);
        Ok(writer)
    }
}

/// Writes batches to new files, which are added to `staged`. After a failure the files are deleted.
pub(crate) async fn write_batches(
    mut writer: TableWriter,
    mut batches: BatchStream,
    staged: &StagedFiles,
    progress: &Progress,
) -> Result<Written> {
    let written = async {
        while let Some(batch) = batches.try_next().await? {
            writer.write(&batch).await?;
            progress.advance(batch.num_rows());
        }
        writer.finish().await
    };
    let written = written.await;
    settle_written(writer, written, staged).await
}

/// Adds the files of a writer to `staged`, or deletes them after a failure.
pub(crate) async fn settle_written(
    mut writer: TableWriter,
    written: Result<Written>,
    staged: &StagedFiles,
) -> Result<Written> {
    match written {
        Ok(_) => staged.append(&writer.into_files()),
        Err(_) => writer.abort().await,
    }
    written
}

fn with_schema(schema: &SchemaRef, batch: &RecordBatch) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().to_vec();
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(|error| {
        let what = format!("copied rows do not fit their files: {error}");
        Error::new(ErrorKind::Internal, what)
    })
}
