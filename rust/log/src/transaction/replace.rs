//! Replaces a table: the new table starts as the next version of the old table's history.

use std::sync::Arc;

use deltaic_protocol::actions::Remove;
use deltaic_protocol::change::replaced;
use deltaic_protocol::features::ensure_changeable;
use deltaic_protocol::{Error, Result};

use super::alter::is_of_configuration;
use super::new_table::{NewTable, configuration_of, describe};
use super::table_operation::{Planned, PreviousAttempt, RunPolicy, TableOperation, run};
use super::{CommitOptions, Committed, Operation, Transaction};
use crate::checkpoint::whole_adds;
use crate::snapshot::{LoadOptions, Snapshot};
use deltaic_storage::clock::now_ms;
use deltaic_storage::location::TableLocation;

/// Maximum number of plans, if other writers change the table concurrently.
const MAX_ATTEMPTS: usize = 101;

/// Replaces the existing table in one commit. Earlier versions remain readable.
///
/// # Errors
///
/// As [`replaced`]; `CommitConflict` if other writers keep winning.
pub(super) async fn replace(
    location: &Arc<TableLocation>,
    table: &NewTable,
    options: &CommitOptions,
) -> Result<Committed> {
    let snapshot = Snapshot::load(Arc::clone(location), None, LoadOptions::default()).await?;
    let policy = RunPolicy {
        max_attempts: MAX_ATTEMPTS,
        deadline: options.deadline,
    };
    run(snapshot, policy, &mut Replace { table, options }).await
}

struct Replace<'t> {
    table: &'t NewTable,
    options: &'t CommitOptions,
}

impl TableOperation for Replace<'_> {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        _: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        let before = snapshot.configuration();
        let after = replaced(before, configuration_of(self.table, now_ms())?);
        let after = after.map_err(|error| error.with("table", snapshot.location().uri()))?;
        let mut transaction =
            Transaction::try_new(snapshot, Operation::CreateOrReplaceTable, ensure_changeable)?;
        transaction.details = describe(self.table, after.metadata());
        transaction.options = self.options.clone();
        // All files are removed, so a concurrently added file is a conflict.
        transaction.read.require_exact_files();
        let now = now_ms();
        let adds = whole_adds(snapshot, None).await?;
        let actions = after.actions_since(before);
        let proposal = &mut transaction.proposal;
        proposal.removes = adds.iter().map(|add| Remove::of(add, now)).collect();
        proposal.protocol = actions.protocol;
        proposal.metadata = actions.metadata;
        proposal.domains = actions.domains;
        Ok(Some(Planned::without_files(transaction)))
    }

    fn may_plan_again(&self, conflict: &Error) -> bool {
        is_of_configuration(conflict)
    }
}
