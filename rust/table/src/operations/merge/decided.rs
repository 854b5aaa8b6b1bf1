//! What a merge does with the rows of the table, as the rewriter of rows needs it.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StructArray};
use deltaic_protocol::Result;
use deltaic_protocol::deletion_vector::Bitmap;

use super::bound_merge::{BoundAction, BoundMerge};
use super::matches::Matching;
use super::sides::{failed, joined};
use super::spill::SpilledDecisions;
use crate::rows::decisions::{Decision, Decisions};
use crate::rows::plan::planned_file::PlannedFile;
use crate::rows::row_changes::NewValues;

/// What happens to the rows of the table.
pub(super) enum Decided<'a> {
    InMemory(&'a Matching<'a>),
    Spilled(&'a SpilledDecisions<'a>),
}

impl BoundMerge {
    /// What the clauses do with rows of the table, in the order of [`Decision::clause`].
    pub(super) fn changes(&self) -> impl Iterator<Item = Option<NewValues>> {
        let clauses = self.matched.iter().chain(&self.not_matched_by_source);
        clauses.map(|clause| match &clause.action {
            BoundAction::Update(values) => Some(values.clone()),
            BoundAction::Insert(_) | BoundAction::Delete => None,
        })
    }

    /// The number of changed rows that are read, given the number of rows of each clause: those that get new versions or
    /// whose changes are recorded.
    pub(super) fn rows_to_read(&self, of_clauses: &[usize], has_feed: bool) -> u64 {
        let clauses = of_clauses.iter().zip(self.changes());
        let read = clauses.filter(|(_, new_values)| has_feed || new_values.is_some());
        read.map(|(rows, _)| *rows as u64).sum()
    }
}

impl Decisions for Matching<'_> {
    fn of_rows<'a>(
        &'a self,
        path: &str,
        first: u64,
    ) -> Result<Box<dyn Iterator<Item = Decision> + Send + 'a>> {
        let of_file = self.decisions.get(path).map_or(&[][..], Vec::as_slice);
        let start = of_file.partition_point(|decision| decision.position < first);
        let rest = of_file.get(start..).unwrap_or_default();
        Ok(Box::new(rest.iter().copied()))
    }

    fn rows_of(&self, file: PlannedFile<'_>, is_wanted: &dyn Fn(usize) -> bool) -> Result<Option<Bitmap>> {
        self.changed(&file.add().path, is_wanted).map(Some)
    }

    fn exceed(&self, decisions: &[Decision], most_bytes: usize) -> bool {
        let columns = self.source.columns_of(&self.merge.columns_of_updates());
        if decisions.len().saturating_mul(self.source.longest_row(&columns)) <= most_bytes {
            return false;
        }
        let sources = decisions.iter().filter_map(|decision| decision.source);
        let sizes = sources.map(|row| self.source.size_of_row(row, &columns));
        sizes.fold(0, usize::saturating_add) > most_bytes
    }

    /// The rows of both sides.
    fn over(&self, rows: &RecordBatch, decisions: &[Decision]) -> Result<RecordBatch> {
        let columns = self.source.columns_of(&self.merge.columns_of_updates());
        let sources: Option<Vec<u32>> = decisions.iter().map(|decision| decision.source).collect();
        let of_source = match sources {
            Some(sources) => self.source.take(&sources, &columns)?,
            None => self.source.nulls(decisions.len(), &columns),
        };
        joined(as_structs(rows)?, of_source)
    }
}

fn as_structs(rows: &RecordBatch) -> Result<ArrayRef> {
    let fields = rows.schema_ref().fields().clone();
    let structs = StructArray::try_new_with_length(fields, rows.columns().to_vec(), None, rows.num_rows());
    Ok(Arc::new(structs.map_err(|error| failed(&error))?))
}
