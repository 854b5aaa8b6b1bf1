//! Whether a newer version contains a commit, judged by its actions: a checkpoint does not hold the ids of commits.

use deltaic_protocol::actions::DomainMetadata;
use deltaic_protocol::{Result, row_tracking};

use super::{Base, Proposal};
use crate::snapshot::Snapshot;

/// Whether the commit's file was listed after it was won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitFile {
    Listed,
    /// A cleanup deleted it since, so the log went on from it.
    Deleted,
}

/// Whether `newest` proves that it contains the commit of `proposal`, which was based on `read` and rebased to `base`.
///
/// A file that the commit added is its own. A tombstone or an application's transaction carries the time of the commit's
/// writer, but another commit may have been made in the same millisecond. Metadata and domains carry no mark. So these count
/// only if the commit's file is gone. Marks with a time also count if the log `is_whole`: no cleanup can have deleted a
/// commit since the log was last listed.
pub(super) async fn is_shown_by(
    newest: &Snapshot,
    read: &Snapshot,
    base: &Base,
    proposal: &Proposal,
    file: CommitFile,
    is_whole: bool,
) -> Result<bool> {
    if newest.shows_new_file(read, &proposal.adds) {
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

/// Whether the proposal changes protocol, metadata or domains, and a version has them as it leaves them.
fn has_same_configuration(newest: &Snapshot, read: &Snapshot, base: &Base, proposal: &Proposal) -> bool {
    let protocol = proposal
        .protocol
        .as_ref()
        .filter(|mine| **mine != *base.form.protocol);
    let metadata = proposal
        .metadata
        .as_ref()
        .filter(|mine| **mine != *base.form.metadata);
    // Every commit that adds rows may move the high water mark of row ids.
    let domains = proposal
        .domains
        .iter()
        .filter(|domain| domain.domain != row_tracking::DOMAIN);
    let domains: Vec<&DomainMetadata> = domains.filter(|domain| !has_domain(read, domain)).collect();
    let is_change = protocol.is_some() || metadata.is_some() || !domains.is_empty();
    is_change
        && protocol.is_none_or(|mine| mine == newest.protocol())
        && metadata.is_none_or(|mine| mine == newest.metadata())
        && domains.iter().all(|domain| has_domain(newest, domain))
}

/// Whether a version has a domain as a commit leaves it.
fn has_domain(version: &Snapshot, domain: &DomainMetadata) -> bool {
    let found = version.domains().get(&domain.domain);
    if domain.removed {
        found.is_none()
    } else {
        found == Some(domain)
    }
}
