//! Replaces a table: the new table starts as the next version of the old table's history.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use deltaic_protocol::actions::{Add, LogicalFileKey, Remove};
use deltaic_protocol::change::replaced;
use deltaic_protocol::features::ensure_changeable;
use deltaic_protocol::{Error, Result};

use super::definition::Definition;
use crate::checkpoint::whole_adds;
use crate::snapshot::{LoadOptions, Snapshot};
use crate::transaction::alter::is_of_configuration;
use crate::transaction::proposal::key_of;
use crate::transaction::table_operation::{Planned, PreviousAttempt, RunPolicy, TableOperation, run};
use crate::transaction::{CommitOptions, Committed, Transaction};
use deltaic_storage::clock::now_ms;
use deltaic_storage::location::TableLocation;

/// Maximum number of plans, if other writers change the table concurrently.
const MAX_ATTEMPTS: usize = 101;

/// Replaces the existing table in one commit. Earlier versions remain readable.
///
/// # Errors
///
/// As [`replaced`]; `CommitConflict` if other writers keep winning.
pub(in crate::transaction) async fn replace(
    location: &Arc<TableLocation>,
    table: &impl Definition,
    options: &CommitOptions,
) -> Result<Committed> {
    let snapshot = Snapshot::load(Arc::clone(location), None, LoadOptions::default()).await?;
    let policy = RunPolicy {
        max_attempts: MAX_ATTEMPTS,
        deadline: options.deadline,
    };
    run(snapshot, policy, &mut Replace { table, options }).await
}

struct Replace<'t, T> {
    table: &'t T,
    options: &'t CommitOptions,
}

impl<T: Definition> TableOperation for Replace<'_, T> {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        _: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        let before = snapshot.configuration();
        let after = replaced(before, self.table.configuration()?);
        let after = after.map_err(|error| error.with("table", snapshot.location().uri()))?;
        let operation = self.table.operation(true);
        let mut transaction = Transaction::try_new(snapshot, operation, ensure_changeable)?;
        transaction.options = self.options.clone();
        // All files are removed, so a concurrently added file is a conflict.
        transaction.read.require_exact_files();
        let now = now_ms();
        let live = whole_adds(snapshot, None).await?;
        // An add of a live file replaces its entry; a remove would contradict it.
        let again: HashSet<LogicalFileKey<'_>> = self.table.adds().iter().map(Add::key).collect();
        let removed: Vec<&Add> = live.iter().filter(|add| !again.contains(&add.key())).collect();
        let actions = after.actions_since(before);
        transaction.details = self.table.details(after.metadata(), &removed);
        let proposal = &mut transaction.proposal;
        proposal.removes = removed.iter().map(|add| Remove::of(add, now)).collect();
        proposal.adds = changed(self.table.adds(), &live);
        proposal.protocol = actions.protocol;
        proposal.metadata = actions.metadata;
        proposal.domains = actions.domains;
        Ok(Some(Planned::without_files(transaction)))
    }

    fn may_plan_again(&self, conflict: &Error) -> bool {
        is_of_configuration(conflict)
    }
}

/// The files of the new table whose entries are not live already. Files that are live with other entries keep their row
/// ids; their rows are no change, unless their deletion vectors differ.
///
/// Protocol: *Writer Requirements for Row Tracking* (recommitted files), *Add File and Remove File* (`dataChange`).
fn changed(adds: &[Add], live: &[Add]) -> Vec<Add> {
    if adds.is_empty() {
        return Vec::new();
    }
    let known: HashMap<String, &Add> = live.iter().map(|add| (key_of(&add.path), add)).collect();
    let changed = adds.iter().filter_map(|add| {
        let Some(file) = known.get(&key_of(&add.path)) else {
            return Some(add.clone());
        };
        let mut add = Add {
            base_row_id: file.base_row_id,
            default_row_commit_version: file.default_row_commit_version,
            ..add.clone()
        };
        if file.key() == add.key() {
            add.data_change = false;
        }
        let of_file = Add {
            data_change: add.data_change,
            ..(*file).clone()
        };
        (add != of_file).then_some(add)
    });
    changed.collect()
}
