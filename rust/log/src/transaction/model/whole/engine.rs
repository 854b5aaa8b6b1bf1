//! Runs a history with conflict detection on a log of actions: each transaction plans on its read version, is checked
//! against and rebased over every later winning commit, and commits.

use deltaic_protocol::Error;
use deltaic_protocol::ErrorKind::UnsupportedFeature;
use deltaic_protocol::actions::Add;

use super::super::actions::{came, went};
use super::log::{ALIEN, Log};
use super::operations::Operation;
use super::truth::TransactionOutcome;
use crate::transaction::conflict::{Attempt, Granularity, Rule, SupportCheck, check_without};
use crate::transaction::samples::version;
use crate::transaction::{
    IsolationLevel, ReadSet, WinningCommit, WinningFile, assign_row_ids, is_blind_append, rebase,
};

/// Rules under which a history runs.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) level: IsolationLevel,
    pub(super) without: Vec<Rule>,
}

/// Runs a history; returns the outcome of each transaction and the final table.
pub(super) fn run(
    start: &Log,
    operations: &[Operation],
    reads: &[usize],
    rules: &Rules,
) -> (Vec<TransactionOutcome>, Log) {
    let mut logs = vec![start.clone()];
    let mut winning_commits: Vec<WinningCommit> = Vec::new();
    let mut fates = Vec::new();
    for (number, (operation, read_at)) in operations.iter().zip(reads).enumerate() {
        // Transactions that did not commit created no version to read.
        let read_at = (*read_at).min(winning_commits.len());
        let seen = &logs[read_at];
        let Some(effect) = operation.effect(number, &seen.truth()) else {
            fates.push(TransactionOutcome::Refused);
            continue;
        };
        let mut proposal = seen.proposal(*operation, &effect);
        let mut base = seen.base(read_at);
        proposal.drop_proved_at = proposal.drop_proved_at.and_then(|_| base.version());
        if proposal.is_empty() {
            fates.push(TransactionOutcome::Empty);
            continue;
        }
        let mut read = ReadSet::try_new(&base.table).expect("they go together");
        operation.read(&mut read, seen.files.keys().map(String::as_str));
        read.read_files(proposal.removes.iter().map(|remove| remove.path.as_str()));
        let is_blind = is_blind_append(&proposal, &read);
        assign_row_ids(&mut proposal, &base).expect("the files have statistics");
        let support_check: SupportCheck = match operation.supports_alien() {
            true => |_| Ok(()),
            false => |table| match table
                .protocol()
                .writer_features
                .iter()
                .flatten()
                .any(|name| name == ALIEN)
            {
                true => Err(Error::new(UnsupportedFeature, "it is not supported")),
                false => Ok(()),
            },
        };
        let passes = winning_commits.iter().skip(read_at).all(|winning_commit| {
            let attempt = Attempt {
                proposal: &proposal,
                read: &read,
                base: &base,
                level: rules.level.of_commit(&proposal),
                granularity: Granularity::Files,
                support_check,
            };
            check_without(&rules.without, &attempt, winning_commit).is_ok()
                && rebase(&mut proposal, &mut base, winning_commit).is_ok()
        });
        if !passes {
            fates.push(TransactionOutcome::Lost);
            continue;
        }
        let mut log = logs.last().expect("there is a first").clone();
        let made = i64::try_from(winning_commits.len() + 1).expect("it is small");
        log.commit(&proposal, &effect, made);
        logs.push(log);
        winning_commits.push(WinningCommit {
            is_blind_append: is_blind,
            operation: Some(proposal.operation.name().to_owned()),
            protocol: proposal.protocol,
            metadata: proposal.metadata,
            txns: proposal.txns,
            domains: proposal.domains,
            adds: proposal.adds.into_iter().map(numbered).collect(),
            removes: proposal.removes.into_iter().map(went).collect(),
            ..WinningCommit::silent(version(made), 0)
        });
        fates.push(TransactionOutcome::Committed(effect));
    }
    (fates, logs.pop().expect("there is a first"))
}

fn numbered(add: Add) -> WinningFile {
    let (base_row_id, default_row_commit_version) = (add.base_row_id, add.default_row_commit_version);
    WinningFile {
        base_row_id,
        default_row_commit_version,
        ..came(add)
    }
}
