//! Steps of generated commits, and the actions that a writer commits for them.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::oracle::{logical_file, shortest};
use crate::tables::table_builder::NEVER_EXPIRED;

/// What a commit does to one name, independent of the path that the name denotes.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    File(FileStep),
    Txn(u8, i64),
    Domain(u8, u8, bool),
    Metadata(u8, u8),
    Protocol(u8),
    Unknown(u8),
}

#[derive(Clone, Debug)]
pub(crate) struct FileStep {
    name: u8,
    spelling: u8,
    vector: Option<u8>,
    partition: u8,
    size: i64,
    /// Whether the file is added or removed.
    comes: bool,
    /// Whether the commit respects the current state of the path, like a correct writer.
    is_tidy: bool,
    /// Which optional fields are written.
    fields: u8,
}

/// A step; names collide, since there are few.
pub(crate) fn step() -> impl Strategy<Value = Step> {
    let file = (
        (0u8..7, 0u8..3, prop::option::of(0u8..4), 0u8..4),
        (0i64..5_000, any::<bool>(), prop::bool::weighted(0.8), any::<u8>()),
    );
    let file = file.prop_map(
        |((name, spelling, vector, partition), (size, comes, is_tidy, fields))| {
            Step::File(FileStep {
                name,
                spelling,
                vector,
                partition,
                size,
                comes,
                is_tidy,
                fields,
            })
        },
    );
    prop_oneof![
        12 => file,
        1 => (0u8..3, 0i64..100).prop_map(|(app, version)| Step::Txn(app, version)),
        1 => (0u8..3, 0u8..3, any::<bool>()).prop_map(|(name, text, removed)| Step::Domain(name, text, removed)),
        1 => (0u8..4, 0u8..4).prop_map(|(columns, value)| Step::Metadata(columns, value)),
        1 => (0u8..4).prop_map(Step::Protocol),
        1 => (0u8..4).prop_map(Step::Unknown),
    ]
}

/// The commits as a writer of this table writes them.
pub(crate) fn written(partitioned: bool, commits: &[Vec<Step>]) -> Vec<Vec<Value>> {
    let has_vectors = commits
        .iter()
        .flatten()
        .any(|step| matches!(step, Step::File(file) if file.vector.is_some()));
    let first = vec![protocol(1, has_vectors), metadata(partitioned, 0, 0)];
    let mut live: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut all = vec![first];
    for (number, steps) in commits.iter().enumerate() {
        let mut actions: Vec<Value> = Vec::new();
        // A valid commit contains each name once.
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for step in steps {
            if let Step::File(file) = step
                && seen.contains(&path(file.name, 0))
            {
                continue;
            }
            let (name, mut of_step) = match step {
                Step::File(file) => (
                    path(file.name, 0),
                    file_actions(file, partitioned, number, &mut live),
                ),
                Step::Txn(app, version) => {
                    let mut txn = json!({"appId": format!("app{app}"), "version": version});
                    if version % 2 == 0 {
                        txn["lastUpdated"] = json!(NEVER_EXPIRED + version);
                    }
                    (format!("txn {app}"), vec![json!({ "txn": txn })])
                }
                Step::Domain(domain, text, removed) => {
                    let domain = format!("d{domain}");
                    let configuration = format!("{{\"of\":{text}}}");
                    let action =
                        json!({"domain": domain, "configuration": configuration, "removed": removed});
                    (domain, vec![json!({ "domainMetadata": action })])
                }
                Step::Metadata(columns, value) => (
                    "metaData".to_owned(),
                    vec![metadata(partitioned, *columns, *value)],
                ),
                Step::Protocol(which) => ("protocol".to_owned(), vec![protocol(*which, has_vectors)]),
                Step::Unknown(which) => (
                    format!("unknown {which}"),
                    vec![json!({format!("unknown{which}"): {"path": "f0.parquet"}})],
                ),
            };
            if seen.insert(name) {
                actions.append(&mut of_step);
            }
        }
        // An empty commit would be invalid, so every commit has at least a `commitInfo`.
        actions.push(json!({"commitInfo": {"operation": "TEST", "timestamp": number}}));
        all.push(actions);
    }
    all
}

/// The adds and removes of a step; `live` contains the adds of each path's live files.
fn file_actions(
    step: &FileStep,
    partitioned: bool,
    number: usize,
    live: &mut BTreeMap<String, Vec<Value>>,
) -> Vec<Value> {
    let path = path(step.name, step.spelling);
    let of_path = live.entry(shortest(&path)).or_default();
    let mut actions = Vec::new();
    let add = add(step, &path, partitioned, number);
    // Every writer must first remove a path that is live with another vector.
    let is_elsewhere = of_path
        .iter()
        .any(|known| logical_file(known) != logical_file(&add));
    if step.is_tidy || (step.comes && is_elsewhere) {
        for gone in of_path
            .iter()
            .filter(|known| !step.comes || logical_file(known) != logical_file(&add))
        {
            actions.push(remove(&path, gone.get("deletionVector"), step, number));
        }
        of_path.clear();
    }
    if step.comes {
        of_path.retain(|known| logical_file(known) != logical_file(&add));
        of_path.push(add.clone());
        actions.push(json!({ "add": add }));
    } else if !step.is_tidy {
        of_path.retain(|known| logical_file(known) != logical_file(&add));
        actions.push(remove(&path, add.get("deletionVector"), step, number));
    }
    actions
}

/// The path of a name: the first ones are relative, one of them escaped, the last ones absolute in three forms.
fn path(name: u8, spelling: u8) -> String {
    let prefix = match (name, spelling) {
        (0..5, _) => "",
        (_, 0) => "/data/",
        (_, 1) => "file:/data/",
        _ => "file:///data/",
    };
    let escaped = if name == 1 { "a%20b=%25/" } else { "" };
    format!("{prefix}{escaped}f{name}.parquet")
}

fn add(step: &FileStep, path: &str, partitioned: bool, number: usize) -> Value {
    let has = |bit: u8| step.fields & (1 << bit) != 0;
    let mut add = json!({
        "path": path,
        "partitionValues": {},
        "size": step.size,
        "modificationTime": 1_700_000_000_000i64 + i64::try_from(number).unwrap_or_default(),
        "dataChange": has(0),
    });
    if partitioned {
        let value = [json!("a"), json!("b=ü \"%"), json!(""), Value::Null]
            .into_iter()
            .nth(step.partition.into());
        add["partitionValues"] = json!({"p": value});
    }
    if has(1) {
        let (least, most) = (-step.size, step.size);
        let stats = json!({"numRecords": step.size, "minValues": {"id": least, "name": "ä\"\n"},
            "maxValues": {"id": most, "name": "z"}, "nullCount": {"id": step.partition, "name": 0}});
        add["stats"] = json!(stats.to_string());
    }
    if has(2) {
        add["tags"] = json!({"k": "v", "none": null});
    }
    if has(3) {
        add["baseRowId"] = json!(step.size);
        add["defaultRowCommitVersion"] = json!(number);
    }
    if has(4) {
        add["fromTheFuture"] = json!({"path": "not this", "deep": [1, {"size": 2.5}]});
    }
    if has(5) {
        add["clusteringProvider"] = json!("liquid");
    }
    if let Some(vector) = step.vector {
        add["deletionVector"] = descriptor(vector);
    }
    add
}

fn remove(path: &str, vector: Option<&Value>, step: &FileStep, number: usize) -> Value {
    let mut remove = json!({"path": path, "dataChange": true});
    let has = |bit: u8| step.fields & (1 << bit) != 0;
    if has(6) {
        remove["deletionTimestamp"] = json!(NEVER_EXPIRED + i64::try_from(number).unwrap_or_default());
    }
    if has(7) {
        remove["extendedFileMetadata"] = json!(true);
        remove["partitionValues"] = json!({});
        remove["size"] = json!(step.size);
        remove["stats"] = json!("{\"numRecords\":1}");
        remove["tags"] = json!({"k": "v"});
    }
    if let Some(vector) = vector {
        remove["deletionVector"] = vector.clone();
    }
    json!({ "remove": remove })
}

/// Descriptors that each differ in one field: storage type, path, offset.
fn descriptor(which: u8) -> Value {
    let (kind, text, offset) = match which {
        0 => ("u", "ab^-aqEH.-t@S}K{vb[*k^", Some(1)),
        1 => ("u", "ab^-aqEH.-t@S}K{vb[*k^", Some(45)),
        2 => ("u", "^-aqEH.-t@S}K{vb[*k^", None),
        _ => ("i", "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", None),
    };
    let mut vector =
        json!({"storageType": kind, "pathOrInlineDv": text, "sizeInBytes": 40, "cardinality": 6 + which});
    if let Some(offset) = offset {
        vector["offset"] = json!(offset);
    }
    vector
}

/// Metadata with this number of additional columns, and a property with this value.
fn metadata(partitioned: bool, columns: u8, value: u8) -> Value {
    let field =
        |name: &str, kind: &str| json!({"name": name, "type": kind, "nullable": true, "metadata": {}});
    let mut fields = vec![field("id", "long"), field("name", "string")];
    fields.extend((0..columns).map(|column| field(&format!("c{column}"), "double")));
    if partitioned {
        fields.push(field("p", "string"));
    }
    let partition_columns: &[&str] = if partitioned { &["p"] } else { &[] };
    let mut metadata = json!({
        "id": "3a0d65cd-4056-49b8-937b-95f9e0ee90e5",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json!({"type": "struct", "fields": fields}).to_string(),
        "partitionColumns": partition_columns,
        "configuration": {},
    });
    if value > 0 {
        metadata["configuration"] = json!({"testkit.value": value.to_string(), "testkit.other": "ü\"\\"});
        metadata["description"] = json!(format!("the {value}th"));
        metadata["createdTime"] = json!(1_700_000_000_000i64);
    }
    json!({ "metaData": metadata })
}

/// A protocol: legacy, with features, with more of them, with writer-only features; a legacy one has no deletion
/// vectors.
fn protocol(which: u8, has_vectors: bool) -> Value {
    let (mut reader, mut writer) = match which {
        0 if !has_vectors => return json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}),
        0 => (vec![], vec![]),
        1 => (vec!["v2Checkpoint"], vec!["v2Checkpoint", "domainMetadata"]),
        2 => (
            vec!["timestampNtz", "v2Checkpoint"],
            vec!["v2Checkpoint", "domainMetadata", "appendOnly", "timestampNtz"],
        ),
        _ => (vec![], vec!["domainMetadata"]),
    };
    if has_vectors {
        reader.push("deletionVectors");
        writer.push("deletionVectors");
    }
    let mut protocol = json!({"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": writer});
    if !reader.is_empty() {
        protocol["minReaderVersion"] = json!(3);
        protocol["readerFeatures"] = json!(reader);
    }
    json!({ "protocol": protocol })
}
