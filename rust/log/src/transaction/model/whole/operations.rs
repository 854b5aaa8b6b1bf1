//! Operations on rows, metadata, protocol, application transactions, domain metadata and row ids.

use super::truth::{Cell, ENABLED, Effect, Row, SUPPORTED, SUSPENDED, Truth};
use crate::transaction::ReadSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Inserts a row unconditionally.
    Insert(u8),
    InsertIfAbsent(u8),
    Delete(u8),
    /// Forbids rows with key 1, after checking all rows.
    AddConstraint,
    /// Increments the property.
    Count,
    /// Sets the property to a value derived from the number of rows.
    NoteRows,
    EnableVectors,
    AddAlien,
    /// Drops the `domainMetadata` feature if the table has no domain metadata.
    DropDomains,
    /// Increments a domain value.
    CountDomain(u8),
    /// Sets a domain value unconditionally.
    PutDomain(u8),
    ClearDomain(u8),
    /// Inserts a row unless a domain exists.
    InsertUnlessDomain(u8),
    /// Inserts a row unless the table records this application version or a later one.
    AppInsert(u8),
    /// Increments the version of an application.
    CountApp(u8),
    /// Replaces the table by a new one with one row.
    Replace,
    SupportIds,
    /// Enables row tracking and assigns row ids.
    EnableIds,
    SuspendIds,
    Backfill,
    Unbackfill,
    /// Adds the files of a key again unchanged.
    Rewrite(u8),
}

use Operation::{
    AddAlien, AddConstraint, AppInsert, Backfill, ClearDomain, Count, CountApp, CountDomain, Delete,
    DropDomains, EnableIds, EnableVectors, Insert, InsertIfAbsent, InsertUnlessDomain, NoteRows, PutDomain,
    Replace, Rewrite, SupportIds, SuspendIds, Unbackfill,
};

pub(super) const ALL: [Operation; 26] = [
    Insert(0),
    Insert(1),
    InsertIfAbsent(0),
    InsertIfAbsent(1),
    Delete(0),
    Delete(1),
    AddConstraint,
    Count,
    NoteRows,
    EnableVectors,
    AddAlien,
    DropDomains,
    CountDomain(0),
    CountDomain(1),
    PutDomain(0),
    ClearDomain(0),
    InsertUnlessDomain(0),
    AppInsert(1),
    AppInsert(2),
    CountApp(0),
    CountApp(1),
    Replace,
    SupportIds,
    EnableIds,
    SuspendIds,
    Backfill,
];

/// Operations used to test the removal of row ids.
pub(super) const OF_IDS: [Operation; 2] = [Unbackfill, Rewrite(0)];

impl Operation {
    /// Returns the effect of operation `number` on a table; `None` if the table does not allow it.
    pub(super) fn effect(self, number: usize, truth: &Truth) -> Option<Effect> {
        let written = |key: u8| Row {
            key,
            value: 10 + u8::try_from(number).expect("there are few"),
        };
        let come = |key: u8| {
            let is_forbidden = key == 1 && truth.cell(Cell::Constraint) > 0;
            (!is_forbidden).then(|| Effect {
                come: vec![written(key)],
                ..Effect::default()
            })
        };
        let set = |cells: &[(Cell, u8)]| {
            let changed = cells.iter().filter(|(cell, value)| truth.cell(*cell) != *value);
            Some(Effect {
                set: changed.copied().collect(),
                ..Effect::default()
            })
        };
        let nothing = Some(Effect::default());
        let more = |cell: Cell| truth.cell(cell) + 1;
        let (ids, has_domains) = (truth.cell(Cell::Ids), truth.cell(Cell::Domains) > 0);
        // Operations that do not support the alien feature must not commit to a table that has it.
        if truth.cell(Cell::Alien) > 0 && matches!(self, Insert(1) | Delete(1) | Count | CountDomain(1)) {
            return None;
        }
        match self {
            Insert(key) => come(key),
            InsertIfAbsent(key) if truth.of_key(key).is_empty() => come(key),
            InsertUnlessDomain(domain) if truth.cell(Cell::Domain(domain)) == 0 => come(0),
            InsertIfAbsent(_) | InsertUnlessDomain(_) => nothing,
            Delete(key) => Some(Effect {
                gone: truth.of_key(key),
                ..Effect::default()
            }),
            AddConstraint if truth.of_key(1).is_empty() => set(&[(Cell::Constraint, 1)]),
            AddConstraint => None,
            Count => set(&[(Cell::Note, more(Cell::Note))]),
            NoteRows => set(&[(
                Cell::Note,
                20 + u8::try_from(truth.rows.len()).expect("there are few"),
            )]),
            EnableVectors => set(&[(Cell::Vectors, 1)]),
            AddAlien => set(&[(Cell::Alien, 1)]),
            DropDomains if [0, 1].iter().all(|at| truth.cell(Cell::Domain(*at)) == 0) && ids == 0 => {
                set(&[(Cell::Domains, 0)])
            }
            CountDomain(at) if has_domains => set(&[(Cell::Domain(at), more(Cell::Domain(at)))]),
            PutDomain(at) if has_domains => set(&[(Cell::Domain(at), 50 + written(0).value)]),
            ClearDomain(at) if has_domains => set(&[(Cell::Domain(at), 0)]),
            DropDomains | CountDomain(_) | PutDomain(_) | ClearDomain(_) => None,
            AppInsert(version) if truth.cell(Cell::App(0)) >= version => nothing,
            AppInsert(version) => Some(Effect {
                set: [(Cell::App(0), version)].into(),
                ..come(0)?
            }),
            CountApp(at) => set(&[(Cell::App(at), more(Cell::App(at)))]),
            Replace => Some(Effect {
                gone: truth.rows.iter().map(|(row, _)| *row).collect(),
                come: vec![written(0)],
                set: [
                    (Cell::Constraint, 0),
                    // Each new table has different metadata.
                    (Cell::Note, written(0).value),
                    (Cell::Vectors, 0),
                    (Cell::Domain(0), 0),
                    (Cell::Domain(1), 0),
                ]
                .into(),
                ..Effect::default()
            }),
            SupportIds if ids == 0 && has_domains => set(&[(Cell::Ids, SUPPORTED)]),
            EnableIds if ids == SUPPORTED => Some(Effect {
                numbers: Some(true),
                ..set(&[(Cell::Ids, ENABLED)])?
            }),
            SuspendIds if ids == SUPPORTED => set(&[(Cell::Ids, SUSPENDED)]),
            SupportIds | EnableIds | SuspendIds => None,
            Backfill if [SUPPORTED, ENABLED].contains(&ids) => Some(Effect {
                numbers: truth.rows.iter().any(|(_, has_id)| !has_id).then_some(true),
                ..Effect::default()
            }),
            Unbackfill if ids == SUSPENDED => Some(Effect {
                numbers: truth.rows.iter().any(|(_, has_id)| *has_id).then_some(false),
                ..Effect::default()
            }),
            Backfill | Unbackfill => None,
            Rewrite(key) => Some(Effect {
                rewrites: !truth.of_key(key).is_empty(),
                ..Effect::default()
            }),
        }
    }

    /// Adds the reads of the operation, in a table with these files.
    pub(super) fn read<'a>(self, read: &mut ReadSet, files: impl Iterator<Item = &'a str>) {
        match self {
            AddConstraint | Replace | EnableIds => read.require_exact_files(),
            InsertIfAbsent(_) | Delete(_) | NoteRows => {
                read.read_where(None);
                read.read_files(files);
            }
            CountDomain(at) | ClearDomain(at) | InsertUnlessDomain(at) => read.read_domain(&domain_name(at)),
            AppInsert(_) => read.read_app_id(&app_name(0)),
            CountApp(at) => read.read_app_id(&app_name(at)),
            _ => {}
        }
    }

    /// Whether the operation supports tables with the alien feature.
    pub(super) fn supports_alien(self) -> bool {
        !matches!(self, Insert(1) | Delete(1) | Count | CountDomain(1))
    }

    /// The operation that the commit records.
    pub(super) fn kind(self) -> crate::transaction::Operation {
        use crate::transaction::Operation as Kind;
        match self {
            Insert(_) | AppInsert(_) | InsertUnlessDomain(_) => Kind::Write,
            InsertIfAbsent(_) => Kind::Merge,
            Delete(_) => Kind::Delete,
            Replace => Kind::CreateOrReplaceTableAsSelect,
            Backfill => Kind::RowTrackingBackfill,
            Unbackfill => Kind::RowTrackingUnbackfill,
            Rewrite(_) => Kind::Optimize,
            _ => Kind::AlterTable,
        }
    }
}

pub(super) fn domain_name(at: u8) -> String {
    format!("d{at}")
}

pub(super) fn app_name(at: u8) -> String {
    format!("a{at}")
}
