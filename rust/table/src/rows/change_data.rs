//! Writes change data files: the rows that a commit deletes or inserts.
//!
//! Protocol: *Add CDC File*, *Change Data Files*.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{Schema, SchemaRef};
use deltaic_log::Snapshot;
use deltaic_log::transaction::{EmptyPartitionText, StagedFiles};
use deltaic_protocol::actions::{Add, Cdc};
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration};
use deltaic_storage::memory_budget::MemoryBudget;
use futures::TryStreamExt;

use crate::read::{BatchStream, stream_to_write};
use crate::scan::{Rows, Scan};
use crate::write::{FileContents, TableWriter, Written};

/// Rows of a live file that a commit deletes.
#[derive(Clone, Debug)]
pub(crate) struct DeletedRows {
    pub(crate) add: Add,
    /// Their positions; `None` for all rows that the file's deletion vector leaves.
    pub(crate) positions: Option<Arc<Bitmap>>,
}

impl DeletedRows {
    /// All rows of a file.
    pub(crate) fn all(add: Add) -> Self {
        Self { add, positions: None }
    }
}

/// Writes rows to change data files, with one type of change. The files are added to `staged`; after a failure there are
/// none.
///
/// # Errors
///
/// Those of the rows, and of a write.
pub(crate) async fn write_changes(
    snapshot: &Snapshot,
    table: &TableConfiguration,
    (schema, mut rows): (&Schema, BatchStream),
    change: &'static str,
    staged: &StagedFiles,
    memory: MemoryBudget,
) -> Result<Vec<Cdc>> {
    let mut writer = ChangeWriter::try_new(snapshot, table, schema, change)?;
    writer.limit_memory(memory);
    let written = async {
        while let Some(batch) = rows.try_next().await? {
            writer.write(&batch).await?;
        }
        writer.finish().await
    };
    match written.await {
        Ok(written) => {
            staged.append(&writer.into_files());
            Ok(to_cdc(written))
        }
        Err(error) => {
            writer.abort().await;
            Err(error)
        }
    }
}

/// Reads the rows that a commit deletes.
pub(crate) fn rows_to_delete(scan: &Scan, rows: &[DeletedRows]) -> BatchStream {
    let tasks = rows.iter().map(|file| match &file.positions {
        None => scan.task_of(&file.add),
        Some(positions) => scan.task_of_rows(&file.add, Rows::Only(Arc::clone(positions))),
    });
    stream_to_write(tasks.collect())
}

/// Writes rows to change data files, with one type of change.
pub(crate) struct ChangeWriter {
    writer: TableWriter,
    schema: SchemaRef,
    change: &'static str,
}

impl ChangeWriter {
    /// Starts change data files for rows of a schema.
    ///
    /// # Errors
    ///
    /// Those of [`TableWriter::try_new`].
    pub(crate) fn try_new(
        snapshot: &Snapshot,
        table: &TableConfiguration,
        rows: &Schema,
        change: &'static str,
    ) -> Result<Self> {
        let own = StructType {
            fields: FileContents::Changes.own_columns(),
        };
        let mut fields = rows.fields().to_vec();
        fields.extend(own.to_arrow()?.fields().iter().cloned());
        let schema = Arc::new(Schema::new_with_metadata(fields, rows.metadata().clone()));
        Ok(Self {
            writer: TableWriter::of_contents(snapshot, table, &schema, FileContents::Changes)?,
            schema,
            change,
        })
    }

    /// The same for new rows, which are recorded with the text that the table stores.
    ///
    /// # Errors
    ///
    /// Those of [`TableWriter::try_new`].
    pub(crate) fn of_new_rows(
        snapshot: &Snapshot,
        rows: &Schema,
        change: &'static str,
        empty_text: EmptyPartitionText,
    ) -> Result<Self> {
        let mut writer = Self::try_new(snapshot, snapshot.configuration(), rows, change)?;
        writer.writer.expect_new_rows(empty_text);
        Ok(writer)
    }

    /// Limits the memory of rows in progress. Must be called before rows are written.
    pub(crate) fn limit_memory(&mut self, memory: MemoryBudget) {
        self.writer.limit_memory(memory);
    }

    pub(crate) async fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let types = StringArray::from_iter_values(std::iter::repeat_n(self.change, rows.num_rows()));
        let mut columns = rows.columns().to_vec();
        columns.push(Arc::new(types) as ArrayRef);
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|error| {
            let what = format!("changed rows do not fit a change data file: {error}");
            Error::new(ErrorKind::Internal, what)
        })?;
        self.writer.write(&batch).await
    }

    /// Finishes all files; they are durable when this returns, and not yet committed.
    pub(crate) async fn finish(&mut self) -> Result<Written> {
        self.writer.finish().await
    }

    /// Deletes the written files.
    pub(crate) async fn abort(&mut self) {
        self.writer.abort().await;
    }

    pub(crate) fn into_files(self) -> StagedFiles {
        self.writer.into_files()
    }
}

/// Returns the actions of change data files.
pub(crate) fn to_cdc(written: Written) -> Vec<Cdc> {
    let files = written.adds.into_iter().map(|add| Cdc {
        path: add.path,
        partition_values: add.partition_values,
        size: add.size,
        data_change: false,
        tags: None,
    });
    files.collect()
}
