//! Properties of version checksums.

use std::collections::BTreeMap;

use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::{DeletedRecordCountsHistogram, FileSizeHistogram, FileSummary, StateSummary, VersionChecksum};
use crate::actions::{Add, DomainMetadata, Metadata, Protocol, Txn};
use crate::{Error, ErrorKind, Result};

/// A checksum with every field, of a table with two files.
fn whole() -> Value {
    json!({
        "txnId": "attempt",
        "tableSizeBytes": 1124,
        "numFiles": 2,
        "numMetadata": 1,
        "numProtocol": 1,
        "inCommitTimestampOpt": 1_700_000_000_000_i64,
        "setTransactions": [{"appId": "loader", "version": 3, "lastUpdated": 5}],
        "domainMetadata": [{"domain": "mine", "configuration": "{}", "removed": false}],
        "metadata": {
            "id": "t",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": "{\"type\":\"struct\",\"fields\":[]}",
            "partitionColumns": [],
            "configuration": {"delta.enableInCommitTimestamps": "true"},
            "createdTime": 9
        },
        "protocol": {
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": ["deletionVectors"],
            "writerFeatures": ["deletionVectors", "inCommitTimestamp"]
        },
        "fileSizeHistogram": {"sortedBinBoundaries": [0, 1024, 4096], "fileCounts": [1, 1, 0], "totalBytes": [100, 1024, 0]},
        "allFiles": [
            {"path": "a", "partitionValues": {"p": "1"}, "size": 100, "modificationTime": 1, "dataChange": false},
            {"path": "b", "partitionValues": {"p": null}, "size": 1024, "modificationTime": 2, "dataChange": false,
             "deletionVector": {"storageType": "u", "pathOrInlineDv": "x", "offset": 1, "sizeInBytes": 9, "cardinality": 12}}
        ],
        "numDeletedRecordsOpt": 12,
        "numDeletionVectorsOpt": 1,
        "deletedRecordCountsHistogramOpt": {"deletedRecordCounts": [1, 0, 1, 0, 0, 0, 0, 0, 0, 0]},
        "fromTheFuture": {"a": [1]}
    })
}

fn parse(value: &Value) -> Result<VersionChecksum> {
    VersionChecksum::parse(value.to_string().as_bytes())
}

/// The contents of a log that agrees with [`whole`].
struct Log {
    num_files: i64,
    size_in_bytes: i64,
    protocol: Protocol,
    metadata: Metadata,
    txns: Vec<Txn>,
    domains: Vec<DomainMetadata>,
    in_commit_timestamp: Option<i64>,
    txn_id: Option<String>,
    files: Vec<Add>,
}

impl Log {
    fn of(checksum: VersionChecksum) -> Option<Self> {
        Some(Self {
            num_files: checksum.num_files,
            size_in_bytes: checksum.table_size_bytes,
            protocol: checksum.protocol?,
            metadata: checksum.metadata?,
            txns: checksum.set_transactions?,
            domains: checksum.domain_metadata?,
            in_commit_timestamp: checksum.in_commit_timestamp,
            txn_id: checksum.txn_id,
            files: checksum.all_files?,
        })
    }

    fn disagreements(&self, checksum: &VersionChecksum) -> Vec<String> {
        let for_each_file = |visit: &mut dyn FnMut(&FileSummary<'_>)| {
            for add in &self.files {
                visit(&FileSummary {
                    key: add.key(),
                    size: add.size,
                    modification_time: add.modification_time,
                    deleted_records: add.deletion_vector.as_ref().map(|vector| vector.cardinality),
                    partition_values: &|| add.partition_values.clone(),
                });
            }
        };
        let state = StateSummary {
            num_files: self.num_files,
            size_in_bytes: self.size_in_bytes,
            protocol: &self.protocol,
            metadata: &self.metadata,
            txns: &self.txns,
            domains: &self.domains,
            in_commit_timestamp: self.in_commit_timestamp,
            txn_id: self.txn_id.as_deref(),
            for_each_file: &for_each_file,
        };
        checksum
            .disagreements(&state)
            .iter()
            .map(ToString::to_string)
            .collect()
    }
}

fn missing() -> Error {
    Error::new(ErrorKind::CorruptLog, "the sample lacks a field")
}

/// protocol: version-checksum-file-schema.1, state-validation-reader-requirements.1
#[test]
fn a_checksum_that_agrees_states_nothing() -> Result<()> {
    let checksum = parse(&whole())?;
    let log = Log::of(checksum.clone()).ok_or_else(missing)?;
    assert_eq!(log.disagreements(&checksum), Vec::<String>::new());
    Ok(())
}

/// protocol: version-checksum-file-schema.3, version-checksum-file-schema.4, version-checksum-file-schema.5,
/// version-checksum-file-schema.6, state-validation.1, state-validation-reader-requirements.2,
/// state-validation-reader-requirements.3
#[test]
fn every_field_is_compared_and_named() -> Result<()> {
    type Change = fn(&mut Log);
    let changes: [(Change, &str); 20] = [
        (|log| log.num_files = 4, "numFiles is 2, and the log has 4"),
        (
            |log| log.size_in_bytes = 7,
            "tableSizeBytes is 1124, and the log has 7",
        ),
        (
            |log| log.metadata.id = "u".to_owned(),
            "metadata has another id than the log",
        ),
        (
            |log| {
                log.metadata.schema_string =
                    r#"{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{}}]}"#
                        .to_owned()
            },
            "metadata has another schemaString than the log",
        ),
        (
            |log| log.metadata.configuration.clear(),
            "metadata has another configuration than the log",
        ),
        (
            |log| log.metadata.partition_columns.push("p".to_owned()),
            "metadata has another partitionColumns than the log",
        ),
        (
            |log| log.metadata.created_time = None,
            "metadata has another createdTime than the log",
        ),
        (
            |log| log.protocol.reader_features = Some(Vec::new()),
            "protocol is (3, 7, readers: [deletionVectors], writers: [deletionVectors, inCommitTimestamp]), and the log has (3, 7, readers: [], writers: [deletionVectors, inCommitTimestamp])",
        ),
        (
            |log| log.in_commit_timestamp = Some(1),
            "inCommitTimestampOpt is 1700000000000, and the log has 1",
        ),
        (
            |log| log.txns.clear(),
            "setTransactions has \"loader\", which the log does not contain",
        ),
        (
            |log| log.txns.iter_mut().for_each(|txn| txn.version = 4),
            "setTransactions has \"loader\" at 3 (lastUpdated 5), and the log at 4 (lastUpdated 5)",
        ),
        (
            |log| {
                log.txns.push(Txn {
                    app_id: "b".to_owned(),
                    version: 1,
                    last_updated: None,
                })
            },
            "setTransactions lacks \"b\", which the log has",
        ),
        (
            |log| log.domains.clear(),
            "domainMetadata has \"mine\", which the log does not contain",
        ),
        (
            |log| {
                log.domains
                    .iter_mut()
                    .for_each(|domain| domain.configuration.push(' '))
            },
            "domainMetadata has another configuration of \"mine\" than the log",
        ),
        (
            |log| {
                log.domains.push(DomainMetadata {
                    domain: "other".to_owned(),
                    configuration: String::new(),
                    removed: false,
                })
            },
            "domainMetadata lacks \"other\", which the log has",
        ),
        (
            |log| {
                log.files
                    .iter_mut()
                    .for_each(|add| add.size = add.size.saturating_mul(8))
            },
            "fileSizeHistogram differs from that of the log's files",
        ),
        (
            |log| log.files.truncate(1),
            "allFiles has \"b\", which the log does not contain",
        ),
        (
            |log| log.files.truncate(1),
            "numDeletionVectorsOpt is 1, and the log has 0",
        ),
        (
            |log| {
                log.files
                    .iter_mut()
                    .filter_map(|add| add.deletion_vector.as_mut())
                    .for_each(|vector| vector.cardinality = 100)
            },
            "numDeletedRecordsOpt is 12, and the log has 100",
        ),
        (
            |log| {
                log.files
                    .iter_mut()
                    .filter_map(|add| add.deletion_vector.as_mut())
                    .for_each(|vector| vector.cardinality = 100)
            },
            "deletedRecordCountsHistogramOpt is [1, 0, 1, 0, 0, 0, 0, 0, 0, 0], and the log has [1, 0, 0, 1, 0, 0, 0, 0, 0, 0]",
        ),
    ];
    let checksum = parse(&whole())?;
    for (change, message) in changes {
        let mut log = Log::of(checksum.clone()).ok_or_else(missing)?;
        change(&mut log);
        let found = log.disagreements(&checksum);
        assert!(found.iter().any(|line| line == message), "{message}: {found:?}");
    }
    for (change, message) in [
        (
            (|log| {
                log.files.extend(log.files.first().cloned().map(|add| Add {
                    path: "c".to_owned(),
                    ..add
                }))
            }) as Change,
            "lacks 1 files",
        ),
        (
            |log| log.files.iter_mut().for_each(|add| add.modification_time = 7),
            "disagrees with the log about \"a\"",
        ),
        (
            |log| log.files.iter_mut().for_each(|add| add.partition_values.clear()),
            "disagrees with the log about \"a\"",
        ),
        (
            |log| log.files.iter_mut().for_each(|add| add.deletion_vector = None),
            "allFiles has \"b\"",
        ),
    ] {
        let mut log = Log::of(checksum.clone()).ok_or_else(missing)?;
        change(&mut log);
        let found = log.disagreements(&checksum);
        assert!(
            found.iter().any(|line| line.contains(message)),
            "{message}: {found:?}"
        );
    }
    Ok(())
}

/// A commit that lost a race may have left a checksum.
#[test]
fn a_checksum_of_another_commit_states_only_that() -> Result<()> {
    let checksum = parse(&whole())?;
    let mut log = Log::of(checksum.clone()).ok_or_else(missing)?;
    log.txn_id = Some("the winner".to_owned());
    log.num_files = 77;
    let found = log.disagreements(&checksum);
    assert_eq!(found.len(), 1);
    assert!(
        found
            .iter()
            .all(|message| message.starts_with("txnId is \"attempt\"")),
        "{found:?}"
    );
    log.txn_id = None;
    assert_eq!(
        log.disagreements(&checksum),
        ["numFiles is 2, and the log has 77"]
    );
    Ok(())
}

#[test]
fn expired_or_unknown_actions_are_no_disagreement() -> Result<()> {
    let checksum = parse(&whole())?;
    let mut log = Log::of(checksum.clone()).ok_or_else(missing)?;
    log.in_commit_timestamp = None;
    log.protocol.writer_features = Some(vec!["inCommitTimestamp".to_owned(), "deletionVectors".to_owned()]);
    log.metadata.schema_string = " {\"fields\": [], \"type\": \"struct\"}".to_owned();
    assert_eq!(log.disagreements(&checksum), Vec::<String>::new());
    let retention = "delta.setTransactionRetentionDuration".to_owned();
    log.metadata
        .configuration
        .insert(retention.clone(), Some("interval 1 day".to_owned()));
    log.txns.clear();
    let mut expiring = checksum;
    if let Some(metadata) = &mut expiring.metadata {
        metadata
            .configuration
            .insert(retention, Some("interval 1 day".to_owned()));
    }
    assert_eq!(log.disagreements(&expiring), Vec::<String>::new());
    // Without such fields in the checksum, the log is not read for them.
    let bare = VersionChecksum {
        file_size_histogram: None,
        all_files: None,
        num_deleted_records: None,
        num_deletion_vectors: None,
        deleted_record_counts_histogram: None,
        ..expiring
    };
    log.files.clear();
    assert_eq!(log.disagreements(&bare), Vec::<String>::new());
    Ok(())
}

#[test]
fn a_field_is_read_in_every_spelling_and_null_is_absent() -> Result<()> {
    let mut respelled = whole();
    let fields = respelled.as_object_mut().ok_or_else(missing)?;
    for (from, to) in [
        ("inCommitTimestampOpt", "inCommitTimestamp"),
        ("numDeletedRecordsOpt", "numDeletedRecords"),
        ("numDeletionVectorsOpt", "numDeletionVectors"),
        ("deletedRecordCountsHistogramOpt", "deletedRecordCountsHistogram"),
        ("fileSizeHistogram", "histogramOpt"),
    ] {
        let value = fields.remove(from).ok_or_else(missing)?;
        fields.insert(from.to_owned(), Value::Null);
        fields.insert(to.to_owned(), value);
    }
    assert_eq!(parse(&respelled)?, parse(&whole())?);
    let bare = parse(
        &json!({"tableSizeBytes": 0, "numFiles": 0, "numMetadata": 1, "numProtocol": 1, "txnId": null}),
    )?;
    assert_eq!((bare.txn_id, bare.metadata, bare.protocol), (None, None, None));
    Ok(())
}

/// protocol: version-checksum-file-schema.1, version-checksum-file-schema.8, version-checksum-file-schema.9,
/// version-checksum-file-schema.10, deleted-record-counts-histogram-schema.2
#[test]
fn a_checksum_that_contradicts_itself_names_the_field() {
    let histogram = |bounds: Value, counts: Value, bytes: Value| json!({"sortedBinBoundaries": bounds, "fileCounts": counts, "totalBytes": bytes});
    let changes: Vec<(&str, Value, &str)> = vec![
        ("numMetadata", json!(2), "numMetadata"),
        ("numProtocol", json!(0), "numProtocol"),
        ("numFiles", json!(-1), "numFiles"),
        ("numFiles", json!("2"), "numFiles"),
        ("numFiles", json!(3), "fileSizeHistogram.fileCounts"),
        ("tableSizeBytes", json!(-5), "tableSizeBytes"),
        ("tableSizeBytes", json!(5), "fileSizeHistogram.totalBytes"),
        (
            "tableSizeBytes",
            json!(9_223_372_036_854_775_808_u64),
            "tableSizeBytes",
        ),
        ("numDeletedRecordsOpt", json!(-1), "numDeletedRecordsOpt"),
        ("numDeletionVectorsOpt", json!(-1), "numDeletionVectorsOpt"),
        (
            "fileSizeHistogram",
            histogram(json!([1, 1024]), json!([1, 1]), json!([100, 1024])),
            "fileSizeHistogram.sortedBinBoundaries",
        ),
        (
            "fileSizeHistogram",
            histogram(json!([0, 9, 9]), json!([1, 1, 0]), json!([100, 1024, 0])),
            "fileSizeHistogram.sortedBinBoundaries",
        ),
        (
            "fileSizeHistogram",
            histogram(json!([]), json!([]), json!([])),
            "fileSizeHistogram.sortedBinBoundaries",
        ),
        (
            "fileSizeHistogram",
            histogram(json!([0, 9]), json!([2]), json!([1124, 0])),
            "fileSizeHistogram.fileCounts",
        ),
        (
            "fileSizeHistogram",
            histogram(json!([0, 9]), json!([2, 0]), json!([1124])),
            "fileSizeHistogram.totalBytes",
        ),
        (
            "fileSizeHistogram",
            histogram(json!([0, 9]), json!([3, -1]), json!([1124, 0])),
            "fileSizeHistogram.fileCounts",
        ),
        (
            "deletedRecordCountsHistogramOpt",
            json!({"deletedRecordCounts": [2]}),
            "deletedRecordCountsHistogramOpt.deletedRecordCounts",
        ),
        (
            "deletedRecordCountsHistogramOpt",
            json!({"deletedRecordCounts": [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]}),
            "deletedRecordCountsHistogramOpt.deletedRecordCounts",
        ),
        ("allFiles", json!([]), "allFiles"),
        (
            "setTransactions",
            json!([{"appId": "a", "version": 1}, {"appId": "a", "version": 2}]),
            "setTransactions",
        ),
        (
            "domainMetadata",
            json!([{"domain": "d", "configuration": "", "removed": true}]),
            "domainMetadata",
        ),
        ("protocol", json!({"minReaderVersion": 1}), "protocol"),
    ];
    for (field, value, named) in changes {
        let mut wrong = whole();
        if let Some(slot) = wrong.get_mut(field) {
            *slot = value.clone();
        }
        let error = parse(&wrong).err();
        assert!(
            error.as_ref().is_some_and(|error| {
                error.kind() == ErrorKind::CorruptLog && error.context().contains(&("field", named.into()))
            }),
            "{field} = {value}: {error:?}"
        );
    }
    for field in ["tableSizeBytes", "numFiles", "numMetadata", "numProtocol"] {
        let mut short = whole();
        if let Some(fields) = short.as_object_mut() {
            fields.remove(field);
        }
        assert!(parse(&short).is_err(), "{field}");
    }
    let twice = format!("{}{}", whole(), whole());
    for text in ["", "malformed", "[]", "{}", "null", twice.as_str(), "\u{0}"] {
        assert!(VersionChecksum::parse(text.as_bytes()).is_err(), "{text:?}");
    }
    assert!(VersionChecksum::parse("{\"x\":".repeat(100_000).as_bytes()).is_err());
    assert!(VersionChecksum::parse(b"\xff").is_err());
}

/// The bins as the protocol specifies them: a bin includes its start and excludes the start of the next.
#[test]
fn bins_start_and_end_where_the_text_draws_them() {
    let mut sizes = FileSizeHistogram {
        sorted_bin_boundaries: vec![0, 1024, 4096],
        file_counts: vec![0; 3],
        total_bytes: vec![0; 3],
    };
    for size in [0, 1023, 1024, 4095, 4096, i64::MAX, -1] {
        sizes.insert(size);
    }
    assert_eq!(sizes.file_counts, [2, 2, 2]);
    assert_eq!(sizes.total_bytes, [1023, 5119, i64::MAX]);
    let edges = [
        (0, 0),
        (1, 1),
        (9, 1),
        (10, 2),
        (99, 2),
        (100, 3),
        (999, 3),
        (1_000, 4),
        (9_999, 4),
        (10_000, 5),
        (99_999, 5),
        (100_000, 6),
        (999_999, 6),
        (1_000_000, 7),
        (9_999_999, 7),
        (10_000_000, 8),
        (2_147_483_646, 8),
        (2_147_483_647, 9),
        (i64::MAX, 9),
    ];
    for (deleted, bin) in edges {
        let mut counts = DeletedRecordCountsHistogram::empty();
        counts.insert(deleted);
        assert_eq!(
            counts.deleted_record_counts.iter().position(|count| *count == 1),
            Some(bin),
            "{deleted}"
        );
    }
}

proptest! {
    /// Binary search finds the same bins as linear search.
    #[test]
    fn a_histogram_counts_like_a_slow_one(
        starts in proptest::collection::btree_set(1_i64..1_000, 0..8),
        sizes in proptest::collection::vec(0_i64..1_200, 0..40),
    ) {
        let bounds: Vec<i64> = std::iter::once(0).chain(starts).collect();
        let mut slow: BTreeMap<i64, (i64, i64)> = bounds.iter().map(|start| (*start, (0, 0))).collect();
        let mut fast = FileSizeHistogram {
            file_counts: vec![0; bounds.len()],
            total_bytes: vec![0; bounds.len()],
            sorted_bin_boundaries: bounds.clone(),
        };
        for size in &sizes {
            fast.insert(*size);
            let start = bounds.iter().filter(|start| *start <= size).max();
            if let Some((count, bytes)) = start.and_then(|start| slow.get_mut(start)) {
                *count += 1;
                *bytes += size;
            }
        }
        let (counts, bytes): (Vec<i64>, Vec<i64>) = slow.into_values().unzip();
        prop_assert_eq!(&fast.file_counts, &counts);
        prop_assert_eq!(&fast.total_bytes, &bytes);
        prop_assert!(fast.validate().is_ok());
    }

    /// Parsing arbitrary bytes returns a value or an error.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), cut in 0_usize..3000) {
        let _ = VersionChecksum::parse(&bytes);
        let text = whole().to_string();
        let part: Vec<u8> = text.bytes().take(cut.min(text.len() - 1)).collect();
        prop_assert!(VersionChecksum::parse(&part).is_err());
    }
}
