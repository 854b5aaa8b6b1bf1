//! Runs a history through the checks, on a log of actions: each transaction plans on the version that it has read, is checked
//! against every winner since, is rebased over it and commits.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::Error;
use deltaic_protocol::ErrorKind::UnsupportedFeature;
use deltaic_protocol::actions::{Add, DomainMetadata, Metadata, Protocol, Remove};
use deltaic_protocol::row_tracking::DOMAIN;

use super::super::actions::{came, went};
use super::operations::{Operation, app_name, domain_name};
use super::truth::{Cell, ENABLED, Effect, Fate, Row, SUPPORTED, SUSPENDED, Truth};
use crate::changes::TableForm;
use crate::transaction::conflict::{Attempt, Gate, Granularity, Rule, check_without};
use crate::transaction::samples::{base, domain, metadata, protocol, txn, version};
use crate::transaction::{
    Base, IsolationLevel, Proposal, ReadSet, Winner, WinnerFile, hand_out_row_ids, is_blind_append, rebase,
};

const ALIEN: &str = "generatedColumns";
const CONSTRAINT: &str = "delta.constraints.c";

/// Under which rules a history runs.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) level: IsolationLevel,
    pub(super) without: Vec<Rule>,
}

/// A table as its log has it. A file holds one row.
#[derive(Clone, Debug)]
pub(super) struct Log {
    files: BTreeMap<String, (Row, Add)>,
    protocol: Protocol,
    metadata: Metadata,
    apps: BTreeMap<String, i64>,
    domains: BTreeMap<String, DomainMetadata>,
    mark: Option<i64>,
    /// What a reader could not follow, or what breaks a promise of row ids.
    pub(super) broken: Option<String>,
}

impl Log {
    /// A table that holds a truth, with vectors and domains supported as far as that says.
    pub(super) fn of(truth: &Truth) -> Self {
        let mut log = Self {
            files: BTreeMap::new(),
            protocol: protocol(&["deletionVectors", "checkConstraints"]),
            metadata: metadata(&[], &[]),
            apps: BTreeMap::new(),
            domains: BTreeMap::new(),
            mark: None,
            broken: None,
        };
        let start = Effect {
            come: truth.rows.iter().map(|(row, _)| *row).collect(),
            set: truth.cells.clone(),
            ..Effect::default()
        };
        let mut mine = log.proposal(Operation::Insert(0), &start);
        // Rows without ids are older than the feature.
        if truth.rows.iter().all(|(_, has_id)| *has_id) {
            hand_out_row_ids(&mut mine, &log.base(0)).expect("the files have statistics");
            for add in &mut mine.adds {
                add.default_row_commit_version = add.default_row_commit_version.map(|_| 0);
            }
        }
        log.commit(&mine, &start, 0);
        assert_eq!(log.truth(), *truth, "it begins as it is to");
        log
    }

    /// A table whose row tracking is suspended, and whose files have their ids still.
    pub(super) fn of_suspended(truth: &Truth) -> Self {
        let mut supported = truth.clone();
        supported.cells.insert(Cell::Ids, SUPPORTED);
        let mut log = Self::of(&supported);
        let suspend = Effect {
            set: [(Cell::Ids, SUSPENDED)].into(),
            ..Effect::default()
        };
        let mine = log.proposal(Operation::SuspendIds, &suspend);
        log.commit(&mine, &suspend, 0);
        log
    }

    /// The table as plain values.
    pub(super) fn truth(&self) -> Truth {
        let mut truth = Truth::default();
        let files = self.files.values();
        truth.rows = files
            .map(|(row, add)| (*row, add.base_row_id.is_some()))
            .collect();
        truth.rows.sort_unstable();
        let property = |key: &str| self.metadata.property(key).unwrap_or_default();
        let has = |name: &str| u8::from(self.features().any(|feature| feature == name));
        let ids = match (has("rowTracking"), property("delta.enableRowTracking")) {
            (0, _) => 0,
            _ if property("delta.rowTrackingSuspended") == "true" => SUSPENDED,
            (_, "true") => ENABLED,
            _ => SUPPORTED,
        };
        let mut cells = vec![
            (Cell::Constraint, u8::from(!property(CONSTRAINT).is_empty())),
            (Cell::Note, property("note").parse().unwrap_or(0)),
            (
                Cell::Vectors,
                u8::from(property("delta.enableDeletionVectors") == "true"),
            ),
            (Cell::Alien, has(ALIEN)),
            (Cell::Domains, has("domainMetadata")),
            (Cell::Ids, ids),
        ];
        for at in 0..2 {
            let app = self.apps.get(&app_name(at)).copied().unwrap_or(0);
            cells.push((Cell::App(at), u8::try_from(app).unwrap_or(0)));
            let known = self.domains.get(&domain_name(at));
            let value = known.and_then(|domain| domain.configuration.parse().ok());
            cells.push((Cell::Domain(at), value.unwrap_or(0)));
        }
        truth.cells = cells.into_iter().filter(|(_, value)| *value > 0).collect();
        truth
    }

    fn features(&self) -> impl Iterator<Item = &str> {
        self.protocol.writer_features.iter().flatten().map(String::as_str)
    }

    fn base(&self, number: usize) -> Base {
        Base {
            version: version(i64::try_from(number).expect("it is small")),
            form: TableForm {
                protocol: Arc::new(self.protocol.clone()),
                metadata: Arc::new(self.metadata.clone()),
            },
            high_water_mark: self.mark,
            ..base(self.protocol.clone(), self.metadata.clone())
        }
    }

    /// An effect as actions.
    fn proposal(&self, operation: Operation, effect: &Effect) -> Proposal {
        let mut mine = Proposal {
            operation: operation.kind(),
            ..Proposal::default()
        };
        for (row, add) in self.files.values() {
            let numbers = effect
                .numbers
                .is_some_and(|gets| gets != add.base_row_id.is_some());
            if effect.gone.contains(row) {
                mine.removes.push(Remove::of(add, 0));
            } else if numbers || (effect.rewrites && row.key == 0) {
                let mut again = Add {
                    data_change: false,
                    ..add.clone()
                };
                if effect.numbers == Some(false) {
                    (again.base_row_id, again.default_row_commit_version) = (None, None);
                }
                mine.adds.push(again);
            }
        }
        mine.adds.extend(effect.come.iter().map(new_file));
        for (cell, value) in &effect.set {
            self.set(&mut mine, *cell, *value);
        }
        mine
    }

    fn set(&self, mine: &mut Proposal, cell: Cell, value: u8) {
        match cell {
            Cell::Constraint => self.set_property(mine, CONSTRAINT, (value > 0).then(|| "p <> 1".to_owned())),
            Cell::Note => self.set_property(mine, "note", Some(value.to_string())),
            Cell::Vectors => {
                let value = (value > 0).then(|| "true".to_owned());
                self.set_property(mine, "delta.enableDeletionVectors", value);
            }
            Cell::Alien => self.set_feature(mine, ALIEN, true),
            Cell::Domains => {
                self.set_feature(mine, "domainMetadata", value > 0);
                mine.drop_proved_at = (value == 0).then(|| version(0));
            }
            Cell::Ids => {
                if !self.features().any(|feature| feature == "rowTracking") {
                    self.set_feature(mine, "rowTracking", true);
                }
                if value == ENABLED {
                    self.set_property(mine, "delta.enableRowTracking", Some("true".to_owned()));
                    for name in ["RowIdColumnName", "RowCommitVersionColumnName"] {
                        let key = format!("delta.rowTracking.materialized{name}");
                        self.set_property(mine, &key, Some(format!("_{name}")));
                    }
                } else if value == SUSPENDED {
                    self.set_property(mine, "delta.rowTrackingSuspended", Some("true".to_owned()));
                }
            }
            Cell::App(at) => mine.txns.push(txn(&app_name(at), i64::from(value))),
            // What is not there is not removed.
            Cell::Domain(at) if value == 0 && !self.domains.contains_key(&domain_name(at)) => {}
            Cell::Domain(at) => mine.domains.push(DomainMetadata {
                configuration: value.to_string(),
                removed: value == 0,
                ..domain(&domain_name(at))
            }),
        }
    }

    fn set_property(&self, mine: &mut Proposal, key: &str, value: Option<String>) {
        let metadata = mine.metadata.get_or_insert_with(|| self.metadata.clone());
        match value {
            None => metadata.configuration.remove(key),
            value => metadata.configuration.insert(key.to_owned(), value),
        };
    }

    fn set_feature(&self, mine: &mut Proposal, name: &str, is_there: bool) {
        let protocol = mine.protocol.get_or_insert_with(|| self.protocol.clone());
        let features = protocol.writer_features.get_or_insert_default();
        features.retain(|feature| feature != name);
        features.extend(is_there.then(|| name.to_owned()));
    }

    /// Takes in a commit that makes a version.
    fn commit(&mut self, mine: &Proposal, effect: &Effect, number: i64) {
        if let Some(protocol) = &mine.protocol {
            self.protocol = protocol.clone();
        }
        if let Some(metadata) = &mine.metadata {
            self.metadata = metadata.clone();
        }
        for txn in &mine.txns {
            self.apps.insert(txn.app_id.clone(), txn.version);
        }
        for domain in &mine.domains {
            if domain.domain == DOMAIN {
                self.mark = Winner {
                    domains: vec![domain.clone()],
                    ..Winner::silent(version(number), 0)
                }
                .high_water_mark()
                .expect("it was just written");
            } else if domain.removed {
                self.domains.remove(&domain.domain);
            } else {
                self.domains.insert(domain.domain.clone(), domain.clone());
            }
        }
        for remove in &mine.removes {
            if self.files.remove(&remove.path).is_none() {
                self.broken = Some(format!("{} is removed and is not there", remove.path));
            }
        }
        for add in &mine.adds {
            let known = self.files.get(&add.path).map(|(row, _)| *row);
            let new = effect.come.iter().find(|row| new_file(row).path == add.path);
            let Some(row) = known.or(new.copied()) else {
                self.broken = Some(format!("{} is written again and is not there", add.path));
                continue;
            };
            if known.is_none() && add.default_row_commit_version.is_some_and(|of| of != number) {
                self.broken = Some(format!("{} is of another version: {add:?}", add.path));
            }
            self.files.insert(add.path.clone(), (row, add.clone()));
        }
        let mut ids: Vec<i64> = self
            .files
            .values()
            .filter_map(|(_, add)| add.base_row_id)
            .collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) || ids.last().copied() > self.mark {
            self.broken = Some(format!("row ids {ids:?}, and the mark is {:?}", self.mark));
        }
    }
}

fn new_file(row: &Row) -> Add {
    Add {
        path: format!("{}-{}", row.key, row.value),
        size: 1,
        data_change: true,
        stats: Some(r#"{"numRecords":1}"#.to_owned()),
        ..Add::default()
    }
}

/// Runs a history: what became of each transaction, and the table in the end.
pub(super) fn run(start: &Log, operations: &[Operation], reads: &[usize], rules: &Rules) -> (Vec<Fate>, Log) {
    let mut logs = vec![start.clone()];
    let mut winners: Vec<Winner> = Vec::new();
    let mut fates = Vec::new();
    for (number, (operation, read_at)) in operations.iter().zip(reads).enumerate() {
        // Who did not commit left no version to read.
        let read_at = (*read_at).min(winners.len());
        let seen = &logs[read_at];
        let Some(effect) = operation.effect(number, &seen.truth()) else {
            fates.push(Fate::Refused);
            continue;
        };
        let mut mine = seen.proposal(*operation, &effect);
        let mut base = seen.base(read_at);
        mine.drop_proved_at = mine.drop_proved_at.map(|_| base.version);
        if mine.is_empty() {
            fates.push(Fate::Empty);
            continue;
        }
        let mut read = ReadSet::try_new(&seen.protocol, &seen.metadata).expect("they go together");
        operation.read(&mut read, seen.files.keys().map(String::as_str));
        read.read_files(mine.removes.iter().map(|remove| remove.path.as_str()));
        let is_blind = is_blind_append(&mine, &read);
        hand_out_row_ids(&mut mine, &base).expect("the files have statistics");
        let gate: Gate = match operation.supports_alien() {
            true => |_, _, _| Ok(()),
            false => |protocol, _, _| match protocol
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
