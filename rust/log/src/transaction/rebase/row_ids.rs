//! Row ids and row commit versions of added files.
//!
//! Protocol: *Row IDs*, *Row Commit Versions*, *Writer Requirements for Row Tracking*.

use std::collections::{HashMap, HashSet};

use deltaic_protocol::actions::Add;
use deltaic_protocol::row_tracking::{self, RowTracking, high_water_mark, high_water_mark_domain};
use deltaic_protocol::statistics::num_records;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration, Version};

use super::base::Base;
use crate::transaction::proposal::key_of;
use crate::transaction::winning_commit::WinningFile;
use crate::transaction::{Proposal, WinningCommit};

/// Whether writers must assign row ids: if the feature is supported and not suspended.
pub(super) fn are_handed_out(table: &TableConfiguration) -> Result<bool> {
    let rows = RowTracking::of(table)?;
    Ok(matches!(rows, RowTracking::Supported | RowTracking::Enabled(_)))
}

/// Assigns row ids and row commit versions to files without them, for a commit of the version after the base. Does
/// nothing if the table does not assign row ids.
///
/// ```text
/// mark 9, files of 3 and 2 rows: base row ids 10 and 13, mark 14
/// ```
///
/// # Errors
///
/// `InvalidArgument` with the `path` of a file whose statistics lack `numRecords`.
pub fn assign_row_ids(proposal: &mut Proposal, base: &Base) -> Result<()> {
    if !are_handed_out(&proposal.applied_to(&base.table))? {
        return Ok(());
    }
    // The proposal itself may raise the mark: a restore does if it enables row tracking again.
    let staged = proposal
        .domains
        .iter()
        .find(|domain| domain.domain == row_tracking::DOMAIN);
    let staged = staged.map(high_water_mark).transpose()?.flatten();
    let mark = base.high_water_mark.max(staged);
    assign(proposal, mark, |add| add.base_row_id.is_none())?;
    let version = base.next.as_i64();
    for add in &mut proposal.adds {
        add.default_row_commit_version.get_or_insert(version);
    }
    Ok(())
}

/// Assigns the row ids of a proposal again for the version after the winning commit. `read_mark` is the previous high
/// water mark of the base, `given` are the files whose ids the winning commit set.
pub(super) fn reassign_row_ids(
    proposal: &mut Proposal,
    base: &Base,
    read_mark: Option<i64>,
    lost: Version,
    given: &HashSet<String>,
) -> Result<()> {
    let is_given = |add: &Add| !given.is_empty() && given.contains(&key_of(&add.path));
    // A file that is added again keeps its ids; ids above the read mark were assigned by this proposal.
    assign(proposal, base.high_water_mark, |add| match add.base_row_id {
        Some(id) => Some(id) > read_mark && !is_given(add),
        None => true,
    })?;
    let (lost, next) = (lost.as_i64(), lost.next()?.as_i64());
    for add in &mut proposal.adds {
        let is_ours = add.default_row_commit_version == Some(lost) && !is_given(add);
        if is_ours || add.default_row_commit_version.is_none() {
            add.default_row_commit_version = Some(next);
        }
    }
    Ok(())
}

/// Copies the ids of files that the winning commit added again: a backfill assigns ids, an un-backfill removes them.
/// Returns the paths of the files that have ids from the winning commit.
///
/// Protocol: a recommitted file has the ids, if any, of the last committed add with the same path.
pub(super) fn inherit_row_ids(proposal: &mut Proposal, winning_commit: &WinningCommit) -> HashSet<String> {
    let is_complete =
        |file: &&WinningFile| file.base_row_id.is_some() == file.default_row_commit_version.is_some();
    let files = winning_commit.adds.iter().filter(is_complete);
    let added: HashMap<String, &WinningFile> = files.map(|file| (key_of(&file.path), file)).collect();
    if added.is_empty() {
        return HashSet::new();
    }
    for add in &mut proposal.adds {
        if let Some(file) = added.get(&key_of(&add.path)) {
            add.base_row_id = file.base_row_id;
            add.default_row_commit_version = file.default_row_commit_version;
        }
    }
    for remove in &mut proposal.removes {
        if let Some(file) = added.get(&key_of(&remove.path)) {
            remove.base_row_id = file.base_row_id;
            remove.default_row_commit_version = file.default_row_commit_version;
        }
    }
    let given = added.into_iter().filter(|(_, file)| file.base_row_id.is_some());
    given.map(|(path, _)| path).collect()
}

/// Assigns new ids above a mark to some files, and stages the new high water mark: once, before all other domains.
fn assign(proposal: &mut Proposal, mark: Option<i64>, is_fresh: impl Fn(&Add) -> bool) -> Result<()> {
    let mut mark = mark.unwrap_or(-1);
    let mut any = false;
    for add in proposal.adds.iter_mut().filter(|add| is_fresh(add)) {
        let wrong = |what: &str| Error::new(ErrorKind::InvalidArgument, what).with("path", add.path.as_str());
        let rows = add.stats.as_deref().and_then(num_records);
        let rows = rows
            .ok_or_else(|| wrong("row ids cannot be assigned to a file whose statistics lack numRecords"))?;
        let end = mark.checked_add(rows).filter(|end| *end < i64::MAX);
        let end = end.ok_or_else(|| wrong("the table has no unassigned row ids left"))?;
        add.base_row_id = Some(mark + 1);
        (mark, any) = (end, true);
    }
    let before = proposal.domains.len();
    proposal
        .domains
        .retain(|domain| domain.domain != row_tracking::DOMAIN);
    if any || proposal.domains.len() < before {
        proposal.domains.insert(0, high_water_mark_domain(mark));
    }
    Ok(())
}
