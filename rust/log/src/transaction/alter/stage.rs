//! Changes of a table's form, put into a transaction.

use deltaic_protocol::Result;
use deltaic_protocol::change::{Duty, Form, Moment, TableChange, change, duties};
use deltaic_protocol::clustering;

use crate::clock::{new_id, now_ms};
use crate::snapshot::Snapshot;
use crate::transaction::conflict::dropped_feature;
use crate::transaction::{Proposal, ReadSet};

/// The form of a table at a version.
#[must_use]
pub fn form_of(snapshot: &Snapshot) -> Form {
    Form {
        protocol: snapshot.protocol().clone(),
        metadata: snapshot.metadata().clone(),
        domains: snapshot.domains().values().cloned().collect(),
    }
}

/// The parts of a transaction that changes become part of.
pub struct Staging<'a> {
    /// The version that was read.
    pub snapshot: &'a Snapshot,
    /// What was read of it.
    pub read: &'a mut ReadSet,
    /// What is staged.
    pub proposal: &'a mut Proposal,
}

/// Makes changes of the table's form part of a transaction, one after the other, on top of what is staged already. Tells
/// what they ask of the table's files.
///
/// # Errors
///
/// As [`change`]. The transaction is as it was then.
pub fn stage_changes(staging: &mut Staging<'_>, changes: &[TableChange]) -> Result<Vec<Duty>> {
    let snapshot = staging.snapshot;
    let first = form_of(snapshot);
    let before = staged_form(staging.proposal, first.clone());
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
        staging.read.read_domain(clustering::DOMAIN);
    }
    let drops = dropped_feature(&first.protocol, &after.protocol).is_some();
    let proposal = &mut *staging.proposal;
    proposal.drop_proved_at = drops.then(|| snapshot.version()).or(proposal.drop_proved_at);
    proposal.protocol = actions.protocol;
    proposal.metadata = actions.metadata;
    proposal.domains = actions.domains;
    Ok(owed)
}

/// A form as a proposal leaves it.
#[must_use]
pub fn staged_form(proposal: &Proposal, mut form: Form) -> Form {
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
