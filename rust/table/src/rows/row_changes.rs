//! What a verb does with rows of the table, prepared once for all their files.

use deltaic_log::Snapshot;
use deltaic_log::transaction::EmptyPartitionText;
use deltaic_protocol::Result;
use deltaic_protocol::expr::BoundValue;
use deltaic_protocol::properties::boolean;
use deltaic_protocol::row_tracking::RowTracking;

use super::assignments::Assignments;
use crate::write::{FileContents, WritePlan};

/// The new values of a clause: each is of the column of the table at its position; without one the row keeps its own.
pub(crate) type NewValues = Vec<Option<BoundValue>>;

/// What a verb does with rows of the table.
pub(crate) struct RowChanges {
    pub(super) clauses: Vec<RowClause>,
    /// The struct with the columns of the table in the rows from which new values are computed, unless these are the
    /// columns of the table themselves.
    pub(super) side: Option<&'static str>,
    /// What copies of rows are, with their row ids if rows have them.
    pub(super) copied: FileContents,
    /// Whether changes are recorded.
    pub(super) has_feed: bool,
    pub(super) empty_text: EmptyPartitionText,
}

/// What a clause does with the rows to which it applies.
pub(super) enum RowClause {
    Update(Box<NewVersions>),
    Delete,
}

/// How a clause makes new versions of rows.
pub(super) struct NewVersions {
    pub(super) assignments: Assignments,
    pub(super) plan: WritePlan,
    /// For each column that is written, whether rows keep their values.
    pub(super) is_kept: Vec<bool>,
}

impl RowChanges {
    /// Prepares clauses: each sets values, or deletes rows.
    ///
    /// # Errors
    ///
    /// `UnsupportedFeature` if the table cannot be written; `SchemaMismatch` if a value does not fit its column, or for an
    /// identity column.
    pub(crate) fn try_new(
        snapshot: &Snapshot,
        clauses: impl IntoIterator<Item = Option<NewValues>>,
        side: Option<&'static str>,
        empty_text: EmptyPartitionText,
    ) -> Result<Self> {
        let table = snapshot.configuration();
        let row_columns = match RowTracking::of(table)? {
            RowTracking::Enabled(columns) => Some(columns),
            _ => None,
        };
        let updated = FileContents::UpdatedRows(row_columns.clone());
        let own = updated.own_columns();
        let clauses = clauses.into_iter().map(|values| {
            let Some(values) = values else {
                return Ok(RowClause::Delete);
            };
            let assignments = Assignments::try_new(snapshot, values, snapshot.schema(), &own)?;
            let mut plan = WritePlan::try_new(table, &assignments.written, updated.clone())?;
            plan.expect_new_rows(empty_text);
            Ok(RowClause::Update(Box::new(NewVersions::of(assignments, plan))))
        });
        Ok(Self {
            clauses: clauses.collect::<Result<_>>()?,
            side,
            copied: FileContents::CopiedRows(row_columns),
            has_feed: boolean(snapshot.metadata(), "delta.enableChangeDataFeed")?,
            empty_text,
        })
    }

    /// The rows that match are deleted.
    ///
    /// # Errors
    ///
    /// Those of [`RowChanges::try_new`].
    pub(crate) fn deletion(snapshot: &Snapshot) -> Result<Self> {
        Self::try_new(snapshot, [None], None, EmptyPartitionText::default())
    }

    /// How clauses make new versions of rows.
    pub(super) fn updates(&self) -> impl Iterator<Item = &NewVersions> {
        self.clauses.iter().filter_map(RowClause::update)
    }

    /// Whether a clause deletes rows.
    pub(super) fn deletes(&self, clause: usize) -> bool {
        let clause = self.clauses.get(clause);
        clause.is_some_and(|clause| clause.update().is_none())
    }

    /// For each column that is written, whether new versions of rows keep their values.
    pub(super) fn kept_columns(&self) -> Vec<bool> {
        let mut updates = self.updates().map(|update| update.is_kept.clone());
        let first = updates.next().unwrap_or_default();
        updates.fold(first, |kept, other| {
            let both = kept.into_iter().zip(other);
            both.map(|(kept, other)| kept && other).collect()
        })
    }

    /// Whether the rows to which a clause applies are read.
    pub(super) fn reads(&self, clause: usize) -> bool {
        let clause = self.clauses.get(clause);
        self.has_feed || clause.is_some_and(|clause| clause.update().is_some())
    }

    /// Whether rows are read to which a clause applies.
    pub(super) fn reads_any(&self) -> bool {
        (0..self.clauses.len()).any(|clause| self.reads(clause))
    }

    /// Whether the value that rows have in a column is read, for new versions, for changes, or for `copies`.
    pub(super) fn needs(&self, column: &str, copies: bool) -> bool {
        let mut updates = self.updates();
        copies || self.has_feed || updates.any(|update| update.assignments.needs(self.side, column))
    }
}

impl RowClause {
    /// How it makes new versions of rows; `None` if it deletes them.
    pub(super) fn update(&self) -> Option<&NewVersions> {
        match self {
            Self::Update(update) => Some(update),
            Self::Delete => None,
        }
    }
}

impl NewVersions {
    fn of(assignments: Assignments, plan: WritePlan) -> Self {
        let written = plan.completed_schema().fields().iter();
        let is_kept = |name: &str| assignments.keeps(name) && plan.stores_as_given(name);
        Self {
            is_kept: written.map(|field| is_kept(field.name())).collect(),
            assignments,
            plan,
        }
    }
}
