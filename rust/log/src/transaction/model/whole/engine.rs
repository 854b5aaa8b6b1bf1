//! Runs a history with conflict detection on a log of actions: each transaction plans on its read version, is checked
//! against and rebased over every later winning commit, and commits.

use deltaic_protocol::Error;
use deltaic_protocol::ErrorKind::UnsupportedFeature;
use deltaic_protocol::actions::Add;

use super::super::actions::{came, went};
use super::log::{ALIEN, Log};
use super::operations::Operation;
use super::truth::Fate;
use crate::transaction::conflict::{Attempt, Gate, Granularity, Rule, check_without};
use crate::transaction::samples::version;
use crate::transaction::{
    IsolationLevel, ReadSet, Winner, WinnerFile, hand_out_row_ids, is_blind_append, rebase,
};

/// Rules under which a history runs.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) level: IsolationLevel,
    pub(super) without: Vec<Rule>,
}

/// Runs a history; returns the outcome of each transaction and the final table.
pub(super) fn run(start: &Log, operations: &[Operation], reads: &[usize], rules: &Rules) -> (Vec<Fate>, Log) {
    let mut logs = vec![start.clone()];
    let mut winners: Vec<Winner> = Vec::new();
    let mut fates = Vec::new();
    for (number, (operation, read_at)) in operations.iter().zip(reads).enumerate() {
        // Transactions that did not commit created no version to read.
        let read_at = (*read_at).min(winners.len());
        let seen = &logs[read_at];
        let Some(effect) = operation.effect(number, &seen.truth()) else {
            fates.push(Fate::Refused);
            continue;
        };
        let mut mine = seen.proposal(*operation, &effect);
        let mut base = seen.base(read_at);
        mine.drop_proved_at = mine.drop_proved_at.and_then(|_| base.version());
        if mine.is_empty() {
            fates.push(Fate::Empty);
            continue;
        }
        let mut read = ReadSet::try_new(&base.table).expect("they go together");
        operation.read(&mut read, seen.files.keys().map(String::as_str));
        read.read_files(mine.removes.iter().map(|remove| remove.path.as_str()));
        let is_blind = is_blind_append(&mine, &read);
        hand_out_row_ids(&mut mine, &base).expect("the files have statistics");
        let gate: Gate = match operation.supports_alien() {
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
        let passes = winners.iter().skip(read_at).all(|winner| {
            let attempt = Attempt {
                mine: &mine,
                read: &read,
                base: &base,
                level: rules.level.of_commit(&mine),
                granularity: Granularity::Files,
                gate,
            };
            check_without(&rules.without, &attempt, winner).is_ok()
                && rebase(&mut mine, &mut base, winner).is_ok()
        });
        if !passes {
            fates.push(Fate::Lost);
            continue;
        }
        let mut log = logs.last().expect("there is a first").clone();
        let made = i64::try_from(winners.len() + 1).expect("it is small");
        log.commit(&mine, &effect, made);
        logs.push(log);
        winners.push(Winner {
            is_blind_append: is_blind,
            operation: Some(mine.operation.name().to_owned()),
            protocol: mine.protocol,
            metadata: mine.metadata,
            txns: mine.txns,
            domains: mine.domains,
            adds: mine.adds.into_iter().map(numbered).collect(),
            removes: mine.removes.into_iter().map(went).collect(),
            ..Winner::silent(version(made), 0)
        });
        fates.push(Fate::Committed(effect));
    }
    (fates, logs.pop().expect("there is a first"))
}

fn numbered(add: Add) -> WinnerFile {
    let (base_row_id, default_row_commit_version) = (add.base_row_id, add.default_row_commit_version);
    WinnerFile {
        base_row_id,
        default_row_commit_version,
        ..came(add)
    }
}
