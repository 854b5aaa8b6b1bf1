//! Changes of a table's form, put into a transaction.

use deltaic_protocol::Result;
use deltaic_protocol::change::{Duty, Form, Moment, TableChange, change, duties};
use deltaic_protocol::clustering;

use crate::clock::{new_id, now_ms};
use crate::snapshot::Snapshot;
use crate::transaction::Transaction;
use crate::transaction::conflict::dropped_feature;

/// The form of a table at a version.
#[must_use]
pub fn form_of(snapshot: &Snapshot) -> Form {
    Form {
        protocol: snapshot.protocol().clone(),
        metadata: snapshot.metadata().clone(),
        domains: snapshot.domains().values().cloned().collect(),
    }
}

/// Makes changes of the table's form part of a transaction, one after the other, on top of what is staged already. Tells
/// what they ask of the table's files.
///
/// # Errors
///
/// As [`change`]. The transaction is as it was then.
pub fn stage_changes(transaction: &mut Transaction<'_>, changes: &[TableChange]) -> Result<Vec<Duty>> {
    let snapshot = transaction.snapshot;
    let first = form_of(snapshot);
    let before = staged(transaction, first.clone());
    let mut moment = Moment {
        version: snapshot.version().next()?,
        timestamp_ms: now_ms(),
        new_id: &mut new_id,
    };
    let mut after = before.clone();
    for one in changes {
        after = change(&after, one, &mut moment)?;
    }
    let owed = duties(&before, &after)?;
    let actions = after.actions_since(&first);
    if !actions.is_empty() {
        // By which columns the files are arranged decides what may become of a column.
        transaction.read.read_domain(clustering::DOMAIN);
    }
    let drops = dropped_feature(&first.protocol, &after.protocol).is_some();
    let proposal = &mut transaction.proposal;
    proposal.drop_proved_at = drops.then(|| snapshot.version()).or(proposal.drop_proved_at);
    proposal.protocol = actions.protocol;
    proposal.metadata = actions.metadata;
    proposal.domains = actions.domains;
    Ok(owed)
}

/// The form as the transaction leaves it so far.
fn staged(transaction: &Transaction<'_>, mut form: Form) -> Form {
    let proposal = &transaction.proposal;
    if let Some(protocol) = &proposal.protocol {
        form.protocol.clone_from(protocol);
    }
    if let Some(metadata) = &proposal.metadata {
        form.metadata.clone_from(metadata);
    }
    for domain in &proposal.domains {
        form.domains.retain(|known| known.domain != domain.domain);
        form.domains.push(domain.clone());
    }
    form.domains.retain(|domain| !domain.removed);
    form
}
