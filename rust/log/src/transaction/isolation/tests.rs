//! Tests of isolation levels of tables and commits.

use std::collections::BTreeMap;

use deltaic_protocol::actions::{Add, Cdc, DomainMetadata, Protocol, Remove, Txn};
use serde_json::json;

use super::IsolationLevel::{Serializable, SnapshotIsolation, WriteSerializable};
use super::*;
use crate::transaction::Operation;

fn metadata(level: Option<&str>) -> Metadata {
    let mut metadata: Metadata = serde_json::from_value(json!({
        "id": "t", "format": {"provider": "parquet"}, "partitionColumns": [],
        "schemaString": r#"{"type":"struct","fields":[]}"#,
    }))
    .expect("these are metadata");
    metadata
        .configuration
        .extend(level.map(|level| (PROPERTY.to_owned(), Some(level.to_owned()))));
    metadata
}

fn protocol() -> Protocol {
    Protocol {
        min_reader_version: 1,
        min_writer_version: 2,
        reader_features: None,
        writer_features: None,
    }
}

#[test]
fn a_table_promises_what_its_property_states_in_any_case() -> Result<()> {
    assert_eq!(IsolationLevel::of(&metadata(None))?, Serializable);
    for (text, level) in [
        ("Serializable", Serializable),
        ("serializable", Serializable),
        ("writeSerializable", WriteSerializable),
        (" WriteSerializable ", WriteSerializable),
    ] {
        assert_eq!(IsolationLevel::of(&metadata(Some(text)))?, level, "{text}");
    }
    for text in ["SnapshotIsolation", "", "none"] {
        let error = IsolationLevel::of(&metadata(Some(text))).err();
        assert!(
            error.is_some_and(|error| error.context().contains(&("field", PROPERTY.into()))),
            "{text}"
        );
    }
    Ok(())
}

fn file(data_change: bool) -> Add {
    Add {
        path: "a".to_owned(),
        data_change,
        ..Add::default()
    }
}

fn proposal(operation: &str, change: impl FnOnce(&mut Proposal)) -> Proposal {
    let mut proposal = Proposal {
        operation: Operation::parse(operation).expect("a known name"),
        ..Proposal::default()
    };
    change(&mut proposal);
    proposal
}

/// Each row: a commit, and the level it needs on a `Serializable` and on a `WriteSerializable` table.
#[test]
fn a_commit_that_changes_no_row_needs_snapshot_isolation() {
    let domain = |name: &str| DomainMetadata {
        domain: name.to_owned(),
        configuration: String::new(),
        removed: false,
    };
    let txn = Txn {
        app_id: "x".to_owned(),
        version: 1,
        last_updated: None,
    };
    let mut still = Remove::of(&file(false), 1);
    still.data_change = false;
    for (name, proposal, serializable, write_serializable) in [
        (
            "compaction",
            proposal("OPTIMIZE", |p| p.adds.push(file(false))),
            SnapshotIsolation,
            SnapshotIsolation,
        ),
        (
            "an empty delete",
            proposal("DELETE", |_| ()),
            SnapshotIsolation,
            WriteSerializable,
        ),
        (
            "an empty write",
            proposal("WRITE", |_| ()),
            SnapshotIsolation,
            WriteSerializable,
        ),
        (
            "an append",
            proposal("WRITE", |p| p.adds.push(file(true))),
            Serializable,
            WriteSerializable,
        ),
        (
            "a delete",
            proposal("DELETE", |p| p.removes.push(Remove::of(&file(true), 1))),
            Serializable,
            WriteSerializable,
        ),
        (
            "moved rows",
            proposal("OPTIMIZE", |p| p.removes.push(still.clone())),
            SnapshotIsolation,
            SnapshotIsolation,
        ),
        (
            "with row ids",
            proposal("OPTIMIZE", |p| p.domains.push(domain("delta.rowTracking"))),
            SnapshotIsolation,
            SnapshotIsolation,
        ),
        (
            "with a domain",
            proposal("OPTIMIZE", |p| p.domains.push(domain("mine"))),
            Serializable,
            WriteSerializable,
        ),
        (
            "with an application",
            proposal("OPTIMIZE", |p| p.txns.push(txn.clone())),
            Serializable,
            WriteSerializable,
        ),
        (
            "with metadata",
            proposal("OPTIMIZE", |p| p.metadata = Some(metadata(None))),
            Serializable,
            WriteSerializable,
        ),
        (
            "with a protocol",
            proposal("OPTIMIZE", |p| p.protocol = Some(protocol())),
            Serializable,
            WriteSerializable,
        ),
    ] {
        assert_eq!(Serializable.of_commit(&proposal), serializable, "{name}");
        assert_eq!(
            WriteSerializable.of_commit(&proposal),
            write_serializable,
            "{name}"
        );
        assert_eq!(
            SnapshotIsolation.of_commit(&proposal),
            SnapshotIsolation,
            "{name}"
        );
    }
}

#[test]
fn levels_are_parsed_by_their_names() {
    for level in [Serializable, WriteSerializable, SnapshotIsolation] {
        assert_eq!(IsolationLevel::parse(level.name()).ok(), Some(level));
        assert_eq!(
            IsolationLevel::parse(&level.name().to_lowercase()).ok(),
            Some(level)
        );
    }
    let error = IsolationLevel::parse("ReadCommitted").expect_err("not an isolation level");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn a_blind_append_adds_and_has_read_nothing() -> Result<()> {
    let none = ReadSet::try_new(&deltaic_protocol::TableConfiguration::new(
        protocol(),
        metadata(None),
    ))?;
    let append = proposal("WRITE", |p| p.adds.push(file(true)));
    assert!(is_blind_append(&append, &none));
    assert!(is_blind_append(&proposal("SET TBLPROPERTIES", |_| ()), &none));
    let cdc = Cdc {
        path: "_change_data/c".to_owned(),
        partition_values: BTreeMap::new(),
        size: 1,
        data_change: false,
        tags: None,
    };
    for more in [
        proposal("WRITE", |p| p.removes.push(Remove::of(&file(true), 1))),
        proposal("WRITE", |p| p.cdc.push(cdc)),
    ] {
        assert!(!is_blind_append(&more, &none));
    }
    let mut asked = none.clone();
    asked.read_app_id("x");
    assert!(is_blind_append(&append, &asked));
    for read in [
        &(|read: &mut ReadSet| read.read_where(None)) as &dyn Fn(&mut ReadSet),
        &|read: &mut ReadSet| read.read_whole_table(),
        &|read: &mut ReadSet| read.read_files(["a"]),
    ] {
        let mut some = none.clone();
        read(&mut some);
        assert!(!is_blind_append(&append, &some));
    }
    Ok(())
}

#[test]
fn a_level_is_called_by_its_name() {
    for (level, name) in [
        (Serializable, "Serializable"),
        (WriteSerializable, "WriteSerializable"),
        (SnapshotIsolation, "SnapshotIsolation"),
    ] {
        assert_eq!(level.to_string(), name);
    }
}
