//! Writes change data files: the rows that a commit deletes or inserts.
//!
//! Protocol: *Add CDC File*, *Change Data Files*.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{Schema, SchemaRef};
use deltaic_log::Snapshot;
use deltaic_log::transaction::StagedFiles;
use deltaic_protocol::actions::Cdc;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, ErrorKind, Result};
use futures::{StreamExt, TryStreamExt};

use super::delete_plan::DeletePlan;
use crate::read::{BatchStream, stream_tasks};
use crate::scan::{Rows, Scan, ScanOptions, Selection};
use crate::write::{FileContents, TableWriter, Written};

/// Writes all rows that a plan deletes, also those of removed files and by deletion vectors: readers of a version with
/// change data files use no other file of it. The files are added to `staged`.
///
/// # Errors
///
/// Those of a scan, and of a write.
pub(super) async fn write_deleted_rows(
    snapshot: &Snapshot,
    plan: &DeletePlan,
    allowed_roots: &[String],
    staged: &StagedFiles,
) -> Result<Vec<Cdc>> {
    let scan = Scan::try_new(
        snapshot.clone(),
        ScanOptions {
            allowed_roots: allowed_roots.to_vec(),
            ..ScanOptions::default()
        },
    )?;
    let schema = Arc::new(scan.schema().to_arrow()?);
    let mut writer = ChangeWriter::try_new(snapshot, &schema, "delete")?;
    let mut batches = deleted_rows(&scan, plan);
    let written = async {
        while let Some(batch) = batches.try_next().await? {
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

/// Reads the rows that a plan deletes.
pub(super) fn deleted_rows(scan: &Scan, plan: &DeletePlan) -> BatchStream {
    // Each stream either reads deletion vectors or is given the rows.
    let whole = plan.removed.iter().map(|file| {
        let mut task = scan.task_of_rows(&file.add, Rows::All);
        task.selection = Selection::of(file.add.deletion_vector.clone());
        task
    });
    let changed = plan.changed.iter().map(|file| (&file.add, &file.deleted));
    let rewritten = plan.rewritten.iter().map(|file| (&file.add, &file.deleted));
    let parts = changed
        .chain(rewritten)
        .map(|(add, deleted)| scan.task_of_rows(add, Rows::Only(Arc::new(deleted.clone()))));
    stream_tasks(whole.collect())
        .chain(stream_tasks(parts.collect()))
        .boxed()
}

/// Writes rows to change data files, with one type of change.
pub(super) struct ChangeWriter {
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
    pub(super) fn try_new(snapshot: &Snapshot, rows: &Schema, change: &'static str) -> Result<Self> {
        let own = StructType {
            fields: FileContents::Changes.own_columns(),
        };
        let mut fields = rows.fields().to_vec();
        fields.extend(own.to_arrow()?.fields().iter().cloned());
        let schema = Arc::new(Schema::new_with_metadata(fields, rows.metadata().clone()));
        Ok(Self {
            writer: TableWriter::of_contents(snapshot, &schema, FileContents::Changes)?,
            schema,
            change,
        })
    }

    pub(super) async fn write(&mut self, rows: &RecordBatch) -> Result<()> {
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
    pub(super) async fn finish(&mut self) -> Result<Written> {
        self.writer.finish().await
    }

    /// Deletes the written files.
    pub(super) async fn abort(&mut self) {
        self.writer.abort().await;
    }

    pub(super) fn into_files(self) -> StagedFiles {
        self.writer.into_files()
    }
}

/// Returns the actions of change data files.
pub(super) fn to_cdc(written: Written) -> Vec<Cdc> {
    let files = written.adds.into_iter().map(|add| Cdc {
        path: add.path,
        partition_values: add.partition_values,
        size: add.size,
        data_change: false,
        tags: None,
    });
    files.collect()
}
