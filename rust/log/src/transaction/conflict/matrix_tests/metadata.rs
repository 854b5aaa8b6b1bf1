//! Conflicts of metadata changes.

use deltaic_protocol::actions::{Metadata, Protocol};

use super::{Loser, META, OK};
use crate::transaction::IsolationLevel::Serializable;
use crate::transaction::conflict::Granularity;
use crate::transaction::samples::{base, metadata, protocol, winning_commit};

const SUPPORTED: [&str; 6] = [
    "rowTracking",
    "domainMetadata",
    "columnMapping",
    "deletionVectors",
    "v2Checkpoint",
    "inCommitTimestamp",
];

/// Metadata changes that are compatible with a commit without metadata, and those that are not.
#[test]
fn metadata_that_may_change() {
    const IDS: &str = "delta.rowTracking.materializedRowIdColumnName";
    const VERSIONS: &str = "delta.rowTracking.materializedRowCommitVersionColumnName";
    const MODE: &str = "delta.columnMapping.mode";
    type Properties<'a> = &'a [(&'a str, &'a str)];
    let rows: [(Properties<'_>, Properties<'_>, bool, bool); 26] = [
        // Before, after, with the features, without them.
        (&[], &[], true, true),
        (&[("a", "b")], &[("a", "b")], true, true),
        (&[("a", "b")], &[], false, false),
        (&[], &[("a", "b")], false, false),
        (&[("a", "b")], &[("a", "c")], false, false),
        (&[], &[("delta.appendOnly", "true")], false, false),
        (
            &[],
            &[("delta.enableRowTracking", "true"), (IDS, "_i"), (VERSIONS, "_v")],
            true,
            false,
        ),
        (
            &[("delta.enableRowTracking", "false")],
            &[("delta.enableRowTracking", "true")],
            true,
            false,
        ),
        (
            &[("delta.enableRowTracking", "true")],
            &[("delta.enableRowTracking", "false")],
            false,
            false,
        ),
        (&[], &[(IDS, "_i")], false, false),
        (
            &[],
            &[(MODE, "name"), ("delta.columnMapping.maxColumnId", "2")],
            true,
            false,
        ),
        (&[], &[(MODE, "id")], false, false),
        (&[(MODE, "name")], &[(MODE, "none")], false, false),
        (&[], &[("delta.enableDeletionVectors", "true")], true, false),
        (
            &[("delta.enableDeletionVectors", "true")],
            &[("delta.enableDeletionVectors", "false")],
            false,
            false,
        ),
        (&[], &[("delta.checkpointPolicy", "v2")], true, false),
        (&[], &[("delta.checkpointPolicy", "classic")], false, false),
        (&[], &[("delta.enableInCommitTimestamps", "true")], true, false),
        (&[], &[("delta.enableInCommitTimestamps", "false")], false, false),
        (
            &[],
            &[
                ("delta.inCommitTimestampEnablementVersion", "5"),
                ("delta.inCommitTimestampEnablementTimestamp", "9"),
            ],
            true,
            true,
        ),
        (
            &[("delta.inCommitTimestampEnablementVersion", "5")],
            &[("delta.inCommitTimestampEnablementVersion", "6")],
            false,
            false,
        ),
        (
            &[],
            &[("io.unitycatalog.tableId", "u"), ("ucTableId", "u")],
            true,
            true,
        ),
        (&[("ucTableId", "u")], &[("ucTableId", "v")], false, false),
        (&[], &[("delta.columnMapping.maxColumnId", "2")], true, true),
        (
            &[("io.unitycatalog.tableId", "u")],
            &[("io.unitycatalog.tableId", "v")],
            false,
            false,
        ),
        (
            &[],
            &[
                ("delta.enableDeletionVectors", "true"),
                ("delta.appendOnly", "true"),
            ],
            false,
            false,
        ),
    ];
    let supported = Protocol {
        min_reader_version: 3,
        reader_features: Some(vec!["columnMapping".to_owned()]),
        ..protocol(&SUPPORTED)
    };
    for (before, after, with, without) in rows {
        for (protocol, fits) in [(supported.clone(), with), (protocol(&[]), without)] {
            let mut loser = Loser::of(&[], "WRITE");
            loser.base = base(protocol, metadata(&[], before));
            let winning_commit =
                winning_commit("SET TBLPROPERTIES", |w| w.metadata = Some(metadata(&[], after)));
            let outcome = if fits { OK } else { META };
            let found = loser.meeting(Serializable, Granularity::Files, &winning_commit, &[]);
            assert_eq!(
                found,
                outcome,
                "{before:?} {after:?} {:?}",
                loser.base.table.protocol()
            );
            // A commit that changes metadata itself conflicts with any metadata change.
            let both = loser.proposing(|proposal| proposal.metadata = Some(metadata(&[], before)));
            assert_eq!(
                both.meeting(Serializable, Granularity::Files, &winning_commit, &[]),
                META
            );
        }
    }
}

/// All other fields of the metadata, and the schema.
#[test]
fn metadata_that_may_not_change() {
    let noted = |mode: Option<&str>, id: i32| {
        let mut metadata = metadata(&[], &[]);
        let mapping =
            serde_json::json!({"delta.columnMapping.id": id, "delta.columnMapping.physicalName": "x"});
        let inner = serde_json::json!({"type": "struct", "fields": [{"name": "y", "type": "long", "nullable": true, "metadata": mapping}]});
        let inner = serde_json::json!({"type": "array", "elementType": inner, "containsNull": true});
        let inner = serde_json::json!({"type": "map", "keyType": inner, "valueType": inner, "valueContainsNull": true});
        let field = serde_json::json!({"name": "x", "type": inner, "nullable": true, "metadata": mapping});
        metadata.schema_string = serde_json::json!({"type": "struct", "fields": [field]}).to_string();
        let mode = mode.map(|mode| ("delta.columnMapping.mode".to_owned(), Some(mode.to_owned())));
        metadata.configuration.extend(mode);
        metadata
    };
    let changed = |change: &dyn Fn(&mut Metadata)| {
        let mut metadata = metadata(&[], &[]);
        change(&mut metadata);
        metadata
    };
    let plain = || metadata(&[], &[]);
    for (name, before, after, outcome) in [
        ("nothing", plain(), plain(), OK),
        ("id", plain(), changed(&|m| m.id = "u".to_owned()), META),
        ("name", plain(), changed(&|m| m.name = Some("n".to_owned())), META),
        (
            "description",
            plain(),
            changed(&|m| m.description = Some("d".to_owned())),
            META,
        ),
        ("partitioning", plain(), metadata(&["p"], &[]), META),
        ("time", plain(), changed(&|m| m.created_time = None), META),
        (
            "format",
            plain(),
            changed(&|m| m.format.provider = "orc".to_owned()),
            META,
        ),
        ("schema", plain(), noted(None, 1), META),
        (
            "spelling of the schema",
            plain(),
            changed(&|m| m.schema_string.insert(0, ' ')),
            OK,
        ),
        (
            "mapping metadata of a mapping that is enabled",
            noted(None, 1),
            noted(Some("name"), 2),
            OK,
        ),
        (
            "mapping metadata without a mapping",
            noted(None, 1),
            noted(None, 2),
            META,
        ),
        (
            "mapping metadata of an existing mapping",
            noted(Some("name"), 1),
            noted(Some("name"), 2),
            META,
        ),
    ] {
        let mut loser = Loser::of(&[], "WRITE");
        let supported = Protocol {
            min_reader_version: 3,
            reader_features: Some(vec!["columnMapping".to_owned()]),
            ..protocol(&["columnMapping"])
        };
        loser.base = base(supported, before);
        let mut winning_commit = winning_commit("SET TBLPROPERTIES", |w| w.metadata = Some(after));
        let found = loser.meeting(Serializable, Granularity::Files, &winning_commit, &[]);
        assert_eq!(found, outcome, "{name}");
        // Identity column state is compatible with any commit without metadata, of the same table.
        winning_commit.is_identity_only = true;
        let of_one_table = if name == "id" { META } else { OK };
        assert_eq!(
            loser.meeting(Serializable, Granularity::Files, &winning_commit, &[]),
            of_one_table,
            "{name}"
        );
        let both = loser.proposing(|proposal| proposal.metadata = Some(metadata(&[], &[])));
        assert_eq!(
            both.meeting(Serializable, Granularity::Files, &winning_commit, &[]),
            META,
            "{name}"
        );
    }
}

/// A winning commit that adds a feature and enables it.
#[test]
fn a_feature_and_its_property_may_come_together() {
    let loser = Loser::of(&[], "WRITE");
    for (features, outcome) in [(&["deletionVectors"][..], OK), (&["appendOnly"], META)] {
        let winning_commit = winning_commit("SET TBLPROPERTIES", |w| {
            w.protocol = Some(protocol(features));
            w.metadata = Some(metadata(&[], &[("delta.enableDeletionVectors", "true")]));
        });
        let found = loser.meeting(Serializable, Granularity::Files, &winning_commit, &[]);
        assert_eq!(found, outcome, "{features:?}");
    }
}
