//! The conflict matrix: a column of named checks, in the order in which one conflict goes before another.
//!
//! A file counts by its path and whatever its vector. What a winner is checked against is the proposal as it was rebased
//! over the winners before it.

use std::collections::HashSet;

use deltaic_protocol::row_tracking;

use super::Conflict;
use super::attempt::{Attempt, Case};
use super::metadata_change::hindrance;
use super::protocol_change::dropped_feature;
use crate::changes::PartitionValues;
use crate::transaction::Winner;
use crate::transaction::proposal::key_of;
use crate::transaction::row_level::{SharedFile, shared_files};
use crate::transaction::winner::WinnerFile;

/// A check of the matrix by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Rule {
    Protocol,
    FeatureDrop,
    Metadata,
    Domains,
    Applications,
    RowIds,
    AddedFiles,
    AddedTwice,
    RemovedAndRead,
    RemovedTwice,
}

type Check = fn(&Case<'_>) -> Result<(), Conflict>;

/// The checks: the first that finds a conflict names it.
const CHECKS: [(Rule, Check); 10] = [
    // Before all others: whoever sees this conflict must not delete the file, because it is live.
    (Rule::AddedTwice, added_twice),
    (Rule::Protocol, protocol),
    (Rule::FeatureDrop, feature_drop),
    (Rule::Metadata, metadata),
    (Rule::Domains, domains),
    (Rule::Applications, applications),
    (Rule::RowIds, row_ids),
    (Rule::AddedFiles, added_files),
    (Rule::RemovedAndRead, removed_and_read),
    (Rule::RemovedTwice, removed_twice),
];

/// Checks a proposal against a commit that won its version.
///
/// There is no conflict where no file comes back. The files that do are changed by both: there is none if
/// [`unite`](crate::transaction::unite) finds for each of them that the rows are disjoint, and else the one that the file
/// holds.
pub fn check(attempt: &Attempt<'_>, winner: &Winner) -> Result<Vec<SharedFile>, Conflict> {
    check_without(&[], attempt, winner)
}

/// The same without some rules: what they are good for is shown by what goes wrong then.
pub(in super::super) fn check_without(
    without: &[Rule],
    attempt: &Attempt<'_>,
    winner: &Winner,
) -> Result<Vec<SharedFile>, Conflict> {
    let mut case = Case {
        attempt,
        winner,
        shared: HashSet::new(),
    };
    let shared = shared_files(&case);
    case.shared = shared.iter().map(|file| key_of(&file.path)).collect();
    for (rule, check) in CHECKS {
        if !without.contains(&rule) {
            check(&case)?;
        }
    }
    Ok(shared)
}

/// A new protocol is followed where it takes nothing away and we can do what it asks, unless we change it too.
fn protocol(case: &Case<'_>) -> Result<(), Conflict> {
    let Some(new) = &case.winner.protocol else {
        return Ok(());
    };
    let changed = |why: String| {
        Err(Conflict::ProtocolChanged {
            version: case.winner.version,
            why,
        })
    };
    let form = &case.attempt.base.form;
    if case.attempt.mine.protocol.is_some() {
        return changed("this operation changes it, too".to_owned());
    }
    if let Some(gone) = dropped_feature(&form.protocol, new) {
        return changed(format!("it has the feature {gone} no more"));
    }
    let metadata = case.winner.metadata.as_ref().unwrap_or(&form.metadata);
    let judged = metadata
        .schema()
        .and_then(|schema| (case.attempt.gate)(new, metadata, &schema));
    judged.or_else(|error| changed(error.what().to_owned()))
}

/// Who drops a feature must prove against every winner that the table does without it.
fn feature_drop(case: &Case<'_>) -> Result<(), Conflict> {
    let Attempt { mine, base, .. } = *case.attempt;
    let version = case.winner.version;
    let drops = mine
        .protocol
        .as_ref()
        .is_some_and(|new| dropped_feature(&base.form.protocol, new).is_some());
    if drops && mine.drop_proved_at.is_none_or(|proved| proved < version) {
        return Err(Conflict::DropUnproved { version });
    }
    Ok(())
}

/// New metadata are followed where nothing but allowed properties changed, unless we change them too.
fn metadata(case: &Case<'_>) -> Result<(), Conflict> {
    let Some(new) = &case.winner.metadata else {
        return Ok(());
    };
    let changed = |field: String| {
        Err(Conflict::MetadataChanged {
            version: case.winner.version,
            field,
        })
    };
    if case.attempt.base.form.metadata.id != new.id {
        return changed("id".to_owned());
    }
    if case.attempt.mine.metadata.is_some() {
        return changed("this operation changes them, too".to_owned());
    }
    // Marks of identity columns matter to those who generate values, and these bring metadata.
    if case.winner.is_identity_only {
        return Ok(());
    }
    hindrance(case.protocol(), &case.attempt.base.form.metadata, new).map_or(Ok(()), changed)
}

/// Two words for one domain do not go together; row ids are handed out anew.
fn domains(case: &Case<'_>) -> Result<(), Conflict> {
    let Attempt { mine, read, .. } = *case.attempt;
    let is_ours = |name: &str| read.has_domain(name) || mine.domains.iter().any(|ours| ours.domain == name);
    let mut names = case.winner.domains.iter().map(|theirs| theirs.domain.as_str());
    match names.find(|name| *name != row_tracking::DOMAIN && is_ours(name)) {
        Some(domain) => Err(Conflict::Domain {
            version: case.winner.version,
            domain: domain.to_owned(),
        }),
        None => Ok(()),
    }
}

/// Who has read how far an application has come must not commit once it has gone on, however far.
fn applications(case: &Case<'_>) -> Result<(), Conflict> {
    let mut txns = case.winner.txns.iter();
    match txns.find(|txn| case.attempt.read.has_app_id(&txn.app_id)) {
        Some(txn) => Err(Conflict::Application {
            version: case.winner.version,
            app_id: txn.app_id.clone(),
            reached: txn.version,
        }),
        None => Ok(()),
    }
}

/// Row ids cannot be taken away while they are given. The statistics that a file's new action needs are not at hand, so
/// files that got an id meanwhile are not taken care of here.
fn row_ids(case: &Case<'_>) -> Result<(), Conflict> {
    let winner = case.winner;
    let gives = |file: &WinnerFile| file.base_row_id.is_some() || file.default_row_commit_version.is_some();
    if case.attempt.mine.is_unbackfill() && (winner.is_backfill() || winner.adds.iter().any(gives)) {
        return Err(Conflict::RowIdsGiven {
            version: winner.version,
        });
    }
    Ok(())
}

/// No file came that would have been read.
fn added_files(case: &Case<'_>) -> Result<(), Conflict> {
    if !case.counts_added_files() {
        return Ok(());
    }
    let candidates: Vec<&WinnerFile> = case
        .winner
        .adds
        .iter()
        .filter(|file| !case.is_shared(&file.path))
        .collect();
    let partitions: Vec<&PartitionValues> = candidates.iter().map(|file| &file.partition_values).collect();
    let found = case.attempt.read.first_match(&partitions);
    match found.and_then(|at| candidates.get(at)) {
        Some(file) => Err(case.appended(file)),
        None => Ok(()),
    }
}

/// No file came that we bring as well: its rows would be there once, whatever of them is deleted meanwhile. A file that we
/// bring again goes first, and who gives or takes row ids brings no row.
fn added_twice(case: &Case<'_>) -> Result<(), Conflict> {
    let (mine, winner) = (case.attempt.mine, case.winner);
    let is_about_row_ids =
        mine.is_backfill() || mine.is_unbackfill() || winner.is_backfill() || winner.is_unbackfill();
    if winner.adds.is_empty() || mine.adds.is_empty() || is_about_row_ids {
        return Ok(());
    }
    let goes_first: HashSet<String> = mine.removes.iter().map(|remove| key_of(&remove.path)).collect();
    let came = winner.adds.iter().map(|file| key_of(&file.path));
    let came: HashSet<String> = came.filter(|path| !goes_first.contains(path)).collect();
    let mut ours = mine.adds.iter();
    match ours.find(|add| came.contains(&key_of(&add.path))) {
        Some(add) => Err(Conflict::AddedTwice {
            version: winner.version,
            path: add.path.clone(),
        }),
        None => Ok(()),
    }
}

/// No file went that was read.
fn removed_and_read(case: &Case<'_>) -> Result<(), Conflict> {
    let is_of_whole_table = case.attempt.read.is_of_whole_table();
    let mut paths = case.winner.removes.iter().map(|file| file.path.as_str());
    let found = paths.find(|path| is_of_whole_table || (case.was_read(path) && !case.is_shared(path)));
    found.map_or(Ok(()), |path| Err(case.removed_and_read(path)))
}

/// No file went that we remove.
fn removed_twice(case: &Case<'_>) -> Result<(), Conflict> {
    let removes = case.attempt.mine.removes.iter();
    let ours: HashSet<String> = removes.map(|remove| key_of(&remove.path)).collect();
    let mut paths = case.winner.removes.iter().map(|file| file.path.as_str());
    let found = paths.find(|path| ours.contains(&key_of(path)) && !case.is_shared(path));
    found.map_or(Ok(()), |path| Err(case.removed_twice(path)))
}
