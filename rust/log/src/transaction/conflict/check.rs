//! The conflict matrix: named checks, in order of precedence.
//!
//! Files are compared by path, regardless of their deletion vectors. A winning commit is checked against the
//! proposal as rebased over the winning commits before it.

use std::collections::HashSet;

use deltaic_protocol::row_tracking;

use super::attempt::{Attempt, Case};
use super::cause::ConflictCause;
use super::metadata_change::hindrance;
use super::row_level::SharedFile;
use super::shared_files::shared_files;
use crate::transaction::WinningCommit;
use crate::transaction::proposal::key_of;
use crate::transaction::rebase::dropped_feature;
use crate::transaction::winning_commit::WinningFile;

/// A check of the matrix, with its name.
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
    AnyCommit,
}

type Check = fn(&Case<'_>) -> Result<(), ConflictCause>;

/// The checks in order: the first conflict that is found is reported.
const CHECKS: [(Rule, Check); 11] = [
    // First, because after this conflict the writer must not delete the file: it is live.
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
    // Last, because the other conflicts are more specific.
    (Rule::AnyCommit, any_commit),
];

/// Checks a proposal against the winning commit of its version.
///
/// Without a conflict, returns the files whose rows both commits delete. For each of them, there is no conflict if
/// [`unite`](crate::transaction::unite) finds that the rows are disjoint; otherwise the conflict is the one in the
/// returned file.
pub fn check(
    attempt: &Attempt<'_>,
    winning_commit: &WinningCommit,
) -> Result<Vec<SharedFile>, ConflictCause> {
    check_without(&[], attempt, winning_commit)
}

/// As [`check`], but without some rules: the tests of the models show what each rule prevents.
pub(in super::super) fn check_without(
    without: &[Rule],
    attempt: &Attempt<'_>,
    winning_commit: &WinningCommit,
) -> Result<Vec<SharedFile>, ConflictCause> {
    let mut case = Case {
        attempt,
        winning_commit,
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

/// A new protocol is compatible if it removes nothing, deltaic supports it, and this commit does not change it too.
fn protocol(case: &Case<'_>) -> Result<(), ConflictCause> {
    let Some(new) = &case.winning_commit.protocol else {
        return Ok(());
    };
    let changed = |why: String| {
        Err(ConflictCause::ProtocolChanged {
            version: case.winning_commit.version,
            why,
        })
    };
    let table = &case.attempt.base.table;
    if case.attempt.proposal.protocol.is_some() {
        return changed("this operation also changes it".to_owned());
    }
    if let Some(gone) = dropped_feature(table.protocol(), new) {
        return changed(format!("it no longer has the feature {gone}"));
    }
    let after = table.after(
        Some(new),
        case.winning_commit.metadata.as_ref(),
        &case.winning_commit.domains,
    );
    let checked = after.schema().and_then(|_| (case.attempt.support_check)(&after));
    checked.or_else(|error| changed(error.what().to_owned()))
}

/// A commit that drops a feature must verify for each winning commit that the table does not use the feature.
fn feature_drop(case: &Case<'_>) -> Result<(), ConflictCause> {
    let Attempt { proposal, base, .. } = *case.attempt;
    let version = case.winning_commit.version;
    let drops = proposal
        .protocol
        .as_ref()
        .is_some_and(|new| dropped_feature(base.table.protocol(), new).is_some());
    if drops && proposal.drop_proved_at.is_none_or(|proved| proved < version) {
        return Err(ConflictCause::DropUnproved { version });
    }
    Ok(())
}

/// New metadata is compatible if only allowed properties changed and this commit does not change metadata too.
fn metadata(case: &Case<'_>) -> Result<(), ConflictCause> {
    let Some(new) = &case.winning_commit.metadata else {
        return Ok(());
    };
    let changed = |field: String| {
        Err(ConflictCause::MetadataChanged {
            version: case.winning_commit.version,
            field,
        })
    };
    if case.attempt.base.table.metadata().id != new.id {
        return changed("id".to_owned());
    }
    if case.attempt.proposal.metadata.is_some() {
        return changed("this operation also changes it".to_owned());
    }
    // Identity column state concerns only writers that generate values, and those change metadata themselves.
    if case.winning_commit.is_identity_only {
        return Ok(());
    }
    hindrance(case.protocol(), case.attempt.base.table.metadata(), new).map_or(Ok(()), changed)
}

/// Two changes of one domain conflict; row ids are assigned again instead.
fn domains(case: &Case<'_>) -> Result<(), ConflictCause> {
    let Attempt { proposal, read, .. } = *case.attempt;
    let is_ours =
        |name: &str| read.has_domain(name) || proposal.domains.iter().any(|ours| ours.domain == name);
    let mut names = case
        .winning_commit
        .domains
        .iter()
        .map(|theirs| theirs.domain.as_str());
    match names.find(|name| *name != row_tracking::DOMAIN && is_ours(name)) {
        Some(domain) => Err(ConflictCause::Domain {
            version: case.winning_commit.version,
            domain: domain.to_owned(),
        }),
        None => Ok(()),
    }
}

/// A commit that read an application's version conflicts with any newer version of it.
fn applications(case: &Case<'_>) -> Result<(), ConflictCause> {
    let mut txns = case.winning_commit.txns.iter();
    match txns.find(|txn| case.attempt.read.has_app_id(&txn.app_id)) {
        Some(txn) => Err(ConflictCause::Application {
            version: case.winning_commit.version,
            app_id: txn.app_id.clone(),
            reached: txn.version,
        }),
        None => Ok(()),
    }
}

/// Row ids cannot be removed while another commit assigns them. The statistics that a new action of a file needs are
/// not available here, so files that got ids concurrently cannot be updated.
fn row_ids(case: &Case<'_>) -> Result<(), ConflictCause> {
    let winning_commit = case.winning_commit;
    let gives = |file: &WinningFile| file.base_row_id.is_some() || file.default_row_commit_version.is_some();
    if case.attempt.proposal.is_unbackfill()
        && (winning_commit.is_backfill() || winning_commit.adds.iter().any(gives))
    {
        return Err(ConflictCause::RowIdsGiven {
            version: winning_commit.version,
        });
    }
    Ok(())
}

/// Verifies that the winning commit added no file that this commit would have read.
fn added_files(case: &Case<'_>) -> Result<(), ConflictCause> {
    if !case.counts_added_files() {
        return Ok(());
    }
    let candidates: Vec<&WinningFile> = case
        .winning_commit
        .adds
        .iter()
        .filter(|file| !case.is_shared(&file.path))
        .collect();
    let found = case.attempt.read.first_match(&candidates);
    match found.and_then(|at| candidates.get(at)) {
        Some(file) => Err(case.appended(file)),
        None => Ok(()),
    }
}

/// Verifies that the winning commit added no file that this commit also adds: its rows would exist only once, even if
/// one of the commits deleted some. Does not apply to a file that this commit removes and adds again, nor to assigning
/// or removing row ids.
fn added_twice(case: &Case<'_>) -> Result<(), ConflictCause> {
    let (proposal, winning_commit) = (case.attempt.proposal, case.winning_commit);
    let is_about_row_ids = proposal.is_backfill()
        || proposal.is_unbackfill()
        || winning_commit.is_backfill()
        || winning_commit.is_unbackfill();
    if winning_commit.adds.is_empty() || proposal.adds.is_empty() || is_about_row_ids {
        return Ok(());
    }
    let goes_first: HashSet<String> = proposal
        .removes
        .iter()
        .map(|remove| key_of(&remove.path))
        .collect();
    let came = winning_commit.adds.iter().map(|file| key_of(&file.path));
    let came: HashSet<String> = came.filter(|path| !goes_first.contains(path)).collect();
    let mut ours = proposal.adds.iter();
    match ours.find(|add| came.contains(&key_of(&add.path))) {
        Some(add) if proposal.is_about_statistics() => Err(ConflictCause::AddedAgain {
            version: winning_commit.version,
            path: add.path.clone(),
        }),
        Some(add) => Err(ConflictCause::AddedTwice {
            version: winning_commit.version,
            path: add.path.clone(),
        }),
        None => Ok(()),
    }
}

/// Verifies that the winning commit removed no file that this commit read.
fn removed_and_read(case: &Case<'_>) -> Result<(), ConflictCause> {
    let is_of_whole_table = case.attempt.read.is_of_whole_table();
    let mut paths = case.winning_commit.removes.iter().map(|file| file.path.as_str());
    let found = paths.find(|path| is_of_whole_table || (case.was_read(path) && !case.is_shared(path)));
    found.map_or(Ok(()), |path| Err(case.removed_and_read(path)))
}

/// Verifies that the winning commit removed no file that this commit also removes.
fn removed_twice(case: &Case<'_>) -> Result<(), ConflictCause> {
    let removes = case.attempt.proposal.removes.iter();
    let ours: HashSet<String> = removes.map(|remove| key_of(&remove.path)).collect();
    let mut paths = case.winning_commit.removes.iter().map(|file| file.path.as_str());
    let found = paths.find(|path| ours.contains(&key_of(path)) && !case.is_shared(path));
    found.map_or(Ok(()), |path| Err(case.removed_twice(path)))
}

/// A commit that is only valid directly after the version that it read conflicts with every other commit.
fn any_commit(case: &Case<'_>) -> Result<(), ConflictCause> {
    match case.attempt.read.requires_version() {
        true => Err(ConflictCause::AnyCommit {
            version: case.winning_commit.version,
            operation: case.winning_commit.operation.clone(),
        }),
        false => Ok(()),
    }
}
