//! Merges what does not fit in memory: the source, or what happens to rows of the table.
//!
//! If the source does not fit, both sides are divided by the hash of their keys and matched part by part. What happens to
//! rows of the table is written to a temporary file, and read again range by range of the table.

use std::sync::Arc;

use arrow_array::{RecordBatch, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use deltaic_protocol::expr::{SOURCE, Side, TARGET};
use deltaic_protocol::{Error, Result};
use deltaic_storage::clock::now_ms;
use deltaic_storage::unused_memory::release_unused;
use futures::{TryStreamExt, stream};

use super::bound_merge::BoundMerge;
use super::clauses::Merge;
use super::decided::Decided;
use super::shares::{Shares, bytes_in_index};
use super::sides::{failed, side, target_rows};
use super::source::SourceRows;
use super::spill::{Buckets, Inserts, Join, KeyParts, SpilledDecisions};
use super::spilled_source::SpilledSource;
use crate::read::stream_to_write;
use crate::rows::select::Places;
use crate::scan::{FILE_PATH, ScanTask};
use crate::transaction::TableTransaction;
use crate::transaction::metrics::Count;
use crate::write::{RowStream, RowsFile};

/// More parts have blocks that are too small.
const MOST_PARTS: usize = 512;

/// The memory of a decision besides its row of the source.
const DECISION_BYTES: usize = 128;

impl TableTransaction {
    /// Stages a merge with temporary files. Returns the number of rows that change.
    pub(super) async fn merge_spilled(
        &mut self,
        merge: &Merge,
        bound: &BoundMerge,
        source: &SourceRows,
    ) -> Result<u64> {
        let started = now_ms();
        let shares = Shares::of(self.options.memory);
        let (adds, tasks) = self.rows_to_match(bound, source).await?;
        let buckets = Buckets::new(&adds, rows_of_bucket(source, shares));
        let found = (
            SpilledDecisions::new(bound, source, buckets, shares)?,
            Inserts::try_new(bound, &self.snapshot, shares)?,
        );
        let mut join = Join::new(source, shares, found);
        match &source.spilled {
            Some(spilled) => self.join_parts(&mut join, spilled, tasks).await?,
            None => self.join_rows(&mut join, tasks).await?,
        }
        self.options.progress.reach(adds.len());
        let Join {
            mut decisions,
            mut inserts,
            ..
        } = join;
        decisions.write()?;
        inserts.rows.write()?;
        let matched = decisions.take_matched()?;
        let inserted: Vec<usize> = (0..bound.not_matched.len())
            .map(|clause| inserts.rows_of(clause))
            .collect();
        let number = inserted.iter().sum::<usize>() as u64;
        let changed = self.count_clauses((merge, bound), source.len(), decisions.counts());
        self.count(Count::ScanTime, now_ms() - started);
        let plan = self.plan_changes(matched).await?;
        let has_changes = self.records_changes(&plan)?;
        let read = bound.rows_to_read(decisions.counts(), self.has_feed()?);
        self.begin_rewriting(&plan, number.saturating_add(read));
        let changes = Decided::Spilled(&decisions);
        self.change_rows(bound, &changes, plan).await?;
        drop(decisions);
        release_unused();
        let inserts = Arc::new(inserts);
        for (clause, rows) in inserted.into_iter().enumerate() {
            if rows > 0 {
                let stream = stream_of(&inserts, clause)?;
                self.insert_rows(stream, has_changes).await?;
            }
        }
        self.count(Count::MergeTime, now_ms() - started);
        Ok(changed + number)
    }

    /// Matches rows of the table with a source in memory.
    async fn join_rows(&self, join: &mut Join<'_>, tasks: Vec<ScanTask>) -> Result<()> {
        let mut all = join.all_of_source()?;
        let mut batches = stream_to_write(tasks);
        while let Some(batch) = batches.try_next().await? {
            if batch.num_rows() > 0 {
                let rows = with_file_number(&batch, join.decisions.buckets())?;
                join.add_rows(&mut all, &rows)?;
            }
        }
        join.end(&all)
    }

    /// Matches rows of the table with a source in a temporary file, part by part.
    async fn join_parts(
        &self,
        join: &mut Join<'_>,
        spilled: &SpilledSource,
        tasks: Vec<ScanTask>,
    ) -> Result<()> {
        let (bound, shares) = (join.merge, join.shares);
        let mut keys = KeyParts::try_new(&bound.on.keys, parts_of(bound, spilled, shares))?;
        let by_key = match bound.on.keys.is_empty() {
            true => None,
            false => Some(divided_source(join.source, spilled, &mut keys, shares)?),
        };
        let source = by_key.as_ref().unwrap_or(spilled.rows());
        let mut target = RowsFile::new(keys.parts(), shares.buffer);
        let keeps_all = !bound.not_matched_by_source.is_empty();
        let mut batches = stream_to_write(tasks);
        while let Some(batch) = batches.try_next().await? {
            if batch.num_rows() > 0 {
                let rows = with_file_number(&batch, join.decisions.buckets())?;
                let over = side(TARGET, target_rows(&rows)?)?;
                keys.add(Side::Target, (&rows, &over), keeps_all, &mut target)?;
            }
        }
        target.write()?;
        for part in 0..source.parts() {
            join.add(source, &target, part)?;
            release_unused();
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}

/// Divides the rows of a source by their keys.
fn divided_source(
    source: &SourceRows,
    spilled: &SpilledSource,
    keys: &mut KeyParts<'_>,
    shares: Shares,
) -> Result<RowsFile> {
    let mut divided = RowsFile::new(keys.parts(), shares.buffer);
    for rows in spilled.batches() {
        let rows = rows?;
        let over = side(SOURCE, source.as_structs(&rows)?)?;
        keys.add(Side::Source, (&rows, &over), true, &mut divided)?;
    }
    divided.write()?;
    Ok(divided)
}

/// The number of parts of both sides.
fn parts_of(bound: &BoundMerge, spilled: &SpilledSource, shares: Shares) -> usize {
    if bound.on.keys.is_empty() {
        return 1;
    }
    // The parts are not equally large.
    let of_part = (shares.source / 4 * 3).max(1);
    (bytes_in_index(spilled.len(), spilled.bytes()) / of_part + 1).min(MOST_PARTS)
}

/// The number of rows of the table in a bucket, all of which may be updated.
fn rows_of_bucket(source: &SourceRows, shares: Shares) -> u64 {
    let row = source.bytes() / source.len().max(1) + DECISION_BYTES;
    (shares.source / row).max(1) as u64
}

/// Replaces the path of the file by its number.
fn with_file_number(batch: &RecordBatch, buckets: &Buckets) -> Result<RecordBatch> {
    let path = Places::of(batch)?.path;
    let numbers = UInt32Array::from_value(buckets.number_of(path)?, batch.num_rows());
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        if field.name() == FILE_PATH {
            fields.push(Arc::new(Field::new(FILE_PATH, DataType::UInt32, false)));
            columns.push(Arc::new(numbers.clone()) as _);
        } else {
            fields.push(Arc::clone(field));
            columns.push(Arc::clone(column));
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|error| failed(&error))
}

/// The rows that a clause inserts.
fn stream_of(inserts: &Arc<Inserts>, clause: usize) -> Result<RowStream> {
    let schema = inserts.schema(clause).cloned();
    let schema = schema.ok_or_else(|| Error::internal("a clause that inserts is missing"))?;
    let inserts = Arc::clone(inserts);
    let blocks = inserts.rows.blocks(clause).to_vec();
    let batches = blocks
        .into_iter()
        .flat_map(move |block| match inserts.rows.read(&block) {
            Ok(rows) => rows.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(ArrowError::ExternalError(Box::new(error)))],
        });
    Ok(RowStream::new(schema, stream::iter(batches)))
}
