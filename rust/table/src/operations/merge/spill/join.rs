//! Matches the rows of a table with those of a source, part by part.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use deltaic_log::Snapshot;
use deltaic_protocol::expr::BoundValue;
use deltaic_protocol::{Error, Result};

use super::decisions::{Decided, SpilledDecisions};
use crate::operations::merge::bound_merge::BoundMerge;
use crate::operations::merge::inserts::{inserted_columns, made_at_once, made_rows};
use crate::operations::merge::matches::{Matching, unchanged_rows};
use crate::operations::merge::shares::{Shares, bytes_in_index};
use crate::operations::merge::sides::target_rows;
use crate::operations::merge::source::SourceRows;
use crate::write::{Block, RowsFile};

/// Rows of the table that are matched at once.
const TARGET_ROWS: usize = 1 << 14;

/// What a merge does, as far as it is known.
pub(in crate::operations::merge) struct Join<'a> {
    pub(in crate::operations::merge) merge: &'a BoundMerge,
    pub(in crate::operations::merge) source: &'a SourceRows,
    pub(in crate::operations::merge) shares: Shares,
    pub(in crate::operations::merge) decisions: SpilledDecisions<'a>,
    pub(in crate::operations::merge) inserts: Inserts,
}

/// The rows to insert.
pub(in crate::operations::merge) struct Inserts {
    /// For each clause, its columns and their values.
    clauses: Vec<(SchemaRef, Vec<BoundValue>)>,
    /// A part for each clause.
    pub(in crate::operations::merge) rows: RowsFile,
}

impl Inserts {
    pub(in crate::operations::merge) fn try_new(
        merge: &BoundMerge,
        snapshot: &Snapshot,
        shares: Shares,
    ) -> Result<Self> {
        let clauses = merge.not_matched.iter();
        Ok(Self {
            clauses: clauses
                .map(|clause| inserted_columns(clause, snapshot))
                .collect::<Result<_>>()?,
            rows: RowsFile::new(merge.not_matched.len(), shares.buffer),
        })
    }

    /// Adds the rows of the source that match no row of the table.
    fn add(&mut self, matching: &Matching<'_>, source: &SourceRows) -> Result<()> {
        let inserted = matching.inserted()?;
        for (clause, ((schema, columns), rows)) in self.clauses.iter().zip(inserted).enumerate() {
            for rows in made_at_once(source, columns, &rows) {
                self.rows
                    .add(clause, &made_rows(source, columns, schema, rows)?)?;
            }
        }
        Ok(())
    }

    /// The schema of a clause's rows.
    pub(in crate::operations::merge) fn schema(&self, clause: usize) -> Option<&SchemaRef> {
        self.clauses.get(clause).map(|(schema, _)| schema)
    }

    /// The number of rows of a clause.
    pub(in crate::operations::merge) fn rows_of(&self, clause: usize) -> usize {
        self.rows.blocks(clause).iter().map(|block| block.rows).sum()
    }
}

impl<'a> Join<'a> {
    pub(in crate::operations::merge) fn new(
        source: &'a SourceRows,
        shares: Shares,
        (decisions, inserts): (SpilledDecisions<'a>, Inserts),
    ) -> Self {
        Self {
            merge: decisions.merge(),
            source,
            shares,
            decisions,
            inserts,
        }
    }

    /// Prepares matching with all rows of a source in memory.
    ///
    /// # Errors
    ///
    /// Those of evaluating the keys.
    pub(in crate::operations::merge) fn all_of_source(&self) -> Result<Matching<'a>> {
        Matching::try_new(self.merge, self.source)
    }

    /// Matches rows of the table with all rows of a source in memory.
    ///
    /// # Errors
    ///
    /// Those of [`Join::add`].
    pub(in crate::operations::merge) fn add_rows(
        &mut self,
        all: &mut Matching<'a>,
        rows: &RecordBatch,
    ) -> Result<()> {
        let mut none = Earlier {
            is_last: true,
            ..Earlier::default()
        };
        self.add_batch(all, self.source, rows, &mut none)
    }

    /// Ends matching with all rows of a source in memory.
    ///
    /// # Errors
    ///
    /// Those of evaluating conditions and values; `StorageError` for a temporary file.
    pub(in crate::operations::merge) fn end(&mut self, all: &Matching<'a>) -> Result<()> {
        self.inserts.add(all, self.source)
    }

    /// Matches the rows of a part of both sides. If those of the source are too many for the memory, as many as fit are
    /// matched at once.
    ///
    /// # Errors
    ///
    /// `ConstraintViolation` if a row matches several rows of the source; those of evaluating conditions and values;
    /// `StorageError` for a temporary file.
    pub(in crate::operations::merge) fn add(
        &mut self,
        source: &RowsFile,
        target: &RowsFile,
        part: usize,
    ) -> Result<()> {
        let chunks = chunks(source.blocks(part), self.shares.source);
        let mut earlier = Earlier::default();
        for (number, blocks) in chunks.iter().enumerate() {
            let mut batches = Vec::new();
            for block in *blocks {
                batches.extend(source.read(block)?);
            }
            let (schema, fields) = (self.source.schema.clone(), self.source.fields().clone());
            let rows = SourceRows::of_batches(schema, fields, batches)?;
            let mut matching = Matching::try_new(self.merge, &rows)?;
            earlier.is_last = number + 1 == chunks.len();
            earlier.first_row = 0;
            for block in target.blocks(part) {
                for batch in target.read(block)? {
                    for start in (0..batch.num_rows()).step_by(TARGET_ROWS) {
                        let length = TARGET_ROWS.min(batch.num_rows() - start);
                        self.add_batch(&mut matching, &rows, &batch.slice(start, length), &mut earlier)?;
                    }
                }
            }
            self.inserts.add(&matching, &rows)?;
        }
        Ok(())
    }

    /// Matches rows of the table, which have their files and positions, with rows of the source.
    fn add_batch(
        &mut self,
        matching: &mut Matching<'_>,
        source: &SourceRows,
        batch: &RecordBatch,
        earlier: &mut Earlier,
    ) -> Result<()> {
        let target = target_rows(batch)?;
        let (files, positions) = places_of(batch)?;
        let probed = matching.probe().first_matches(&target)?;
        let pairs = matching.matches(&target, &probed)?;
        let place_of = |row: u32| {
            let file = files.get(row as usize).copied().unwrap_or(u32::MAX);
            let position = positions.get(row as usize).copied().unwrap_or_default();
            (self.decisions.buckets().path_of(file), position)
        };
        let pairs = matching.one_of_each(pairs, &target, place_of)?;
        let mut new = Vec::with_capacity(pairs.len());
        for pair in pairs {
            match earlier.replace(pair.0) {
                false => new.push(pair),
                true if self.merge.allows_several_matches() => {}
                true => return Err(matching.several_matches(&target, &[pair.0], place_of(pair.0))),
            }
        }
        let matched = &self.merge.matched;
        let decided = matching.first_clauses(matched, &target, &new)?;
        for row in unchanged_rows(&new, &decided) {
            let place = files.get(row as usize).zip(positions.get(row as usize));
            if let Some((file, position)) = place {
                self.decisions.add_unchanged(*file, *position);
            }
        }
        let mut decided: Vec<Decided> = decided
            .into_iter()
            .map(|((row, source), clause)| (row, clause, Some(source)))
            .collect();
        if earlier.is_last && !self.merge.not_matched_by_source.is_empty() {
            let unmatched = earlier.unmatched(target_len(&target));
            let found = matching.first_clauses_without_source(&target, &unmatched)?;
            decided.extend(
                found
                    .into_iter()
                    .map(|(row, clause)| (row, matched.len() + clause, None)),
            );
        }
        earlier.first_row += batch.num_rows();
        self.decisions.add(&decided, (&files, &positions), source)
    }
}

fn target_len(target: &ArrayRef) -> u32 {
    u32::try_from(target.len()).unwrap_or(u32::MAX)
}

/// Which rows of a part of the table match a row of the source, of those that were compared.
#[derive(Default)]
struct Earlier {
    is_matched: Vec<bool>,
    /// The number of the first row of the batch.
    first_row: usize,
    /// Whether no other rows of the source follow.
    is_last: bool,
}

impl Earlier {
    /// Records that a row of the batch matches. Returns whether it did before.
    fn replace(&mut self, row: u32) -> bool {
        let row = self.first_row + row as usize;
        if self.is_matched.len() <= row {
            self.is_matched.resize(row + 1, false);
        }
        self.is_matched
            .get_mut(row)
            .is_some_and(|is_matched| std::mem::replace(is_matched, true))
    }

    /// The rows of a batch that match no row.
    fn unmatched(&self, rows: u32) -> Vec<u32> {
        let is_matched = |row: &u32| self.is_matched.get(self.first_row + *row as usize) == Some(&true);
        (0..rows).filter(|row| !is_matched(row)).collect()
    }
}

/// Divides blocks of a source, so that each chunk fits in memory. There is one at least, because rows of the table may match
/// none.
fn chunks(blocks: &[Block], most_bytes: usize) -> Vec<&[Block]> {
    let mut chunks = Vec::new();
    let (mut start, mut bytes) = (0, 0_usize);
    for (index, block) in blocks.iter().enumerate() {
        let more = bytes_in_index(block.rows, block.bytes);
        if index > start && bytes.saturating_add(more) > most_bytes {
            chunks.extend(blocks.get(start..index));
            (start, bytes) = (index, 0);
        }
        bytes = bytes.saturating_add(more);
    }
    chunks.extend(blocks.get(start..));
    chunks
}

/// The files and positions of rows of the table.
fn places_of(batch: &RecordBatch) -> Result<(Vec<u32>, Vec<u64>)> {
    let [.., files, positions] = batch.columns() else {
        return Err(Error::internal("rows of the table have no places"));
    };
    let files = files.as_primitive_opt::<UInt32Type>();
    let positions = positions.as_primitive_opt::<Int64Type>();
    let (Some(files), Some(positions)) = (files, positions) else {
        return Err(Error::internal("rows of the table have no places"));
    };
    let positions = positions.values().iter();
    let positions = positions.map(|position| u64::try_from(*position).unwrap_or(u64::MAX));
    Ok((files.values().to_vec(), positions.collect()))
}
