//! Replaces a table: the new table starts as the next version of the old table's history.

use std::sync::Arc;

use deltaic_protocol::actions::Remove;
use deltaic_protocol::change::replaced;
use deltaic_protocol::features::ensure_changeable;
use deltaic_protocol::{Error, Result};

use super::alter::{form_of, may_be_made_anew};
use super::create::{NewTable, describe, new_form};
use super::{CommitOptions, Committed, Operation, Transaction};
use crate::checkpoint::whole_adds;
use crate::clock::now_ms;
use crate::location::TableLocation;
use crate::snapshot::{LoadOptions, Snapshot};

/// Maximum retries after another writer changed the table concurrently.
const ROUNDS: usize = 100;

/// Replaces the existing table in one commit. Earlier versions remain readable.
///
/// Errors: as [`replaced`]; `CommitConflict` if other writers keep winning.
pub(super) async fn replace(
    location: &Arc<TableLocation>,
    table: &NewTable,
    options: &CommitOptions,
) -> Result<Committed> {
    let mut snapshot = Snapshot::load(Arc::clone(location), None, LoadOptions::default()).await?;
    let mut resolved = Vec::new();
    loop {
        let before = form_of(&snapshot);
        let after = replaced(&before, new_form(table, now_ms())?);
        let after = after.map_err(|error| error.with("table", location.uri()))?;
        let mut transaction =
            Transaction::try_new(&snapshot, Operation::CreateOrReplaceTable, ensure_changeable)?;
        transaction.details = describe(table, &after.metadata);
        transaction.options = options.clone();
        // All files are removed, so a concurrently added file is a conflict.
        transaction.read.rest_on_every_file();
        let now = now_ms();
        let adds = whole_adds(&snapshot, None).await?;
        let actions = after.actions_since(&before);
        let proposal = &mut transaction.proposal;
        proposal.removes = adds.iter().map(|add| Remove::of(add, now)).collect();
        proposal.protocol = actions.protocol;
        proposal.metadata = actions.metadata;
        proposal.domains = actions.domains;
        let conflict: Error = match transaction.commit().await {
            Ok(mut committed) => {
                resolved.append(&mut committed.conflicts_resolved);
                committed.conflicts_resolved = resolved;
                return Ok(committed);
            }
            Err(error) if may_be_made_anew(&error) && resolved.len() < ROUNDS => error,
            Err(error) => return Err(error),
        };
        snapshot = snapshot.refresh().await?;
        resolved.push(format!("{}; the table was replaced anew", conflict.what()));
    }
}
