//! A table as a log of actions: converts effects to proposals and commits them as versions.

use std::collections::BTreeMap;

use deltaic_protocol::actions::{Add, DomainMetadata, Metadata, Protocol, Remove};
use deltaic_protocol::row_tracking::DOMAIN;

use super::operations::{Operation, app_name, domain_name};
use super::truth::{Cell, ENABLED, Effect, Row, SUPPORTED, SUSPENDED, Truth};
use crate::transaction::samples::{base, domain, metadata, protocol, txn, version};
use crate::transaction::{Base, Proposal, WinningCommit, assign_row_ids};

pub(super) const ALIEN: &str = "generatedColumns";
const CONSTRAINT: &str = "delta.constraints.c";

/// A table reconstructed from its log. Each file contains one row.
#[derive(Clone, Debug)]
pub(super) struct Log {
    pub(super) files: BTreeMap<String, (Row, Add)>,
    pub(super) protocol: Protocol,
    pub(super) metadata: Metadata,
    apps: BTreeMap<String, i64>,
    domains: BTreeMap<String, DomainMetadata>,
    mark: Option<i64>,
    /// Description of an invalid log or of violated row-id guarantees, if any.
    pub(super) broken: Option<String>,
}

impl Log {
    /// Returns a table with the rows and state of a truth.
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
        let mut proposal = log.proposal(Operation::Insert(0), &start);
        // Rows without ids predate the feature.
        if truth.rows.iter().all(|(_, has_id)| *has_id) {
            assign_row_ids(&mut proposal, &log.base(0)).expect("the files have statistics");
            for add in &mut proposal.adds {
                add.default_row_commit_version = add.default_row_commit_version.map(|_| 0);
            }
        }
        log.commit(&proposal, &start, 0);
        assert_eq!(log.truth(), *truth, "the log differs from its start state");
        log
    }

    /// Returns a table with suspended row tracking whose files still have row ids.
    pub(super) fn of_suspended(truth: &Truth) -> Self {
        let mut supported = truth.clone();
        supported.cells.insert(Cell::Ids, SUPPORTED);
        let mut log = Self::of(&supported);
        let suspend = Effect {
            set: [(Cell::Ids, SUSPENDED)].into(),
            ..Effect::default()
        };
        let proposal = log.proposal(Operation::SuspendIds, &suspend);
        log.commit(&proposal, &suspend, 0);
        log
    }

    /// Returns the table as plain values.
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

    pub(super) fn base(&self, number: usize) -> Base {
        Base {
            next: version(i64::try_from(number + 1).expect("it is small")),
            high_water_mark: self.mark,
            ..base(self.protocol.clone(), self.metadata.clone())
        }
    }

    /// Converts an effect to actions.
    pub(super) fn proposal(&self, operation: Operation, effect: &Effect) -> Proposal {
        let mut proposal = Proposal {
            operation: operation.kind(),
            ..Proposal::default()
        };
        for (row, add) in self.files.values() {
            let numbers = effect
                .numbers
                .is_some_and(|gets| gets != add.base_row_id.is_some());
            if effect.gone.contains(row) {
                proposal.removes.push(Remove::of(add, 0));
            } else if numbers || (effect.rewrites && row.key == 0) {
                let mut again = Add {
                    data_change: false,
                    ..add.clone()
                };
                if effect.numbers == Some(false) {
                    (again.base_row_id, again.default_row_commit_version) = (None, None);
                }
                proposal.adds.push(again);
            }
        }
        proposal.adds.extend(effect.come.iter().map(new_file));
        for (cell, value) in &effect.set {
            self.set(&mut proposal, *cell, *value);
        }
        proposal
    }

    fn set(&self, proposal: &mut Proposal, cell: Cell, value: u8) {
        match cell {
            Cell::Constraint => {
                self.set_property(proposal, CONSTRAINT, (value > 0).then(|| "p <> 1".to_owned()))
            }
            Cell::Note => self.set_property(proposal, "note", Some(value.to_string())),
            Cell::Vectors => {
                let value = (value > 0).then(|| "true".to_owned());
                self.set_property(proposal, "delta.enableDeletionVectors", value);
            }
            Cell::Alien => self.set_feature(proposal, ALIEN, true),
            Cell::Domains => {
                self.set_feature(proposal, "domainMetadata", value > 0);
                proposal.drop_proved_at = (value == 0).then(|| version(0));
            }
            Cell::Ids => {
                if !self.features().any(|feature| feature == "rowTracking") {
                    self.set_feature(proposal, "rowTracking", true);
                }
                if value == ENABLED {
                    self.set_property(proposal, "delta.enableRowTracking", Some("true".to_owned()));
                    for name in ["RowIdColumnName", "RowCommitVersionColumnName"] {
                        let key = format!("delta.rowTracking.materialized{name}");
                        self.set_property(proposal, &key, Some(format!("_{name}")));
                    }
                } else if value == SUSPENDED {
                    self.set_property(proposal, "delta.rowTrackingSuspended", Some("true".to_owned()));
                }
            }
            Cell::App(at) => proposal.txns.push(txn(&app_name(at), i64::from(value))),
            // A domain that does not exist is not removed.
            Cell::Domain(at) if value == 0 && !self.domains.contains_key(&domain_name(at)) => {}
            Cell::Domain(at) => proposal.domains.push(DomainMetadata {
                configuration: value.to_string(),
                removed: value == 0,
                ..domain(&domain_name(at))
            }),
        }
    }

    fn set_property(&self, proposal: &mut Proposal, key: &str, value: Option<String>) {
        let metadata = proposal.metadata.get_or_insert_with(|| self.metadata.clone());
        match value {
            None => metadata.configuration.remove(key),
            value => metadata.configuration.insert(key.to_owned(), value),
        };
    }

    fn set_feature(&self, proposal: &mut Proposal, name: &str, is_there: bool) {
        let protocol = proposal.protocol.get_or_insert_with(|| self.protocol.clone());
        let features = protocol.writer_features.get_or_insert_default();
        features.retain(|feature| feature != name);
        features.extend(is_there.then(|| name.to_owned()));
    }

    /// Applies a commit as version `number`.
    pub(super) fn commit(&mut self, proposal: &Proposal, effect: &Effect, number: i64) {
        if let Some(protocol) = &proposal.protocol {
            self.protocol = protocol.clone();
        }
        if let Some(metadata) = &proposal.metadata {
            self.metadata = metadata.clone();
        }
        for txn in &proposal.txns {
            self.apps.insert(txn.app_id.clone(), txn.version);
        }
        for domain in &proposal.domains {
            if domain.domain == DOMAIN {
                self.mark = WinningCommit {
                    domains: vec![domain.clone()],
                    ..WinningCommit::silent(version(number), 0)
                }
                .high_water_mark()
                .expect("it was just written");
            } else if domain.removed {
                self.domains.remove(&domain.domain);
            } else {
                self.domains.insert(domain.domain.clone(), domain.clone());
            }
        }
        for remove in &proposal.removes {
            if self.files.remove(&remove.path).is_none() {
                self.broken = Some(format!("{} is removed but not live", remove.path));
            }
        }
        for add in &proposal.adds {
            let known = self.files.get(&add.path).map(|(row, _)| *row);
            let new = effect.come.iter().find(|row| new_file(row).path == add.path);
            let Some(row) = known.or(new.copied()) else {
                self.broken = Some(format!("{} is added again but not live", add.path));
                continue;
            };
            if known.is_none() && add.default_row_commit_version.is_some_and(|of| of != number) {
                self.broken = Some(format!("{} has another version: {add:?}", add.path));
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
            self.broken = Some(format!(
                "row ids {ids:?}, but the high water mark is {:?}",
                self.mark
            ));
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
