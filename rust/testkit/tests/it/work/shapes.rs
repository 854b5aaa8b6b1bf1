//! Inputs with a given number of one thing, for the invariants of commits, logs and checkpoints.

use std::fmt::Write;

use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout, checkpoint};
use deltaic_testkit::oracle::replay;
use serde_json::{Map, Value, json};

/// How to create an input with a given number of one thing.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    /// The smaller number, large enough to outweigh constant costs.
    pub(crate) number: usize,
    pub(crate) make: fn(usize) -> Vec<u8>,
    /// Maximum cost factor for ten times the number.
    pub(crate) growth: usize,
}

/// Doubling buffers and deeper trees cost slightly more than ten times; quadratic growth costs a hundred times.
const fn shape(name: &'static str, number: usize, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape {
        name,
        number,
        make,
        growth: 12,
    }
}

/// Lines of a commit.
pub(crate) const COMMITS: [Shape; 8] = [
    shape("added files", 300, |n| lines(n, added)),
    shape("removed files", 300, |n| lines(n, removed)),
    shape("transactions", 300, |n| lines(n, transaction)),
    shape("domains", 300, |n| lines(n, domain)),
    shape("unknown actions", 300, |n| {
        lines(n, |number| json!({ format!("new{number}"): {} }))
    }),
    shape("empty objects", 1_000, |n| in_thirds("{}\n".repeat(n))),
    shape("blank lines", 1_000, |n| {
        in_thirds(format!("{{}}{}", " \n".repeat(n)))
    }),
    shape("partition values", 20, |n| {
        lines(n, |number| {
            json!({"add": {"path": number.to_string(), "partitionValues": keys(20), "size": 1,
            "modificationTime": 1, "dataChange": true}})
        })
    }),
];

/// Logs with one long commit or with many files.
pub(crate) const LOGS: [Shape; 22] = [
    shape("commits", 100, |n| {
        log(n, |version| vec![added(version), removed(version - 1)], |_| None)
    }),
    shape("added files", 300, |n| of_commit((0..n).map(added))),
    shape("files added and removed", 300, |n| {
        log(
            2,
            |version| (0..n).map(if version == 1 { added } else { removed }).collect(),
            |_| None,
        )
    }),
    shape("duplicate files", 300, |n| {
        of_commit((0..n).chain(0..n).map(added))
    }),
    shape("transactions", 300, |n| of_commit((0..n).map(transaction))),
    shape("domains", 300, |n| of_commit((0..n).map(domain))),
    shape("duplicate transactions", 300, |n| {
        of_commit((0..n).chain(0..n).map(transaction))
    }),
    shape("partition values of a file", 300, |n| {
        of_commit([
            json!({"add": {"path": "a", "partitionValues": keys(n), "size": 1, "modificationTime": 1,
            "dataChange": true}}),
        ])
    }),
    shape("a long path", 20_000, |n| {
        of_commit([
            json!({"add": {"path": "x/".repeat(n), "partitionValues": {}, "size": 1, "modificationTime": 1,
            "dataChange": true}}),
        ])
    }),
    shape("fields of commitInfo", 300, |n| {
        of_commit([json!({"commitInfo": keys(n)})])
    }),
    shape("properties", 300, |n| of_commit([metadata(1, &[], &keys(n))])),
    shape("columns", 100, |n| of_commit([metadata(n, &[], &json!({}))])),
    shape("partition columns", 100, |n| {
        let names: Vec<String> = (0..n).map(|number| format!("c{number}")).collect();
        of_commit([metadata(n, &names, &json!({}))])
    }),
    shape("metadata of commits", 100, |n| {
        log(
            n,
            |version| vec![metadata(1, &[], &json!({ "version": version.to_string() }))],
            |_| None,
        )
    }),
    shape("statistics of a file", 300, |n| {
        let stats = json!({"numRecords": 1, "minValues": keys(n), "maxValues": keys(n)}).to_string();
        of_commit([
            json!({"add": {"path": "a", "partitionValues": {}, "size": 1, "modificationTime": 1,
            "dataChange": true, "stats": stats}}),
        ])
    }),
    shape("damaged lines", 300, |n| {
        of_commit((0..n).map(|_| json!({"add": {"size": 1}})))
    }),
    shape("a gap after commits", 100, |n| {
        let mut bytes = log(n, |version| vec![added(version)], |_| None);
        bytes.extend_from_slice(format!("> {:020}.json\n{{}}\n", 10 * n).as_bytes());
        bytes
    }),
    shape("broken checkpoints", 100, |n| {
        log(
            n,
            |version| vec![added(version)],
            |version| Some((format!("{version:020}.checkpoint.parquet"), "PAR1".to_owned())),
        )
    }),
    shape("checksums", 100, |n| {
        log(
            n,
            |version| vec![added(version)],
            |version| Some((format!("{version:020}.crc"), "{\"numFiles\":1}".to_owned())),
        )
    }),
    shape("compactions", 100, |n| {
        log(
            n,
            |version| vec![added(version)],
            |version| {
                let line = added(version).to_string();
                let name = format!("{version:020}.{:020}.compacted.json", version + 1);
                (version % 2 == 1).then(|| (name, format!("{line}\n{}", added(version + 1))))
            },
        )
    }),
    shape("names that resemble log files", 100, |n| {
        log(
            n,
            |version| vec![added(version)],
            |version| Some((format!("{version}.json"), "{}".to_owned())),
        )
    }),
    shape("a long hint", 3_000, |n| {
        let mut bytes = of_commit([]);
        bytes.extend_from_slice(
            format!(
                "> _last_checkpoint\n{{\"version\":0,\"size\":1,\"x\":{:?}}}\n",
                "x".repeat(10 * n)
            )
            .as_bytes(),
        );
        bytes
    }),
];

/// Checkpoints of one file.
pub(crate) const CHECKPOINTS: [Shape; 4] = [
    shape("added files", 1_000, |n| {
        checkpoint_of((0..n).map(added).collect())
    }),
    shape("transactions", 1_000, |n| {
        checkpoint_of((0..n).map(transaction).collect())
    }),
    shape("partition values of a file", 1_000, |n| {
        checkpoint_of(vec![
            json!({"add": {"path": "a", "partitionValues": keys(n), "size": 1, "modificationTime": 1,
            "dataChange": true}}),
        ])
    }),
    shape("columns", 300, |n| {
        checkpoint_of(vec![metadata(n, &[], &json!({}))])
    }),
];

/// Lines of a commit whose length makes the invariant read them in every way.
fn lines(number: usize, line: impl Fn(usize) -> Value) -> Vec<u8> {
    in_thirds(text((0..number).map(line)))
}

fn in_thirds(mut text: String) -> Vec<u8> {
    while !text.len().is_multiple_of(3) {
        text.push('\n');
    }
    text.into_bytes()
}

fn text(actions: impl IntoIterator<Item = Value>) -> String {
    actions.into_iter().fold(String::new(), |mut text, action| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{action}");
        text
    })
}

/// A name without similarity to others, so that compression cannot shrink it.
fn name(number: usize) -> String {
    format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn added(number: usize) -> Value {
    json!({"add": {"path": format!("part-{}.parquet", name(number)), "partitionValues": {"c0": number.to_string()}, "size": 1,
        "modificationTime": 1, "dataChange": true, "stats": "{\"numRecords\":1}"}})
}

fn removed(number: usize) -> Value {
    json!({"remove": {"path": format!("part-{}.parquet", name(number)), "deletionTimestamp": 1, "dataChange": true}})
}

fn transaction(number: usize) -> Value {
    json!({"txn": {"appId": format!("application {number}"), "version": number}})
}

fn domain(number: usize) -> Value {
    json!({"domainMetadata": {"domain": format!("domain {number}"), "configuration": "{}", "removed": false}})
}

/// This number of names, each with a value.
fn keys(number: usize) -> Value {
    let keys = (0..number).map(|number| (name(number), json!(number.to_string())));
    Value::Object(keys.collect::<Map<_, _>>())
}

fn metadata(columns: usize, partition_columns: &[String], configuration: &Value) -> Value {
    let fields: Vec<Value> = (0..columns)
        .map(|number| json!({"name": format!("c{number}"), "type": "string", "nullable": true, "metadata": {}}))
        .collect();
    json!({"metaData": {"id": "t", "format": {"provider": "parquet", "options": {}},
        "schemaString": json!({"type": "struct", "fields": fields}).to_string(),
        "partitionColumns": partition_columns, "configuration": configuration}})
}

fn first() -> Vec<Value> {
    vec![
        json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}),
        metadata(1, &["c0".to_owned()], &json!({})),
    ]
}

/// The files of a log: a first commit, this number of further ones, and other files for each, in the format of the
/// target `log`.
fn log(
    commits: usize,
    actions: impl Fn(usize) -> Vec<Value>,
    beside: impl Fn(usize) -> Option<(String, String)>,
) -> Vec<u8> {
    let mut files = format!("> {:020}.json\n{}", 0, text(first()));
    for version in 1..=commits {
        let _ = write!(files, "> {version:020}.json\n{}", text(actions(version)));
        if let Some((name, body)) = beside(version) {
            let _ = writeln!(files, "> {name}\n{body}");
        }
    }
    files.into_bytes()
}

/// The same with one more commit.
fn of_commit(actions: impl IntoIterator<Item = Value>) -> Vec<u8> {
    let actions: Vec<Value> = actions.into_iter().collect();
    log(1, |_| actions.clone(), |_| None)
}

fn checkpoint_of(actions: Vec<Value>) -> Vec<u8> {
    let state = replay(&[first(), actions]);
    let files = checkpoint(&state, 0, &CheckpointForm::of(Layout::Classic), 0);
    let first = files.ok().and_then(|files| files.into_iter().next());
    first.map(|(_, bytes)| bytes).unwrap_or_default()
}
