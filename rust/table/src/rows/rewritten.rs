//! Files that an update rewrites: their updated rows, and the copies of the others, in the order of the file.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use arrow_select::interleave::interleave;
use deltaic_log::Snapshot;
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::{Error, Result};

use super::assignments::unfit;
use super::delete_plan::RewrittenFile;
use super::select::Places;
use crate::read::{BatchStream, stream_to_write};
use crate::scan::{Rows, Scan};
use crate::write::{FileContents, WritePlan};

/// The rows of rewritten files.
pub(crate) struct RewrittenRows<'a> {
    /// The positions of the rows to update, by file.
    updated: HashMap<&'a str, &'a Bitmap>,
    /// The columns of the table, and the row ids if rows have them, under their names in files.
    schema: SchemaRef,
    copies: WritePlan,
}

impl<'a> RewrittenRows<'a> {
    /// Prepares copying rows of these columns.
    ///
    /// # Errors
    ///
    /// Those of [`WritePlan::try_new`].
    pub(crate) fn try_new(
        snapshot: &Snapshot,
        files: &[&'a RewrittenFile],
        schema: &SchemaRef,
        contents: FileContents,
    ) -> Result<Self> {
        let updated = files.iter().map(|file| (file.add.path.as_str(), &file.deleted));
        Ok(Self {
            updated: updated.collect(),
            copies: WritePlan::try_new(snapshot.configuration(), schema, contents)?,
            schema: Arc::clone(schema),
        })
    }

    /// Reads the rows that were not deleted before, with a scan that returns their positions.
    pub(crate) fn read(scan: &Scan, files: &[&RewrittenFile]) -> BatchStream {
        let tasks = files.iter().map(|file| {
            let rows = Rows::Without(Arc::new(file.deleted_before()));
            scan.task_of_rows(&file.add, rows)
        });
        stream_to_write(tasks.collect())
    }

    /// Divides a batch that has rows: returns the rows to update, the copies of all rows as they are written, and which
    /// of them are updated.
    pub(crate) fn divide(&self, batch: &RecordBatch) -> Result<(RecordBatch, RecordBatch, BooleanArray)> {
        let places = Places::of(batch)?;
        let (path, positions) = (places.path, places.positions());
        let updated = self.updated.get(path);
        let updated = updated.ok_or_else(|| Error::internal("a file is not rewritten").with("path", path))?;
        let is_updated: Vec<bool> = positions.map(|row| updated.contains(row)).collect();
        let is_updated = BooleanArray::from(is_updated);
        let columns = batch.columns().iter().take(self.schema.fields().len());
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns.cloned().collect());
        let rows = rows.map_err(|error| unfit(&error))?;
        let before = filter_record_batch(&rows, &is_updated).map_err(|error| unfit(&error))?;
        Ok((before, self.copies.completed_copies(&rows)?, is_updated))
    }
}

/// Returns the copies with the new versions of those rows that are updated. Columns that the update keeps are those of the
/// copies.
pub(crate) fn with_updated(
    copies: &RecordBatch,
    updated: &RecordBatch,
    is_updated: &BooleanArray,
    is_kept: &[bool],
) -> Result<RecordBatch> {
    let mut next = 0..updated.num_rows();
    let sources = is_updated.values().iter().enumerate();
    let sources = sources.map(|(row, is_updated)| match is_updated {
        true => (1, next.next().unwrap_or_default()),
        false => (0, row),
    });
    let sources: Vec<(usize, usize)> = sources.collect();
    let columns = copies.columns().iter().zip(updated.columns()).zip(is_kept);
    let columns = columns.map(|((copy, new), is_kept)| match is_kept {
        true => Ok(Arc::clone(copy)),
        false => interleave(&[copy.as_ref(), new.as_ref()], &sources),
    });
    let columns = columns.collect::<std::result::Result<Vec<_>, _>>();
    let rows = columns.and_then(|columns| RecordBatch::try_new(copies.schema(), columns));
    rows.map_err(|error| unfit(&error))
}
