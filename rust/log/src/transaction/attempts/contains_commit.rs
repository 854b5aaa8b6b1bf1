//! Determines whether a newer version contains a commit, by its actions: checkpoints contain no commit ids.

use deltaic_protocol::actions::DomainMetadata;
use deltaic_protocol::{Result, row_tracking};

use crate::snapshot::Snapshot;
use crate::transaction::{Base, Proposal};

/// Whether the commit's file was listed after the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitFile {
    Listed,
    /// A later cleanup deleted it, so it was part of the log.
    Deleted,
}

/// Whether `newest` proves that it contains the commit of `proposal`, which was based on `read` and rebased to `base`.
///
/// The added files prove it together: at least one has a unique name, unless the user named all. Another commit may
/// have the same other actions, so these prove it only if its file was deleted. Tombstones and app transactions, which
/// have a timestamp, prove it also if the log `is_whole`: no cleanup can have deleted a commit since the last listing.
pub(super) async fn is_shown_by(
    newest: &Snapshot,
    read: &Snapshot,
    base: &Base,
    proposal: &Proposal,
    file: CommitFile,
    is_whole: bool,
) -> Result<bool> {
    if newest.shows_new_files(read, &proposal.adds).await? {
        return Ok(true);
    }
    let is_deleted = file == CommitFile::Deleted;
    if is_deleted && has_same_configuration(newest, read, base, proposal) {
        return Ok(true);
    }
    if !is_deleted && !is_whole {
        return Ok(false);
    }
    let mut txns = proposal.txns.iter().filter(|txn| txn.last_updated.is_some());
    if txns.any(|txn| newest.txns().get(&txn.app_id) == Some(txn)) {
        return Ok(true);
    }
    newest.shows_tombstone(&proposal.removes).await
}

/// Whether the proposal changes protocol, metadata or domains, and `newest` has them as changed.
fn has_same_configuration(newest: &Snapshot, read: &Snapshot, base: &Base, proposal: &Proposal) -> bool {
    let protocol = proposal
        .protocol
        .as_ref()
        .filter(|proposal| **proposal != *base.table.protocol());
    let metadata = proposal
        .metadata
        .as_ref()
        .filter(|proposal| **proposal != *base.table.metadata());
    // Every commit that adds rows may increase the high water mark of row ids.
    let domains = proposal
        .domains
        .iter()
        .filter(|domain| domain.domain != row_tracking::DOMAIN);
    let domains: Vec<&DomainMetadata> = domains.filter(|domain| !has_domain(read, domain)).collect();
    let is_change = protocol.is_some() || metadata.is_some() || !domains.is_empty();
    is_change
        && protocol.is_none_or(|proposal| proposal == newest.protocol())
        && metadata.is_none_or(|proposal| proposal == newest.metadata())
        && domains.iter().all(|domain| has_domain(newest, domain))
}

/// Whether a version has the state of a domain after a commit.
fn has_domain(version: &Snapshot, domain: &DomainMetadata) -> bool {
    let found = version.domains().get(&domain.domain);
    if domain.removed {
        found.is_none()
    } else {
        found == Some(domain)
    }
}
