//! Finds which rows of the table match rows of the source, and what the clauses of a merge do with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StructArray, UInt32Array};
use arrow_select::take::take;
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::expr::{BoundPredicate, TARGET, evaluate};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::clauses::{BoundAction, BoundClause, BoundMerge};
use super::source::{KeyIndex, SourceRows, failed, joined, side};
use crate::transaction::matching_rows::positions_of;

/// Pairs of rows that are compared at once.
const PAIRS: usize = 1 << 16;

/// What happens to a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    /// The position of the row in its file.
    pub(super) position: u64,
    /// The clause: of the matched clauses, then of those for rows that no source row matches.
    pub(super) clause: usize,
    /// The row of the source, if one matches.
    pub(super) source: Option<u32>,
}

/// What happens to the rows of the table, and which rows of the source match none.
pub(super) struct Matching<'a> {
    merge: &'a BoundMerge,
    source: &'a SourceRows,
    /// `None` if every row of the source must be compared with every row of the table.
    index: Option<KeyIndex>,
    /// For each file, the rows that are updated or deleted, in the order of the file.
    pub(super) decisions: BTreeMap<String, Vec<Decision>>,
    /// Whether each row of the source matches a row of the table.
    pub(super) is_matched: Vec<bool>,
}

impl<'a> Matching<'a> {
    /// Prepares finding the rows of the source by their keys.
    ///
    /// # Errors
    ///
    /// Those of evaluating the keys.
    pub(super) fn try_new(merge: &'a BoundMerge, source: &'a SourceRows) -> Result<Self> {
        let keys = &merge.on.keys;
        Ok(Self {
            merge,
            source,
            index: match keys.is_empty() {
                true => None,
                false => Some(KeyIndex::try_new(source, keys)?),
            },
            decisions: BTreeMap::new(),
            is_matched: vec![false; source.len()],
        })
    }

    /// Adds the rows of a batch of one file, which has the deciding columns and the positions.
    ///
    /// # Errors
    ///
    /// `ConstraintViolation` if a row matches several rows of the source; those of evaluating conditions.
    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let target = target_rows(batch)?;
        let (path, positions) = positions_of(batch)?;
        let positions: Vec<u64> = positions.collect();
        let pairs = self.matches(&target)?;
        for (_, source) in &pairs {
            if let Some(is_matched) = self.is_matched.get_mut(*source as usize) {
                *is_matched = true;
            }
        }
        let pairs = self.one_of_each(pairs, path, &positions)?;
        let mut decided: Vec<Option<(usize, Option<u32>)>> = vec![None; batch.num_rows()];
        let matched = &self.merge.matched;
        for (pair, clause) in self.first_clauses(matched, &target, &pairs)? {
            if let Some(slot) = decided.get_mut(pair.0 as usize) {
                *slot = Some((clause, Some(pair.1)));
            }
        }
        let unmatched = self.unmatched(batch.num_rows(), &pairs);
        for (row, clause) in self.first_clauses_without_source(&target, &unmatched)? {
            if let Some(slot) = decided.get_mut(row as usize) {
                *slot = Some((matched.len() + clause, None));
            }
        }
        let decisions = positions
            .into_iter()
            .zip(decided)
            .filter_map(|(position, decided)| {
                let (clause, source) = decided?;
                Some(Decision {
                    position,
                    clause,
                    source,
                })
            });
        let mut decisions = decisions.peekable();
        if decisions.peek().is_some() {
            self.decisions
                .entry(path.to_owned())
                .or_default()
                .extend(decisions);
        }
        Ok(())
    }

    /// The pairs of rows for which the condition is true, in the order of the rows of the table.
    fn matches(&self, target: &ArrayRef) -> Result<Vec<(u32, u32)>> {
        let mut candidates: Vec<(u32, u32)> = Vec::new();
        let mut found = Vec::new();
        let mut add = |pair: (u32, u32)| {
            candidates.push(pair);
            match candidates.len() >= PAIRS {
                true => self.keep_matching(target, &mut candidates, &mut found),
                false => Ok(()),
            }
        };
        match &self.index {
            Some(index) => {
                let rows = side(TARGET, Arc::clone(target))?;
                index.find(&self.merge.on.keys, &rows, |row, source| add((row, source)))?;
            }
            None => {
                for row in 0..target.len() {
                    for source in 0..self.source.len() {
                        add((row as u32, source as u32))?;
                    }
                }
            }
        }
        self.keep_matching(target, &mut candidates, &mut found)?;
        Ok(found)
    }

    /// Moves the pairs that satisfy the rest of the condition.
    fn keep_matching(
        &self,
        target: &ArrayRef,
        candidates: &mut Vec<(u32, u32)>,
        found: &mut Vec<(u32, u32)>,
    ) -> Result<()> {
        match &self.merge.on.rest {
            None => found.append(candidates),
            Some(rest) => {
                let is_match = self.condition(rest, target, candidates)?;
                let pairs = candidates.drain(..).zip(&is_match);
                found.extend(
                    pairs
                        .filter(|(_, is_match)| *is_match == Some(true))
                        .map(|(pair, _)| pair),
                );
            }
        }
        Ok(())
    }

    /// Verifies that each row of the table matches one row of the source at most, unless several may delete it.
    fn one_of_each(
        &self,
        mut pairs: Vec<(u32, u32)>,
        path: &str,
        positions: &[u64],
    ) -> Result<Vec<(u32, u32)>> {
        if self.merge.allows_several_matches() {
            pairs.dedup_by_key(|(row, _)| *row);
            return Ok(pairs);
        }
        let several = pairs.windows(2).find_map(|pair| match pair {
            [(row, _), (other, _)] if row == other => Some(*row),
            _ => None,
        });
        let Some(row) = several else { return Ok(pairs) };
        let what = "several rows of the source match one row of the table";
        let position = positions.get(row as usize).copied().unwrap_or_default();
        Err(Error::new(ErrorKind::ConstraintViolation, what)
            .with("path", path)
            .with("row", i64::try_from(position).unwrap_or(i64::MAX))
            .hint("remove duplicates from the source, or make the condition distinguish its rows"))
    }

    /// The first clause that applies to each pair.
    fn first_clauses(
        &self,
        clauses: &[BoundClause],
        target: &ArrayRef,
        pairs: &[(u32, u32)],
    ) -> Result<Vec<((u32, u32), usize)>> {
        first_that_applies(clauses, pairs, |condition, pairs| {
            self.condition(condition, target, pairs)
        })
    }

    /// The same for rows of the table that no row of the source matches.
    fn first_clauses_without_source(&self, target: &ArrayRef, rows: &[u32]) -> Result<Vec<(u32, usize)>> {
        first_that_applies(&self.merge.not_matched_by_source, rows, |condition, rows| {
            let rows = joined(
                taken(target, rows.iter().copied())?,
                self.source.nulls(rows.len()),
            )?;
            evaluate(condition, &rows)
        })
    }

    fn condition(
        &self,
        condition: &BoundPredicate,
        target: &ArrayRef,
        pairs: &[(u32, u32)],
    ) -> Result<BooleanArray> {
        let sources: Vec<u32> = pairs.iter().map(|(_, source)| *source).collect();
        let rows = taken(target, pairs.iter().map(|(row, _)| *row))?;
        evaluate(condition, &joined(rows, self.source.take(&sources)?)?)
    }

    /// The rows without a pair, if a clause applies to them.
    fn unmatched(&self, rows: usize, pairs: &[(u32, u32)]) -> Vec<u32> {
        if self.merge.not_matched_by_source.is_empty() {
            return Vec::new();
        }
        let mut is_matched = vec![false; rows];
        for (row, _) in pairs {
            if let Some(is_matched) = is_matched.get_mut(*row as usize) {
                *is_matched = true;
            }
        }
        let rows = (0u32..).zip(is_matched);
        rows.filter(|(_, is_matched)| !is_matched)
            .map(|(row, _)| row)
            .collect()
    }

    /// For each clause that inserts, the rows of the source that match no row of the table and that it applies to.
    ///
    /// # Errors
    ///
    /// Those of evaluating conditions.
    pub(super) fn inserted(&self) -> Result<Vec<Vec<u32>>> {
        let clauses = &self.merge.not_matched;
        let mut inserted = vec![Vec::new(); clauses.len()];
        if clauses.is_empty() {
            return Ok(inserted);
        }
        let rows = (0u32..).zip(&self.is_matched);
        let unmatched: Vec<u32> = rows
            .filter(|(_, is_matched)| !**is_matched)
            .map(|(row, _)| row)
            .collect();
        for rows in unmatched.chunks(PAIRS) {
            let applied = first_that_applies(clauses, rows, |condition, rows| {
                evaluate(
                    condition,
                    &side(deltaic_protocol::expr::SOURCE, self.source.take(rows)?)?,
                )
            })?;
            for (row, clause) in applied {
                if let Some(rows) = inserted.get_mut(clause) {
                    rows.push(row);
                }
            }
        }
        Ok(inserted)
    }

    /// The rows of a file that the clauses update or delete.
    pub(super) fn changed(&self, path: &str, is_wanted: impl Fn(&BoundAction) -> bool) -> Result<Bitmap> {
        let decisions = self.decisions.get(path).map_or(&[][..], Vec::as_slice);
        let wanted = decisions
            .iter()
            .filter(|decision| self.merge.action(decision.clause).is_some_and(&is_wanted));
        Bitmap::from_positions(wanted.map(|decision| decision.position))
    }
}

/// Finds the first clause whose condition is true for each row. As in Spark, every condition is evaluated for every row, so
/// that it raises the errors of all rows.
fn first_that_applies<R: Copy>(
    clauses: &[BoundClause],
    rows: &[R],
    evaluate: impl Fn(&BoundPredicate, &[R]) -> Result<BooleanArray>,
) -> Result<Vec<(R, usize)>> {
    let mut first = vec![None; rows.len()];
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    for (number, clause) in clauses.iter().enumerate() {
        let applies = match &clause.condition {
            Some(condition) => Some(evaluate(condition, rows)?),
            None => None,
        };
        for (row, first) in first.iter_mut().enumerate() {
            let applies = applies
                .as_ref()
                .is_none_or(|applies| applies.is_valid(row) && applies.value(row));
            if applies {
                first.get_or_insert(number);
            }
        }
    }
    let applied = rows.iter().zip(first);
    Ok(applied.filter_map(|(row, first)| Some((*row, first?))).collect())
}

/// The rows of the table in a batch, as a column of structs: without the columns with the positions.
fn target_rows(batch: &RecordBatch) -> Result<ArrayRef> {
    let count = batch.num_columns().saturating_sub(2);
    let fields = batch.schema_ref().fields().iter().take(count).cloned().collect();
    let columns = batch.columns().iter().take(count).cloned().collect();
    let rows = StructArray::try_new_with_length(fields, columns, None, batch.num_rows());
    Ok(Arc::new(rows.map_err(|error| failed(&error))?))
}

/// Rows of a column of structs.
pub(super) fn taken(rows: &ArrayRef, indices: impl Iterator<Item = u32>) -> Result<ArrayRef> {
    let indices = UInt32Array::from_iter_values(indices);
    match rows.as_struct().num_columns() {
        0 => Ok(Arc::new(StructArray::new_empty_fields(indices.len(), None))),
        _ => take(rows, &indices, None).map_err(|error| failed(&error)),
    }
}
