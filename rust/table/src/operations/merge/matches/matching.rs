//! Finds which rows of the table match rows of the source, and what the clauses of a merge do with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray};
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::expr::{BoundPredicate, SOURCE, TARGET, evaluate};
use deltaic_protocol::shown_row::{shown_fields, shown_value};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::key_index::KeyIndex;
use super::matched_rows::{MatchedRows, Positions, bitmaps};
use super::probe::{Probe, Probed};
use crate::operations::merge::bound_merge::{BoundClause, BoundMerge};
use crate::operations::merge::sides::{joined, side, taken, target_rows};
use crate::operations::merge::source::SourceRows;
use crate::operations::merge::used_columns::UsedColumns;
use crate::rows::decisions::Decision;
use crate::rows::select::Places;
use crate::write::{COPIED_BYTES, divided, longest_value, size_of_value};

/// Pairs of rows that are compared at once.
const PAIRS: usize = 1 << 16;
/// The number of rows whose keys an error shows.
const KEYS_SHOWN: usize = 5;

/// What happens to the rows of the table, and which rows of the source match none.
pub(in crate::operations::merge) struct Matching<'a> {
    pub(in crate::operations::merge) merge: &'a BoundMerge,
    pub(in crate::operations::merge) source: &'a SourceRows,
    /// `None` if every row of the source must be compared with every row of the table.
    index: Option<Arc<KeyIndex>>,
    /// For each file, the rows that are updated or deleted, in the order of the file. The clauses are the matched ones,
    /// then those for rows that no source row matches.
    pub(in crate::operations::merge) decisions: BTreeMap<String, Vec<Decision>>,
    /// Their number.
    pub(in crate::operations::merge) decided: usize,
    /// For each file, the rows that match but that no clause changes.
    unchanged: BTreeMap<String, Positions>,
    /// Whether each row of the source matches a row of the table.
    pub(in crate::operations::merge) is_matched: Vec<bool>,
}

impl<'a> Matching<'a> {
    /// Prepares finding the rows of the source by their keys.
    ///
    /// # Errors
    ///
    /// Those of evaluating the keys.
    pub(in crate::operations::merge) fn try_new(
        merge: &'a BoundMerge,
        source: &'a SourceRows,
    ) -> Result<Self> {
        let keys = &merge.on.keys;
        Ok(Self {
            merge,
            source,
            index: match keys.is_empty() {
                true => None,
                false => Some(Arc::new(KeyIndex::try_new(source, keys)?)),
            },
            decisions: BTreeMap::new(),
            decided: 0,
            unchanged: BTreeMap::new(),
            is_matched: vec![false; source.len()],
        })
    }

    /// Finds the first row of the source for rows of the table.
    pub(in crate::operations::merge) fn probe(&self) -> Probe {
        Probe::new(self.index.clone())
    }

    /// The number of rows that each clause changes.
    pub(in crate::operations::merge) fn rows_of_clauses(&self) -> Vec<usize> {
        let mut rows = vec![0; self.merge.matched.len() + self.merge.not_matched_by_source.len()];
        for decision in self.decisions.values().flatten() {
            if let Some(rows) = rows.get_mut(decision.clause) {
                *rows += 1;
            }
        }
        rows
    }

    /// Decisions that were made before.
    pub(in crate::operations::merge) fn of_decisions(
        merge: &'a BoundMerge,
        source: &'a SourceRows,
        decisions: BTreeMap<String, Vec<Decision>>,
    ) -> Self {
        Self {
            merge,
            source,
            index: None,
            decided: decisions.values().map(Vec::len).sum(),
            decisions,
            unchanged: BTreeMap::new(),
            is_matched: Vec::new(),
        }
    }

    /// Adds the rows of a batch of one file, which has the deciding columns and the positions, with what the probe found.
    ///
    /// # Errors
    ///
    /// `ConstraintViolation` if a row matches several rows of the source; those of evaluating conditions.
    pub(in crate::operations::merge) fn add(&mut self, Probed { batch, found }: &Probed) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let target = target_rows(batch)?;
        let places = Places::of(batch)?;
        let pairs = self.matches(&target, found)?;
        let pairs = self.one_of_each(pairs, &target, |row| (places.path, places.position(row)))?;
        let matched = &self.merge.matched;
        let of_pairs = self.first_clauses(matched, &target, &pairs)?;
        if of_pairs.len() < pairs.len() {
            let of_file = self.unchanged.entry(places.path.to_owned()).or_default();
            unchanged_rows(&pairs, &of_pairs).for_each(|row| of_file.insert(places.position(row)));
        }
        let of_pairs = of_pairs.into_iter();
        let mut decided: Vec<(u32, usize, Option<u32>)> = of_pairs
            .map(|((row, source), clause)| (row, clause, Some(source)))
            .collect();
        let unmatched = self.unmatched(batch.num_rows(), &pairs);
        let of_unmatched = self.first_clauses_without_source(&target, &unmatched)?;
        decided.extend(
            of_unmatched
                .into_iter()
                .map(|(row, clause)| (row, matched.len() + clause, None)),
        );
        if decided.is_empty() {
            return Ok(());
        }
        decided.sort_unstable_by_key(|(row, ..)| *row);
        self.decided += decided.len();
        let of_file = self.decisions.entry(places.path.to_owned()).or_default();
        of_file.extend(decided.into_iter().map(|(row, clause, source)| Decision {
            position: places.position(row),
            clause,
            source,
        }));
        Ok(())
    }

    /// The pairs of rows for which the condition is true, in the order of the rows of the table: at most two of each of
    /// these. The rows of the source that match are recorded.
    pub(in crate::operations::merge) fn matches(
        &mut self,
        target: &ArrayRef,
        probed: &[(u32, u32)],
    ) -> Result<Vec<(u32, u32)>> {
        let mut candidates: Vec<(u32, u32)> = Vec::new();
        let mut found = FirstPairs {
            is_matched: std::mem::take(&mut self.is_matched),
            pairs: Vec::new(),
        };
        let mut add = |pair: (u32, u32)| {
            candidates.push(pair);
            match candidates.len() >= PAIRS {
                true => self.keep_matching(target, &mut candidates, &mut found),
                false => Ok(()),
            }
        };
        match &self.index {
            // Whichever row of the source matches, the row of the table is deleted.
            Some(_) if self.merge.only_deletes() && self.merge.on.rest.is_none() => {
                probed.iter().try_for_each(|pair| add(*pair))?;
            }
            Some(index) => {
                for (row, first) in probed {
                    index.of_key(*first).try_for_each(|source| add((*row, source)))?;
                }
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
        self.is_matched = found.is_matched;
        Ok(found.pairs)
    }

    /// Moves the pairs that satisfy the rest of the condition.
    fn keep_matching(
        &self,
        target: &ArrayRef,
        candidates: &mut Vec<(u32, u32)>,
        found: &mut FirstPairs,
    ) -> Result<()> {
        match &self.merge.on.rest {
            None => candidates.drain(..).for_each(|pair| found.add(pair)),
            Some(rest) => {
                let is_match = self.condition(rest, target, candidates)?;
                for (pair, is_match) in candidates.drain(..).zip(&is_match) {
                    if is_match == Some(true) {
                        found.add(pair);
                    }
                }
            }
        }
        Ok(())
    }

    /// Verifies that each row of the table matches one row of the source at most, unless several may delete it.
    pub(in crate::operations::merge) fn one_of_each<'p>(
        &self,
        mut pairs: Vec<(u32, u32)>,
        target: &ArrayRef,
        place_of: impl Fn(u32) -> (&'p str, u64),
    ) -> Result<Vec<(u32, u32)>> {
        if self.merge.allows_several_matches() {
            pairs.dedup_by_key(|(row, _)| *row);
            return Ok(pairs);
        }
        let several = pairs.windows(2).filter_map(|pair| match pair {
            [(row, _), (other, _)] if row == other => Some(*row),
            _ => None,
        });
        let several: Vec<u32> = several.take(KEYS_SHOWN).collect();
        match several.first() {
            Some(row) => Err(self.several_matches(target, &several, place_of(*row))),
            None => Ok(pairs),
        }
    }

    /// The error for rows of the table that match several rows of the source; the first is at this place.
    pub(in crate::operations::merge) fn several_matches(
        &self,
        target: &ArrayRef,
        rows: &[u32],
        (path, position): (&str, u64),
    ) -> Error {
        let keys = rows.iter().filter_map(|row| self.shown_keys(target, *row));
        let keys: Vec<String> = keys.collect();
        let what = "several rows of the source match one row of the table";
        let error = Error::new(ErrorKind::ConstraintViolation, what)
            .with("path", path)
            .with("row", i64::try_from(position).unwrap_or(i64::MAX));
        let error = match keys.is_empty() {
            true => error,
            false => error.with("keys", keys.join("; ")),
        };
        error.hint(
            "keep one row of each key in the source, as df.drop_duplicates(subset=[...], keep=\"last\") does, or \
             make the condition distinguish its rows",
        )
    }

    /// The values by which a row of the table is found, or the columns that were read if there are none.
    fn shown_keys(&self, target: &ArrayRef, row: u32) -> Option<String> {
        let rows = taken(target, std::iter::once(row)).and_then(|row| side(TARGET, row));
        let keys = self.merge.on.keys.iter().filter_map(|key| {
            let values = key.target.evaluate(rows.as_ref().ok()?).ok()?;
            let name = match key.target.widened_column() {
                Some([_, column @ ..]) => column.join("."),
                _ => "the key".to_owned(),
            };
            Some(format!("{name} = {}", shown_value(&values, 0)))
        });
        let keys: Vec<String> = keys.collect();
        match keys.is_empty() {
            true => shown_fields(target, row as usize),
            false => Some(keys.join(", ")),
        }
    }

    /// The first clause that applies to each pair.
    pub(in crate::operations::merge) fn first_clauses(
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
    pub(in crate::operations::merge) fn first_clauses_without_source(
        &self,
        target: &ArrayRef,
        rows: &[u32],
    ) -> Result<Vec<(u32, usize)>> {
        first_that_applies(&self.merge.not_matched_by_source, rows, |condition, rows| {
            let [of_target, of_source] = used_by(condition);
            let rows = joined(
                taken(&of_target.fields_of(target)?, rows.iter().copied())?,
                self.source.nulls(rows.len(), &self.source.columns_of(&of_source)),
            )?;
            evaluate(condition, &rows)
        })
    }

    /// Whether a condition is true for each pair.
    fn condition(
        &self,
        condition: &BoundPredicate,
        target: &ArrayRef,
        pairs: &[(u32, u32)],
    ) -> Result<BooleanArray> {
        let [of_target, of_source] = used_by(condition);
        let (target, columns) = (of_target.fields_of(target)?, self.source.columns_of(&of_source));
        let of_target = target.as_struct().columns();
        let longest = of_target
            .iter()
            .map(longest_value)
            .fold(self.source.longest_row(&columns), usize::saturating_add);
        let parts = divided(pairs, longest, COPIED_BYTES, |(row, source)| {
            let values = of_target.iter();
            let in_target: usize = values.map(|column| size_of_value(column, *row as usize)).sum();
            in_target + self.source.size_of_row(*source, &columns)
        });
        let parts = parts.into_iter().map(|pairs| {
            let sources: Vec<u32> = pairs.iter().map(|(_, source)| *source).collect();
            let rows = taken(&target, pairs.iter().map(|(row, _)| *row))?;
            evaluate(condition, &joined(rows, self.source.take(&sources, &columns)?)?)
        });
        joined_conditions(parts)
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
    pub(in crate::operations::merge) fn inserted(&self) -> Result<Vec<Vec<u32>>> {
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
                let [_, used] = used_by(condition);
                let columns = self.source.columns_of(&used);
                let parts = self.source.divided(rows, &columns, |row| *row);
                joined_conditions(parts.into_iter().map(|rows| {
                    let rows = side(SOURCE, self.source.take(rows, &columns)?)?;
                    evaluate(condition, &rows)
                }))
            })?;
            for (row, clause) in applied {
                if let Some(rows) = inserted.get_mut(clause) {
                    rows.push(row);
                }
            }
        }
        Ok(inserted)
    }

    /// Takes the rows of each file that match.
    ///
    /// # Errors
    ///
    /// `ValueError` for a position that deletion vectors cannot have.
    pub(in crate::operations::merge) fn take_matched(&mut self) -> Result<MatchedRows> {
        let paths = self.decisions.keys();
        let changed = paths.map(|path| Ok((path.clone(), self.changed(path, |_| true)?)));
        Ok(MatchedRows {
            changed: changed.collect::<Result<_>>()?,
            unchanged: bitmaps(std::mem::take(&mut self.unchanged))?,
        })
    }

    /// The rows of a file to which such clauses apply.
    pub(in crate::operations::merge) fn changed(
        &self,
        path: &str,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Result<Bitmap> {
        let decisions = self.decisions.get(path).map_or(&[][..], Vec::as_slice);
        let wanted = decisions.iter().filter(|decision| is_wanted(decision.clause));
        Bitmap::from_positions(wanted.map(|decision| decision.position))
    }
}

/// The rows of the table in pairs to which no clause applies. Both are in the order of the rows.
pub(in crate::operations::merge) fn unchanged_rows(
    pairs: &[(u32, u32)],
    decided: &[((u32, u32), usize)],
) -> impl Iterator<Item = u32> {
    let mut decided = decided.iter().map(|(pair, _)| *pair).peekable();
    let rest = pairs
        .iter()
        .filter(move |pair| decided.next_if_eq(*pair).is_none());
    rest.map(|(row, _)| *row)
}

/// Pairs of rows that match.
struct FirstPairs {
    /// Whether each row of the source matches a row of the table.
    is_matched: Vec<bool>,
    /// The first two pairs of each row of the table.
    pairs: Vec<(u32, u32)>,
}

impl FirstPairs {
    fn add(&mut self, pair: (u32, u32)) {
        if let Some(is_matched) = self.is_matched.get_mut(pair.1 as usize) {
            *is_matched = true;
        }
        match self.pairs.as_slice() {
            [.., (second, _), (first, _)] if *first == pair.0 && *second == pair.0 => {}
            _ => self.pairs.push(pair),
        }
    }
}

/// The columns of the table and of the source that a condition uses.
fn used_by(condition: &BoundPredicate) -> [UsedColumns; 2] {
    [TARGET, SOURCE].map(|side| UsedColumns::of(side).with_condition(condition))
}

/// Joins the results of parts of rows.
fn joined_conditions(parts: impl Iterator<Item = Result<BooleanArray>>) -> Result<BooleanArray> {
    let parts = parts.collect::<Result<Vec<_>>>()?;
    match <[BooleanArray; 1]>::try_from(parts) {
        Ok([only]) => Ok(only),
        Err(parts) => Ok(parts.iter().flatten().collect()),
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
