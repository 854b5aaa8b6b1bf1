//! Writes change data files: the rows that a commit deletes.
//!
//! Protocol: *Add CDC File*, *Change Data Files*.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use deltaic_log::Snapshot;
use deltaic_log::transaction::StagedFiles;
use deltaic_protocol::actions::Cdc;
use deltaic_protocol::{Error, ErrorKind, Result};
use futures::{StreamExt, TryStreamExt};

use super::copy_rows::write_batches;
use super::delete_plan::DeletePlan;
use crate::read::stream_tasks;
use crate::scan::{Rows, Scan, ScanOptions, Selection};
use crate::write::FileContents;

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
    let contents = FileContents::Changes;
    let mut schema = scan.schema().clone();
    schema.fields.extend(contents.own_columns());
    let schema = Arc::new(schema.to_arrow()?);
    let batches = stream_tasks(whole.collect()).chain(stream_tasks(parts.collect()));
    let typed = {
        let schema = Arc::clone(&schema);
        batches.and_then(move |batch| {
            let batch = with_type(&schema, &batch, "delete");
            async move { batch }
        })
    };
    let written = write_batches(snapshot, contents, &schema, Box::pin(typed), staged).await?;
    let files = written.adds.into_iter().map(|add| Cdc {
        path: add.path,
        partition_values: add.partition_values,
        size: add.size,
        data_change: false,
        tags: None,
    });
    Ok(files.collect())
}

fn with_type(schema: &SchemaRef, batch: &RecordBatch, change: &str) -> Result<RecordBatch> {
    let types = StringArray::from_iter_values(std::iter::repeat_n(change, batch.num_rows()));
    let mut columns = batch.columns().to_vec();
    columns.push(Arc::new(types) as ArrayRef);
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(|error| {
        let what = format!("deleted rows do not fit a change data file: {error}");
        Error::new(ErrorKind::Internal, what)
    })
}
