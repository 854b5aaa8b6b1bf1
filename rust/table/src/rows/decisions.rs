//! Which rows of live files change, and how.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::{Error, Result};

use super::plan::delete_plan::DeletePlan;
use super::plan::planned_file::PlannedFile;

/// What happens to a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The position of the row in its file.
    pub(crate) position: u64,
    /// The clause that applies to it.
    pub(crate) clause: usize,
    /// The row of the source, if one matches.
    pub(crate) source: Option<u32>,
}

/// What happens to rows of files.
pub(crate) trait Decisions {
    /// What happens to the rows of a file from a position on, in the order of the file.
    fn of_rows<'a>(
        &'a self,
        path: &str,
        first: u64,
    ) -> Result<Box<dyn Iterator<Item = Decision> + Send + 'a>>;

    /// The rows of a file to which such a clause applies; `None` for all that are not deleted.
    fn rows_of(&self, file: PlannedFile<'_>, is_wanted: &dyn Fn(usize) -> bool) -> Result<Option<Bitmap>>;

    /// Whether the rows of the source for decisions are larger than this many bytes.
    fn exceed(&self, decisions: &[Decision], most_bytes: usize) -> bool;

    /// The rows from which the new values of rows of the table are computed.
    fn over(&self, rows: &RecordBatch, decisions: &[Decision]) -> Result<RecordBatch>;
}

/// The only clause applies to all rows that a plan selects. New values are computed from the columns of the table.
pub(crate) struct SelectedRows<'p> {
    /// The positions of the rows in each file; `None` for all.
    rows: HashMap<&'p str, Option<&'p Bitmap>>,
}

impl<'p> SelectedRows<'p> {
    pub(crate) fn of(plan: &'p DeletePlan) -> Self {
        let of_files = plan
            .files()
            .map(|file| (file.add().path.as_str(), file.selected()));
        Self {
            rows: of_files.collect(),
        }
    }
}

impl Decisions for SelectedRows<'_> {
    fn of_rows<'a>(
        &'a self,
        path: &str,
        first: u64,
    ) -> Result<Box<dyn Iterator<Item = Decision> + Send + 'a>> {
        let decision = |position| Decision {
            position,
            clause: 0,
            source: None,
        };
        match self.rows.get(path) {
            Some(Some(rows)) => Ok(Box::new(rows.iter_from(first).map(decision))),
            Some(None) => Ok(Box::new((first..).map(decision))),
            None => Err(Error::internal("a file does not change").with("path", path)),
        }
    }

    fn rows_of(&self, file: PlannedFile<'_>, is_wanted: &dyn Fn(usize) -> bool) -> Result<Option<Bitmap>> {
        Ok(match is_wanted(0) {
            true => file.selected().cloned(),
            false => Some(Bitmap::default()),
        })
    }

    fn exceed(&self, _decisions: &[Decision], _most_bytes: usize) -> bool {
        false
    }

    fn over(&self, rows: &RecordBatch, _decisions: &[Decision]) -> Result<RecordBatch> {
        Ok(rows.clone())
    }
}

/// The rows of a batch by what happens to them.
pub(super) struct DividedRows {
    /// For each row, the clause that applies to it; `None` if it is copied.
    pub(super) clause_of: Vec<Option<usize>>,
    /// For each clause, its rows in the batch, and what happens to them.
    pub(super) of_clause: Vec<ClauseRows>,
    /// The number of rows that are copied.
    pub(super) copied: usize,
}

/// The rows of a batch to which a clause applies.
#[derive(Clone, Default)]
pub(super) struct ClauseRows {
    pub(super) rows: Vec<u32>,
    pub(super) decisions: Vec<Decision>,
}

impl DividedRows {
    /// Divides rows at ascending positions of a file. Both are in the order of the file.
    ///
    /// # Errors
    ///
    /// `Internal` if the positions are not ascending.
    pub(super) fn try_new(
        positions: impl Iterator<Item = u64>,
        decisions: impl Iterator<Item = Decision>,
        clauses: usize,
    ) -> Result<Self> {
        let mut divided = Self {
            clause_of: Vec::with_capacity(positions.size_hint().0),
            of_clause: vec![ClauseRows::default(); clauses],
            copied: 0,
        };
        let mut decisions = decisions.peekable();
        let mut next = 0;
        for (row, position) in (0u32..).zip(positions) {
            if position < next {
                return Err(Error::internal("rows are not in the order of their file"));
            }
            next = position + 1;
            while decisions
                .next_if(|decision| decision.position < position)
                .is_some()
            {}
            let decision = decisions.next_if(|decision| decision.position == position);
            divided.clause_of.push(decision.map(|decision| decision.clause));
            let Some(decision) = decision else {
                divided.copied += 1;
                continue;
            };
            let of_clause = divided.of_clause.get_mut(decision.clause);
            let of_clause = of_clause.ok_or_else(|| Error::internal("a clause is missing"))?;
            of_clause.rows.push(row);
            of_clause.decisions.push(decision);
        }
        Ok(divided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(position: u64, clause: usize) -> Decision {
        Decision {
            position,
            clause,
            source: None,
        }
    }

    #[test]
    fn rows_get_the_decisions_at_their_positions() {
        let decisions = [decision(1, 0), decision(4, 1), decision(5, 0), decision(9, 0)];
        let divided = DividedRows::try_new([0, 1, 3, 5, 7].into_iter(), decisions.into_iter(), 2).unwrap();
        assert_eq!(divided.clause_of, [None, Some(0), None, Some(0), None]);
        assert_eq!(divided.copied, 3);
        let rows: Vec<_> = divided
            .of_clause
            .iter()
            .map(|clause| clause.rows.as_slice())
            .collect();
        assert_eq!(rows, [&[1, 3][..], &[]]);
        assert_eq!(divided.of_clause[0].decisions, [decision(1, 0), decision(5, 0)]);
    }

    #[test]
    fn positions_that_go_back_are_an_error() {
        let error = DividedRows::try_new([3, 2].into_iter(), std::iter::empty(), 1);
        assert!(error.is_err());
    }
}
