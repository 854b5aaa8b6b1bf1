//! Stages the files of a planned write on each version that is tried.

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::whole_adds;
use deltaic_log::transaction::{
    CommitOptions, Operation, Planned, PreviousAttempt, StagedFiles, TableOperation,
};
use deltaic_protocol::{Error, ErrorKind, Result};

use crate::operations::append::{Append, may_add_again};
use crate::operations::overwrite::{Overwrite, Replaced};
use crate::transaction::metrics::Count;
use crate::transaction::new_rows::{NewRows, PlannedRows};
use crate::transaction::requirement::Requirement;
use crate::transaction::unrecorded::Unrecorded;
use crate::transaction::{SchemaMode, TableTransaction};

/// The rows of a job, whose files are staged on each version that is tried.
pub(super) struct JobRows<'j> {
    pub(super) rows: PlannedRows,
    /// The files before the first attempt.
    pub(super) staged: StagedFiles,
    pub(super) schema_mode: &'j SchemaMode,
    pub(super) replaced: Option<&'j Replaced>,
    /// Whether the rows change.
    pub(super) data_change: bool,
    pub(super) options: &'j CommitOptions,
}

impl JobRows<'_> {
    /// Whether the files and the change of the configuration, if any, are valid for the version after a conflict.
    fn ensure_valid(&self, previous: &PreviousAttempt) -> Result<()> {
        let changes_table = self.rows.changed.is_some() || !self.rows.written.high_water_marks.is_empty();
        match previous.is_same_configuration() && !changes_table {
            true => Ok(()),
            false => Err(previous.conflict().clone()),
        }
    }
}

impl TableOperation for JobRows<'_> {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        previous: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        if let Some(previous) = previous {
            self.ensure_valid(previous)?;
        }
        let mut transaction =
            TableTransaction::try_new(snapshot.clone(), Operation::Write, self.options.clone())?;
        transaction.files.append(&self.staged);
        let (rows, schema_mode) = (NewRows::Planned(self.rows.clone()), self.schema_mode.clone());
        let staged = match self.replaced.cloned() {
            None => transaction.apply(&Append { rows, schema_mode }).await,
            Some(replaced) => {
                let overwrite = Overwrite {
                    rows,
                    replaced,
                    schema_mode,
                };
                transaction.apply(&overwrite).await
            }
        };
        let staged = match (staged, self.data_change) {
            (Ok(_), false) => transaction.declare_same_rows().await,
            (staged, _) => staged.map(drop),
        };
        transaction.plan_or_abandon(staged, snapshot).await
    }

    /// As for rows that are written here, see [`Append`], but not for an overwrite: its rows may have been computed from
    /// those that it replaces, so rows that another writer added must stay.
    fn may_plan_again(&self, conflict: &Error) -> bool {
        self.replaced.is_none() && may_add_again(conflict)
    }
}

impl TableTransaction {
    /// Stages all changes with `dataChange=false`: the new files contain the rows of the removed ones.
    ///
    /// # Errors
    ///
    /// `ValueError` if only some rows of a file are replaced; those of reading the statistics.
    async fn declare_same_rows(&mut self) -> Result<()> {
        let metrics = &self.staged.described.metrics;
        if metrics.get(Count::Vectors) > 0 || metrics.get(Count::RewrittenFiles) > 0 {
            let what =
                "dataChange=false replaces whole files, and only some rows of a file match the predicate";
            let error = Error::new(ErrorKind::InvalidArgument, what);
            return Err(error.hint("select whole partitions, or all rows"));
        }
        let removed: Vec<String> = self
            .staged
            .proposal
            .removes
            .iter()
            .map(|file| file.path.clone())
            .collect();
        if !removed.is_empty() {
            for add in whole_adds(&self.snapshot, Some(&removed)).await? {
                self.staged.same_rows.record_removed(&add);
            }
        }
        for add in &mut self.staged.proposal.adds {
            add.data_change = false;
            self.staged.same_rows.record_added(add);
        }
        for remove in &mut self.staged.proposal.removes {
            remove.data_change = false;
        }
        // The feed has changes of data only.
        self.staged.unrecorded = Unrecorded::default();
        self.staged.requirement = Requirement::ADDS;
        Ok(())
    }
}
