//! Random sequences of changes always lead to a consistent configuration.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::plain;
use crate::TableConfiguration;
use crate::actions::{Metadata, Protocol};
use crate::change::{ChangeContext, IfAbsent, TableChange, change, preconditions};
use crate::column_mapping::{field_id, physical_name};
use crate::features::{
    Traces, contradictions, ensure_changeable, ensure_readable, needed_features, supports_for_writers,
};
use crate::properties::PROPERTIES;
use crate::schema::{ArrayType, ColumnName, DataType, PrimitiveType, StructField, StructType};
use crate::schema_evolution::Place;
use crate::{ErrorKind, Version};

const NAMES: &[&str] = &["id", "p", "s", "l", "n", "N2", "x", "y", "z", "a b"];
const PATHS: &[&str] = &[
    "id",
    "p",
    "s",
    "l",
    "n",
    "N2",
    "s.x",
    "s.y",
    "s.n",
    "S.X",
    "l.element",
    "l.element.z",
    "l.element.n",
    "n.x",
    "n.element",
    "`a b`",
    "zzz",
];
const PRIMITIVES: &[PrimitiveType] = &[
    PrimitiveType::Long,
    PrimitiveType::Integer,
    PrimitiveType::Short,
    PrimitiveType::Double,
    PrimitiveType::String,
    PrimitiveType::Date,
    PrimitiveType::TimestampNtz,
    PrimitiveType::Variant,
    PrimitiveType::Void,
    PrimitiveType::Decimal {
        precision: 12,
        scale: 2,
    },
];
const FEATURES: &[&str] = &[
    "appendOnly",
    "invariants",
    "checkConstraints",
    "changeDataFeed",
    "generatedColumns",
    "columnMapping",
    "identityColumns",
    "allowColumnDefaults",
    "deletionVectors",
    "rowTracking",
    "timestampNtz",
    "domainMetadata",
    "v2Checkpoint",
    "icebergCompatV1",
    "icebergCompatV2",
    "clustering",
    "vacuumProtocolCheck",
    "inCommitTimestamp",
    "typeWidening",
    "variantType",
    "variantShredding",
    "checkpointProtection",
    "collations",
    "geospatial",
    "noSuchFeature",
];
const VALUES: &[&str] = &[
    "true",
    "false",
    "name",
    "none",
    "v2",
    "3",
    "interval 2 days",
    "id,s",
    "",
];

fn pick<T: Clone + std::fmt::Debug>(from: &'static [T]) -> impl Strategy<Value = T> {
    proptest::sample::select(from)
}

fn path() -> impl Strategy<Value = ColumnName> {
    pick(PATHS).prop_map(|path| ColumnName::parse(path).unwrap())
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        Just(Place::First),
        Just(Place::Last),
        pick(NAMES).prop_map(|name| Place::After(name.to_owned())),
    ]
}

fn data_type() -> impl Strategy<Value = DataType> {
    let primitive = || pick(PRIMITIVES).prop_map(DataType::from);
    prop_oneof![
        4 => primitive(),
        1 => primitive().prop_map(|element_type| DataType::Array(Box::new(ArrayType { element_type, contains_null: true }))),
        1 => primitive().prop_map(|inner| DataType::Struct(StructType { fields: vec![StructField::new("x", inner, true)] })),
    ]
}

fn field() -> impl Strategy<Value = StructField> {
    (pick(NAMES), data_type(), prop::bool::weighted(0.9))
        .prop_map(|(name, data_type, nullable)| StructField::new(name, data_type, nullable))
}

fn property() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (0..PROPERTIES.len()).prop_map(|index| PROPERTIES[index].name.to_owned()),
        1 => pick(FEATURES).prop_map(|name| format!("delta.feature.{name}")),
        1 => Just("mine".to_owned()),
    ]
}

/// Properties with many consequences, with the values that cause them.
fn consequential() -> impl Strategy<Value = TableChange> {
    pick(&[
        ("delta.columnMapping.mode", "name"),
        ("delta.enableTypeWidening", "true"),
        ("delta.enableIcebergCompatV1", "true"),
        ("delta.enableIcebergCompatV2", "true"),
        ("delta.enableRowTracking", "true"),
        ("delta.enableInCommitTimestamps", "true"),
        ("delta.enableDeletionVectors", "true"),
        ("delta.enableChangeDataFeed", "true"),
        ("delta.dataSkippingNumIndexedCols", "3"),
    ])
    .prop_map(|pair| super::set(&[pair]))
}

fn one_change() -> impl Strategy<Value = TableChange> {
    let properties = prop::collection::btree_map(property(), pick(VALUES).prop_map(str::to_owned), 1..3);
    let text = prop::option::of(Just("text".to_owned()));
    let traces = prop_oneof![Just(Traces::InHistory), Just(Traces::Gone)];
    let expressions = pick(&["id > 0", "s.x > 1", "`a b` IS NULL", "n = 'x'", "id +", "zzz > 0"]);
    let defaults = prop::option::of(pick(&["7", "'x'", "NULL", "DATE '2026-11-01'", "id"]));
    prop_oneof![
        3 => consequential(),
        3 => properties.prop_map(TableChange::SetProperties),
        2 => property().prop_map(|name| TableChange::UnsetProperties(vec![name], IfAbsent::Ignore)),
        1 => text.clone().prop_map(TableChange::SetName),
        1 => text.prop_map(TableChange::SetDescription),
        2 => pick(FEATURES).prop_map(|name| TableChange::AddFeature(name.to_owned())),
        2 => (pick(FEATURES), traces).prop_map(|(name, traces)| TableChange::DropFeature(name.to_owned(), traces)),
        1 => (0..5, 0..9).prop_map(|(reader, writer)| TableChange::Upgrade(reader, writer)),
        4 => (field(), prop::option::weighted(0.4, path()), place())
            .prop_map(|(field, within, place)| TableChange::AddColumn { field, within, place }),
        3 => (path(), pick(NAMES)).prop_map(|(path, to)| TableChange::RenameColumn(path, to.to_owned())),
        3 => path().prop_map(TableChange::DropColumn),
        2 => (path(), place()).prop_map(|(path, place)| TableChange::MoveColumn(path, place)),
        3 => (path(), pick(PRIMITIVES)).prop_map(|(path, to)| TableChange::ChangeType(path, to)),
        1 => path().prop_map(TableChange::DropNotNull),
        1 => (path(), defaults).prop_map(|(path, text)| TableChange::SetDefault(path, text.map(str::to_owned))),
        1 => (path(), prop::option::of(Just("a word".to_owned()))).prop_map(|(path, text)| TableChange::SetComment(path, text)),
        1 => (pick(&["one", "TWO"]), expressions).prop_map(|(name, text)| TableChange::AddConstraint {
            name: name.to_owned(),
            expression: text.to_owned(),
        }),
        1 => pick(&["ONE", "two"]).prop_map(|name| TableChange::DropConstraint(name.to_owned(), IfAbsent::Error)),
        2 => prop::collection::vec(path(), 0..3).prop_map(TableChange::SetClustering),
        1 => pick(&["mine", "delta.clustering", ""]).prop_map(|domain| TableChange::SetDomain {
            domain: domain.to_owned(),
            configuration: "{}".to_owned(),
        }),
        1 => Just(TableChange::RemoveDomain("mine".to_owned())),
        3 => prop::collection::vec(field(), 1..3).prop_map(|mut fields| {
            fields.dedup_by(|left, right| left.name == right.name);
            TableChange::MergeSchema(StructType { fields })
        }),
    ]
}

/// Each physical name with the id of its column.
fn identities(table: &TableConfiguration) -> BTreeMap<i32, String> {
    let schema = table.schema().unwrap();
    let mut found = BTreeMap::new();
    let mut take = |fields: &StructType| {
        for field in &fields.fields {
            if let (Some(id), Some(name)) = (field_id(field), physical_name(field)) {
                found.insert(id, name.to_owned());
            }
        }
    };
    take(&schema);
    schema.for_each_part(&mut |_, part| {
        if let DataType::Struct(fields) = part {
            take(fields);
        }
    });
    found
}

fn features(protocol: &Protocol) -> BTreeSet<&'static str> {
    // Writer version 5 alone does not map columns: its readers would not support it.
    let has = |row: &&crate::features::Feature| {
        supports_for_writers(protocol, row.name)
            && (row.name != "columnMapping" || protocol.min_reader_version > 1)
    };
    crate::features::FEATURES
        .iter()
        .filter(has)
        .map(|row| row.name)
        .collect()
}

/// Checks the invariants between a configuration and the one that a change returned.
fn check(
    before: &TableConfiguration,
    one: &TableChange,
    after: &TableConfiguration,
    ever: &mut BTreeMap<i32, String>,
) {
    // It can be serialized and parsed, and every support check accepts it.
    let protocol = serde_json::to_string(after.protocol()).unwrap();
    assert_eq!(
        serde_json::from_str::<Protocol>(&protocol).unwrap(),
        *after.protocol()
    );
    let metadata = serde_json::to_string(after.metadata()).unwrap();
    assert_eq!(
        serde_json::from_str::<Metadata>(&metadata).unwrap(),
        *after.metadata()
    );
    let schema = after.schema().unwrap();
    assert_eq!(StructType::from_json(&schema.to_json()).unwrap(), *schema);
    ensure_changeable(after).unwrap();
    ensure_readable(after).unwrap();
    assert_eq!(contradictions(after.protocol()), []);
    for needed in needed_features(after.metadata(), &schema) {
        assert!(supports_for_writers(after.protocol(), needed), "{needed}");
    }
    preconditions(before, after).unwrap();
    // Only dropping a feature may remove one or lower a version.
    if !matches!(one, TableChange::DropFeature(..)) {
        assert!(
            features(after.protocol()).is_superset(&features(before.protocol())),
            "{one:?}"
        );
        assert!(after.protocol().min_reader_version >= before.protocol().min_reader_version);
        assert!(after.protocol().min_writer_version >= before.protocol().min_writer_version);
    }
    // While columns are mapped, an id always refers to the same physical name.
    let now = identities(after);
    if after.column_mapping().unwrap().is_mapped() {
        for (id, name) in &now {
            let known = ever.entry(*id).or_insert_with(|| name.clone());
            assert_eq!(known, name, "id {id} is handed out again");
        }
        let highest: i32 = after
            .metadata()
            .property("delta.columnMapping.maxColumnId")
            .unwrap()
            .parse()
            .unwrap();
        assert!(ever.keys().all(|id| *id <= highest));
    } else {
        assert!(now.is_empty());
        ever.clear();
    }
    // A repeated change of this kind has no effect.
    if matches!(
        one,
        TableChange::SetProperties(_)
            | TableChange::SetComment(..)
            | TableChange::SetClustering(_)
            | TableChange::MergeSchema(_)
    ) {
        assert_eq!(&step(after, one, 99).unwrap(), after, "{one:?}");
    }
}

fn step(table: &TableConfiguration, one: &TableChange, index: i64) -> crate::Result<TableConfiguration> {
    let mut ids = 0;
    let mut new_id = || {
        ids += 1;
        format!("{index}-{ids}")
    };
    let mut context = ChangeContext {
        version: Version::try_new(index)?,
        timestamp_ms: index * 1_000,
        new_id: &mut new_id,
    };
    change(table, one, &mut context)
}

fn ready_for_changes() -> TableConfiguration {
    let on = super::set(&[
        ("delta.columnMapping.mode", "name"),
        ("delta.enableTypeWidening", "true"),
    ]);
    super::changed(&plain(), &[on]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// protocol: supported-features.1, supported-features.2, table-features.1
    #[test]
    fn whatever_is_made_is_whole(
        changes in prop::collection::vec(one_change(), 1..40),
        partitioned: bool,
        ready in prop::bool::weighted(0.7),
    ) {
        // Most tables allow what plain ones refuse: renaming columns, widening types.
        let mut table = if ready { ready_for_changes() } else { plain() };
        if !partitioned {
            table.metadata_mut().partition_columns.clear();
        }
        let mut ever = identities(&table);
        for (index, one) in (1..).zip(&changes) {
            match step(&table, one, index) {
                Ok(after) => {
                    check(&table, one, &after, &mut ever);
                    table = after;
                }
                Err(error) => prop_assert!(
                    matches!(
                        error.kind(),
                        ErrorKind::InvalidArgument
                            | ErrorKind::SchemaMismatch
                            | ErrorKind::UnsupportedFeature
                            | ErrorKind::InvalidPredicate
                            | ErrorKind::UnsupportedExpression
                    ),
                    "{:?}: {}",
                    one,
                    error
                ),
            }
        }
    }
}

#[test]
fn versions_requested_with_a_feature_are_requested_once() {
    let one = super::set(&[
        ("delta.enableDeletionVectors", "true"),
        ("delta.minWriterVersion", "3"),
    ]);
    let mut table = plain();
    table.metadata_mut().partition_columns.clear();
    let after = step(&table, &one, 1).unwrap();
    check(&table, &one, &after, &mut BTreeMap::new());
}
