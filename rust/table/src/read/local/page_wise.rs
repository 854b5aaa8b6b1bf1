//! Decodes rows of a file in memory or on a local file system, page by page.
//!
//! If rows are filtered, the columns of the filters are decoded first, for all rows of the read unit. Other columns are
//! decoded only for matching rows; the decoded columns of the filters are cached for these.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use arrow_schema::{ArrowError, Field, Schema};
use arrow_select::filter::filter_record_batch;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::location::without_secrets;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::Length;

use super::pages::{Failure, FilePages, Source, outside};
use super::predicate_cache::CACHED_BYTES;
use super::predicate_cache::CachedColumn;
use crate::read::columns::file_columns::Roots;
use crate::read::columns::string_form::laid_out_batch;
use crate::read::columns::unfit::unfit;
use crate::read::file::open_file::OpenFile;
use crate::read::file::row_counts::RowCounts;
use crate::read::file::stop::Stop;
use crate::read::parquet::footer::{damaged, miscounted, unreadable};
use crate::read::pruning::selection::{Group, selection_of};

/// Row groups of one file.
pub(crate) struct PageWise {
    file: Arc<OpenFile>,
    groups: Vec<Group>,
    pages: FilePages,
    stop: Stop,
    shown: String,
}

/// Cached columns of the matching rows, by index of the root column.
type Cached = BTreeMap<usize, CachedColumn>;

/// The remaining rows of a read unit, and the columns of them that the filters decoded.
struct FilteredRows {
    selection: RowSelection,
    cached: Cached,
}

impl PageWise {
    pub(crate) fn new(file: Arc<OpenFile>, groups: Vec<Group>, source: Source, stop: Stop) -> Self {
        let pages = FilePages::new(source, &file);
        let shown = without_secrets(&file.plan.task.path);
        Self {
            file,
            groups,
            pages,
            stop,
            shown,
        }
    }

    /// Returns the rows of the file: all selected rows or, if rows are filtered before the other columns are decoded,
    /// the matching ones.
    pub(crate) fn batches(
        self,
        seen: &RowCounts,
    ) -> Result<Box<dyn Iterator<Item = Result<RecordBatch>> + Send>> {
        let plan = Arc::clone(&self.file.plan);
        let asked = selection_of(&self.groups);
        if !plan.is_late {
            let limit = self.file.limit.filter(|_| plan.stages.is_empty());
            let reader = self.reader(&plan.leaves, asked, limit)?;
            return Ok(Box::new(reader.map(move |batch| self.sound(batch))));
        }
        let Some(evaluated) = self.evaluate_filters(asked, seen)? else {
            return Ok(Box::new(std::iter::empty()));
        };
        let schema = self.file.arrow.parquet_schema();
        let is_left = |leaf: &usize| !evaluated.cached.contains_key(&schema.get_column_root_idx(*leaf));
        let left: Vec<usize> = plan.output_leaves.iter().copied().filter(is_left).collect();
        let reader = self.reader(&left, Some(evaluated.selection), self.file.limit)?;
        let roots = left.iter().map(|leaf| schema.get_column_root_idx(*leaf));
        let roots = Roots::new(roots.collect());
        let mut cached = evaluated.cached;
        Ok(Box::new(reader.map(move |batch| {
            self.joined(self.sound(batch)?, &roots, &mut cached)
        })))
    }

    fn reader(
        &self,
        leaves: &[usize],
        selection: Option<RowSelection>,
        limit: Option<usize>,
    ) -> Result<ParquetRecordBatchReader> {
        let OpenFile { plan, arrow, .. } = self.file.as_ref();
        self.ensure_there(leaves)?;
        let mask = ProjectionMask::leaves(arrow.parquet_schema(), leaves.iter().copied());
        let rows = match &selection {
            Some(selection) => selection.row_count(),
            None => Group::rows_of(&self.groups),
        };
        let rows = limit.map_or(rows, |limit| rows.min(limit));
        let mut builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.pages.clone(), arrow.clone())
                .with_projection(mask)
                .with_batch_size(plan.batch_rows_of(rows))
                .with_row_selection_policy(plan.selection_policy(&self.groups))
                .with_row_groups(self.groups.iter().map(|group| group.index).collect());
        if let Some(selection) = selection {
            builder = builder.with_row_selection(selection);
        }
        if let Some(limit) = limit {
            builder = builder.with_limit(limit);
        }
        builder.build().map_err(|error| damaged(&error, &self.shown))
    }

    /// Verifies that the file contains all bytes of its column chunks, including pages that are not read.
    fn ensure_there(&self, leaves: &[usize]) -> Result<()> {
        let groups = self.file.footer.metadata.row_groups();
        let read = self.groups.iter().filter_map(|group| groups.get(group.index));
        let mut columns = read.flat_map(|group| leaves.iter().filter_map(|leaf| group.columns().get(*leaf)));
        let is_outside = |column: &ColumnChunkMetaData| {
            let (start, length) = column.byte_range();
            start.saturating_add(length) > self.pages.len()
        };
        match columns.any(is_outside) {
            true => Err(damaged(&outside(), &self.shown)),
            false => Ok(()),
        }
    }

    /// Applies the filters one after another; `None` if no row remains.
    fn evaluate_filters(
        &self,
        asked: Option<RowSelection>,
        seen: &RowCounts,
    ) -> Result<Option<FilteredRows>> {
        let mut expected: u64 = self.groups.iter().map(|group| group.rows).sum();
        seen.decoded(expected);
        let mut selection = asked;
        let mut cached: Cached = BTreeMap::new();
        for stage in 0..self.file.plan.stages.len() {
            let (mask, of_stage) = self.evaluate_stage(stage, selection.clone(), &cached)?;
            if as_u64(mask.len()) != expected {
                return Err(miscounted(as_u64(mask.len()), expected));
            }
            expected = as_u64(mask.count_set_bits());
            if expected == 0 {
                return Ok(None);
            }
            let answer = BooleanArray::new(mask.clone(), None);
            for column in cached.values_mut() {
                column.retain(&answer)?;
            }
            cached.extend(of_stage);
            let matching = RowSelection::from_boolean_buffer(mask);
            selection = Some(match selection {
                Some(before) => before.and_then(&matching),
                None => matching,
            });
        }
        seen.matched(expected);
        Ok(selection.map(|selection| FilteredRows { selection, cached }))
    }

    /// Returns which of the selected rows match a filter, and the decoded columns of these to cache.
    fn evaluate_stage(
        &self,
        index: usize,
        selection: Option<RowSelection>,
        cached: &Cached,
    ) -> Result<(BooleanBuffer, Cached)> {
        let plan = &self.file.plan;
        let columns = plan.stages.get(index).map(|stage| &stage.columns);
        let leaves: Vec<usize> = columns.iter().flat_map(|columns| columns.leaves()).collect();
        let roots = Roots::new(columns.iter().flat_map(|columns| columns.roots()).collect());
        let is_cached = |root: &usize| !cached.contains_key(root) && self.is_whole(*root, &leaves);
        let mut keeps: Vec<usize> = roots.iter().filter(is_cached).collect();
        let mut bytes: usize = cached.values().map(CachedColumn::bytes).sum();
        let mut matching: Vec<RecordBatch> = Vec::new();
        let mut mask = BooleanBufferBuilder::new(0);
        for batch in self.reader(&leaves, selection, None)? {
            // Views of a few rows would keep whole pages in memory.
            let batch = laid_out_batch(self.sound(batch)?)?;
            if self.stop.is_set() {
                return Err(Error::new(
                    ErrorKind::StorageError,
                    "the reader of the rows was dropped",
                ));
            }
            let answer = plan.evaluate_filters(index, &batch, &roots)?;
            mask.append_buffer(answer.values());
            if keeps.is_empty() {
                continue;
            }
            let batch = filter_record_batch(&batch, &answer).map_err(unfit)?;
            bytes = bytes.saturating_add(batch.get_array_memory_size());
            matching.push(batch);
            if bytes > CACHED_BYTES {
                matching.clear();
                keeps.clear();
            }
        }
        let column = |root: usize| {
            let place = roots.place(root)?;
            let data_type = matching.first()?.columns().get(place)?.data_type().clone();
            let parts = matching
                .iter()
                .filter_map(|batch| batch.columns().get(place).cloned());
            Some((root, CachedColumn::new(data_type, parts.collect())))
        };
        let cached = keeps.into_iter().filter_map(column).collect();
        Ok((mask.finish(), cached))
    }

    /// Whether these leaves are all that the output needs of a root column. A struct that was decoded in part is later
    /// decoded completely.
    fn is_whole(&self, root: usize, leaves: &[usize]) -> bool {
        let plan = &self.file.plan;
        let schema = self.file.arrow.parquet_schema();
        let mut asked = plan.output_leaves.iter();
        plan.roots.place(root).is_some()
            && asked.all(|leaf| schema.get_column_root_idx(*leaf) != root || leaves.contains(leaf))
    }

    /// Returns a batch with the cached columns of its rows, all in the file's order; columns of a batch after those of
    /// the file stay last.
    fn joined(&self, batch: RecordBatch, roots: &Roots, cached: &mut Cached) -> Result<RecordBatch> {
        if cached.is_empty() {
            return Ok(batch);
        }
        let mut fields: Vec<Arc<Field>> = Vec::new();
        let mut columns: Vec<ArrayRef> = Vec::new();
        let in_file = self.file.footer.schema.fields();
        for root in self.file.plan.roots.iter() {
            if let Some((column, field)) = cached.get_mut(&root).zip(in_file.get(root)) {
                let column = column.take(batch.num_rows())?;
                fields.push(Arc::new(Field::new(
                    field.name(),
                    column.data_type().clone(),
                    true,
                )));
                columns.push(column);
            } else if let Some(place) = roots.place(root) {
                fields.extend(batch.schema_ref().fields().get(place).cloned());
                columns.extend(batch.columns().get(place).cloned());
            }
        }
        fields.extend(batch.schema_ref().fields().iter().skip(roots.len()).cloned());
        columns.extend(batch.columns().iter().skip(roots.len()).cloned());
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options).map_err(unfit)
    }

    fn sound(&self, batch: std::result::Result<RecordBatch, ArrowError>) -> Result<RecordBatch> {
        batch.map_err(|error| match (self.pages.failure(), error) {
            (Some(Failure::Unread(failure)), _) => damaged(&unread(failure), &self.shown),
            (Some(Failure::Refused(text)), _) => unreadable(&text),
            (None, ArrowError::ParquetError(text)) => unreadable(&text),
            (None, error) => damaged(&error.into(), &self.shown),
        })
    }
}

/// Converts a file system error to the form of a store error.
fn unread(source: std::io::Error) -> ParquetError {
    ParquetError::External(Box::new(object_store::Error::Generic {
        store: "table",
        source: Box::new(source),
    }))
}

fn as_u64(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
