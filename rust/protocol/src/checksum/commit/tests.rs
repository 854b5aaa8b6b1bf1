//! The checksum after a commit equals the checksum of the resulting version, or there is none.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Before, CommitSummary, FileChange, FileCount};
use crate::Result;
use crate::actions::{DomainMetadata, LogicalFileKey, Metadata, Protocol, Txn};
use crate::checksum::whole::MOST_TXNS;
use crate::checksum::{FileSizeHistogram, FileSummary, StateSummary, VersionChecksum};
use crate::properties::{txn_is_expired, txn_retention_ms};
use crate::samples::{metadata, protocol};

/// A version as plain values.
#[derive(Clone, Debug)]
struct Model {
    protocol: Protocol,
    metadata: Metadata,
    files: BTreeMap<u8, FileCount>,
    txns: BTreeMap<String, Txn>,
    domains: BTreeMap<String, DomainMetadata>,
    in_commit_timestamp: Option<i64>,
    txn_id: String,
}

impl Model {
    fn new(protocol: Protocol, metadata: Metadata) -> Self {
        Self {
            protocol,
            metadata,
            files: BTreeMap::new(),
            txns: BTreeMap::new(),
            domains: BTreeMap::new(),
            in_commit_timestamp: None,
            txn_id: "first".to_owned(),
        }
    }

    fn checksum(&self, now_ms: i64) -> Result<VersionChecksum> {
        let retention_ms = txn_retention_ms(&self.metadata)?;
        let is_current = |txn: &&Txn| !txn_is_expired(txn.last_updated, retention_ms, now_ms);
        let txns: Vec<Txn> = self.txns.values().filter(is_current).cloned().collect();
        let domains: Vec<DomainMetadata> = self.domains.values().cloned().collect();
        let for_each_file = |visit: &mut dyn FnMut(&FileSummary<'_>)| {
            for file in self.files.values() {
                visit(&FileSummary {
                    key: LogicalFileKey::new("a", None),
                    size: file.size,
                    modification_time: 0,
                    deleted_records: file.deleted_records,
                    partition_values: &BTreeMap::new,
                });
            }
        };
        VersionChecksum::of(&StateSummary {
            num_files: i64::try_from(self.files.len()).unwrap_or(i64::MAX),
            size_in_bytes: self.files.values().map(|file| file.size).sum(),
            protocol: &self.protocol,
            metadata: &self.metadata,
            txns: &txns,
            domains: &domains,
            in_commit_timestamp: self.in_commit_timestamp,
            txn_id: Some(&self.txn_id),
            for_each_file: &for_each_file,
        })
    }
}

/// A change in a commit to one of a few names.
#[derive(Clone, Debug)]
enum Step {
    File(u8, Option<FileCount>),
    Txn(u8, i64, Option<i64>),
    Domain(u8, bool),
    Retention(Option<i64>),
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![
        0i64..20,
        8_000i64..9_000,
        8_388_000i64..8_389_000,
        Just(1i64 << 40)
    ];
    let file = (size, prop::option::of(0i64..20_000));
    let file = file.prop_map(|(size, deleted_records)| FileCount {
        size,
        deleted_records,
    });
    prop_oneof![
        6 => (0u8..6, prop::option::weighted(0.7, file)).prop_map(|(name, file)| Step::File(name, file)),
        2 => (0u8..3, 0i64..9, prop::option::of(0i64..100)).prop_map(|(app, version, at)| Step::Txn(app, version, at)),
        1 => (0u8..3, any::<bool>()).prop_map(|(name, removed)| Step::Domain(name, removed)),
        1 => prop::option::of(0i64..60).prop_map(Step::Retention),
    ]
}

fn with_retention(retention_ms: Option<i64>) -> Metadata {
    match retention_ms {
        None => metadata(&[]),
        Some(ms) => metadata(&[(
            "delta.setTransactionRetentionDuration",
            &format!("interval {ms} milliseconds"),
        )]),
    }
}

/// Applies a commit to a model and returns its changes.
fn apply(
    model: &mut Model,
    steps: &[Step],
) -> (Vec<FileChange>, Vec<Txn>, Vec<DomainMetadata>, Option<Metadata>) {
    let mut files: BTreeMap<u8, FileChange> = BTreeMap::new();
    let (mut txns, mut domains) = (BTreeMap::new(), BTreeMap::new());
    let mut changed = None;
    for step in steps {
        match step {
            Step::File(name, after) => {
                let before = model
                    .files
                    .get(name)
                    .map_or(Before::Absent, |file| Before::Live(*file));
                files.entry(*name).or_insert(FileChange {
                    before,
                    after: *after,
                });
            }
            Step::Txn(app, version, last_updated) => {
                let app_id = format!("app{app}");
                let (version, last_updated) = (*version, *last_updated);
                txns.entry(app_id.clone()).or_insert(Txn {
                    app_id,
                    version,
                    last_updated,
                });
            }
            Step::Domain(name, removed) => {
                let (domain, removed) = (format!("d{name}"), *removed);
                let configuration = "{}".to_owned();
                domains.entry(domain.clone()).or_insert(DomainMetadata {
                    domain,
                    configuration,
                    removed,
                });
            }
            Step::Retention(ms) => changed = Some(with_retention(*ms)),
        }
    }
    for (name, change) in &files {
        match change.after {
            Some(file) => model.files.insert(*name, file),
            None => model.files.remove(name),
        };
    }
    model.txns.extend(txns.clone());
    for (name, domain) in &domains {
        if domain.removed {
            model.domains.remove(name);
        } else {
            model.domains.insert(name.clone(), domain.clone());
        }
    }
    if let Some(metadata) = &changed {
        model.metadata = metadata.clone();
    }
    (
        files.into_values().collect(),
        txns.into_values().collect(),
        domains.into_values().collect(),
        changed,
    )
}

proptest! {
    /// protocol: state-validation-writer-requirements.2, version-checksum-file-schema.3, version-checksum-file-schema.4
    #[test]
    fn commit_by_commit_is_the_same_as_again(commits in vec(vec(step(), 0..6), 1..12)) {
        let mut model = Model::new(protocol(3, 7, &["deletionVectors"]), metadata(&[]));
        let mut known = model.checksum(0).expect("an empty table has a checksum");
        for (number, steps) in commits.iter().enumerate() {
            let now_ms = i64::try_from(number).unwrap_or(0) * 10;
            let (files, txns, domains, metadata) = apply(&mut model, steps);
            model.txn_id = format!("commit {number}");
            let commit = CommitSummary {
                txn_id: Some(&model.txn_id),
                metadata: metadata.as_ref(),
                txns: &txns,
                domains: &domains,
                files: &files,
                ..CommitSummary::default()
            };
            let next = known.after(&commit, now_ms).expect("everything is known");
            let mut anew = model.checksum(now_ms).expect("the version has a checksum");
            if next.set_transactions.is_none() {
                anew.set_transactions = None;
            }
            prop_assert_eq!(&next, &anew);
            prop_assert_eq!(
                &VersionChecksum::parse(next.to_text().expect("it is written").as_bytes()).expect("it is read"),
                &next
            );
            known = next;
        }
    }
}

fn two_files() -> Result<(Model, VersionChecksum)> {
    let mut model = Model::new(protocol(3, 7, &["deletionVectors"]), metadata(&[]));
    for (name, deleted_records) in [(0, None), (1, Some(3))] {
        model.files.insert(
            name,
            FileCount {
                size: 10,
                deleted_records,
            },
        );
    }
    let checksum = model.checksum(0)?;
    Ok((model, checksum))
}

const FILE: FileCount = FileCount {
    size: 10,
    deleted_records: None,
};

/// Without exact inputs there is no checksum.
///
/// protocol: state-validation-writer-requirements.2
#[test]
fn a_commit_that_cannot_be_counted_has_no_checksum() -> Result<()> {
    let (_, known) = two_files()?;
    let after = |before, after| {
        let files = [FileChange { before, after }];
        known.after(
            &CommitSummary {
                files: &files,
                ..CommitSummary::default()
            },
            0,
        )
    };
    assert!(after(Before::Live(FILE), None).is_some_and(|next| next.num_files == 1));
    for (before, now) in [
        (Before::Unknown, Some(FILE)),
        (Before::Unknown, None),
        // It was not counted: another size, another bin, another number of deleted rows.
        (Before::Live(FileCount { size: 100, ..FILE }), None),
        (Before::Live(FileCount { size: 9_000, ..FILE }), None),
        (
            Before::Live(FileCount {
                deleted_records: Some(4),
                ..FILE
            }),
            None,
        ),
        (
            Before::Live(FileCount {
                deleted_records: Some(0),
                size: 11,
            }),
            None,
        ),
        // No file has such values.
        (Before::Absent, Some(FileCount { size: -1, ..FILE })),
        (
            Before::Absent,
            Some(FileCount {
                deleted_records: Some(-1),
                ..FILE
            }),
        ),
        (
            Before::Absent,
            Some(FileCount {
                size: i64::MAX,
                ..FILE
            }),
        ),
        (Before::Live(FileCount { size: -1, ..FILE }), None),
    ] {
        assert_eq!(after(before, now), None, "{before:?} {now:?}");
    }
    let unsaid = VersionChecksum {
        protocol: None,
        ..known.clone()
    };
    assert_eq!(unsaid.after(&CommitSummary::default(), 0), None);
    let unsaid = VersionChecksum {
        metadata: None,
        ..known
    };
    assert_eq!(unsaid.after(&CommitSummary::default(), 0), None);
    Ok(())
}

#[test]
fn an_absent_field_remains_absent() -> Result<()> {
    let (_, known) = two_files()?;
    let known = VersionChecksum {
        set_transactions: None,
        domain_metadata: None,
        file_size_histogram: None,
        num_deleted_records: None,
        ..known
    };
    let files = [FileChange {
        before: Before::Absent,
        after: Some(FILE),
    }];
    let txns = [Txn {
        app_id: "a".to_owned(),
        version: 1,
        last_updated: None,
    }];
    let commit = CommitSummary {
        files: &files,
        txns: &txns,
        ..CommitSummary::default()
    };
    let next = known.after(&commit, 0).expect("the counts are known");
    assert_eq!((next.num_files, next.table_size_bytes), (3, 30));
    let lacking = [
        next.set_transactions.is_none(),
        next.domain_metadata.is_none(),
        next.file_size_histogram.is_none(),
        next.num_deletion_vectors.is_none(),
        next.deleted_record_counts_histogram.is_none(),
    ];
    assert_eq!(lacking, [true; 5]);
    Ok(())
}

/// Deleted rows are counted once the table may have deletion vectors, and not before.
#[test]
fn deleted_rows_are_counted_where_there_may_be_any() -> Result<()> {
    let mut model = Model::new(protocol(1, 2, &[]), metadata(&[]));
    model.files.insert(0, FILE);
    let known = model.checksum(0)?;
    assert_eq!(known.num_deletion_vectors, None);
    let with_vectors = protocol(3, 7, &["deletionVectors"]);
    let vector = FileCount {
        deleted_records: Some(7),
        ..FILE
    };
    let files = [FileChange {
        before: Before::Absent,
        after: Some(vector),
    }];
    let commit = CommitSummary {
        files: &files,
        ..CommitSummary::default()
    };
    assert_eq!(known.after(&commit, 0), None, "the protocol does not allow it");
    let commit = CommitSummary {
        protocol: Some(&with_vectors),
        ..commit
    };
    model.protocol = with_vectors.clone();
    model.files.insert(1, vector);
    model.txn_id = "second".to_owned();
    let commit = CommitSummary {
        txn_id: Some("second"),
        ..commit
    };
    assert_eq!(known.after(&commit, 0), Some(model.checksum(0)?));
    Ok(())
}

/// protocol: version-checksum-file-schema.1
#[test]
fn the_in_commit_timestamp_is_there_exactly_where_it_is_enabled() -> Result<()> {
    let enabled = metadata(&[("delta.enableInCommitTimestamps", "true")]);
    let mut model = Model::new(protocol(1, 7, &["inCommitTimestamp"]), metadata(&[]));
    model.in_commit_timestamp = Some(7);
    let known = model.checksum(0)?;
    assert_eq!(known.in_commit_timestamp, None);
    let commit = CommitSummary {
        metadata: Some(&enabled),
        ..CommitSummary::default()
    };
    assert_eq!(known.after(&commit, 0), None, "the commit has none");
    let commit = CommitSummary {
        in_commit_timestamp: Some(8),
        ..commit
    };
    assert_eq!(
        known.after(&commit, 0).and_then(|next| next.in_commit_timestamp),
        Some(8)
    );
    model.metadata = enabled;
    assert_eq!(model.checksum(0)?.in_commit_timestamp, Some(7));
    model.in_commit_timestamp = None;
    assert!(model.checksum(0).is_err());
    Ok(())
}

#[test]
fn expired_transactions_are_not_reported_as_absent() -> Result<()> {
    let mut model = Model::new(protocol(1, 2, &[]), with_retention(Some(10)));
    model.txns.insert(
        "a".to_owned(),
        Txn {
            app_id: "a".to_owned(),
            version: 1,
            last_updated: Some(0),
        },
    );
    let known = model.checksum(11)?;
    assert_eq!(known.set_transactions, Some(Vec::new()));
    for (retention_ms, is_told) in [
        (Some(10), true),
        (Some(5), true),
        (Some(11), false),
        (None, false),
    ] {
        let changed = with_retention(retention_ms);
        let commit = CommitSummary {
            metadata: Some(&changed),
            ..CommitSummary::default()
        };
        let next = known.after(&commit, 12).expect("the counts are known");
        assert_eq!(next.set_transactions.is_some(), is_told, "{retention_ms:?}");
    }
    Ok(())
}

#[test]
fn a_list_that_grows_without_end_is_left_out() -> Result<()> {
    let mut model = Model::new(protocol(1, 2, &[]), metadata(&[]));
    let txn = |number: usize| Txn {
        app_id: format!("{number:05}"),
        version: 1,
        last_updated: None,
    };
    model.txns = (0..MOST_TXNS)
        .map(|number| (txn(number).app_id, txn(number)))
        .collect();
    let known = model.checksum(0)?;
    assert_eq!(known.set_transactions.as_ref().map(Vec::len), Some(MOST_TXNS));
    let one_more = [txn(MOST_TXNS)];
    let commit = CommitSummary {
        txns: &one_more,
        ..CommitSummary::default()
    };
    let next = known.after(&commit, 0).expect("the counts are known");
    assert_eq!(next.set_transactions, None);
    Ok(())
}

/// protocol: version-checksum-file-schema.8, version-checksum-file-schema.9, version-checksum-file-schema.10
#[test]
fn the_bins_that_we_write_start_at_nothing_and_rise() {
    let bins = FileSizeHistogram::empty();
    assert_eq!(bins.sorted_bin_boundaries.first(), Some(&0));
    assert!(
        bins.sorted_bin_boundaries
            .is_sorted_by(|left, right| left < right)
    );
    let lengths = [&bins.sorted_bin_boundaries, &bins.file_counts, &bins.total_bytes].map(Vec::len);
    assert_eq!(lengths, [95; 3]);
    let mut one = bins.clone();
    one.insert(8 << 20);
    assert!(one.remove(8 << 20));
    assert_eq!(one, bins);
    assert!(!one.remove(8 << 20), "there is none");
    assert!(!one.remove(-1));
}

/// protocol: version-checksum-file-schema.5, version-checksum-file-schema.6
#[test]
fn required_fields_are_written_or_nothing() -> Result<()> {
    let (_, whole) = two_files()?;
    let text = whole.to_text()?;
    for field in [
        "\"numMetadata\":1",
        "\"numProtocol\":1",
        "\"metadata\":{",
        "\"protocol\":{",
        "\"numFiles\":2",
    ] {
        assert!(text.contains(field), "{field}: {text}");
    }
    assert!(!text.contains("null") && text.ends_with("}\n"), "{text}");
    let missing = [
        VersionChecksum {
            metadata: None,
            ..whole.clone()
        },
        VersionChecksum {
            protocol: None,
            ..whole.clone()
        },
        VersionChecksum {
            num_files: 3,
            ..whole
        },
    ];
    for checksum in missing {
        assert!(checksum.to_text().is_err());
    }
    Ok(())
}
