//! Finds the files that two commits both changed, and whose deleted rows must be compared.

use std::collections::HashMap;

use deltaic_protocol::actions::{Add, Remove};
use deltaic_protocol::statistics::num_records;

use super::attempt::{Case, Granularity};
use super::row_level::{SharedFile, vector_key};
use crate::transaction::proposal::{DecidedBy, key_of};
use crate::transaction::winning_commit::WinningFile;

/// Files that conflict at file granularity and whose deleted rows must be compared.
pub(super) fn shared_files(case: &Case<'_>) -> Vec<SharedFile> {
    if case.attempt.granularity == Granularity::Files {
        return Vec::new();
    }
    let proposal = case.attempt.proposal;
    let went = case
        .winning_commit
        .removes
        .iter()
        .map(|file| (key_of(&file.path), file));
    let removes = proposal
        .removes
        .iter()
        .map(|remove| (key_of(&remove.path), remove));
    let adds = proposal.adds.iter().map(|add| (key_of(&add.path), add));
    let (went, removes, adds): (HashMap<_, _>, HashMap<_, _>, HashMap<_, _>) =
        (went.collect(), removes.collect(), adds.collect());
    let shared = case.winning_commit.adds.iter().filter_map(|came| {
        let key = key_of(&came.path);
        let ours = (removes.get(&key).copied(), adds.get(&key).copied());
        shared_file(case, (went.get(&key)?, came), ours)
    });
    shared.collect()
}

/// Returns a file that the winning commit removed and added again with a deletion vector, if row-level checks apply.
fn shared_file(
    case: &Case<'_>,
    (went, came): (&WinningFile, &WinningFile),
    ours: (Option<&Remove>, Option<&Add>),
) -> Option<SharedFile> {
    let path = came.path.as_str();
    let winning = came.deletion_vector.clone()?;
    let base = went.deletion_vector.clone();
    let proposed = match ours {
        (None, None) => None,
        // Both commits must remove the same logical file, and add it again with a deletion vector.
        (Some(remove), Some(add))
            if vector_key(remove.deletion_vector.as_ref()) == vector_key(base.as_ref()) =>
        {
            Some(add.deletion_vector.clone()?)
        }
        _ => return None,
    };
    let removed = match (case.was_read(path), &proposed) {
        (true, _) => Some(case.removed_and_read(path)),
        (false, Some(_)) => Some(case.removed_twice(path)),
        (false, None) => None,
    };
    let otherwise = match (removed, case.attempt.proposal.decided_by) {
        (Some(conflict), DecidedBy::Row) => conflict,
        // A deleted row may have determined the change of another row.
        (Some(_), DecidedBy::Table) => return None,
        (None, _) if case.counts_added_files() && case.attempt.read.matches(came) => case.appended(came),
        (None, _) => return None,
    };
    let stats = ours.1.and_then(|add| add.stats.as_deref());
    Some(SharedFile {
        path: path.to_owned(),
        base,
        winning,
        proposed,
        read: case.attempt.read.rows_of(path),
        num_records: stats
            .and_then(num_records)
            .and_then(|records| records.try_into().ok()),
        otherwise,
    })
}
