//! Checksums, compaction files and cleanup on copies of logs that other implementations wrote.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use deltaic_log::Snapshot;
use deltaic_log::check::{OlderNames, Progress, Severity, check_log};
use deltaic_log::checksum::{Created, FilesBefore, checksum_after, checksum_of, write_missing_checksum};
use deltaic_log::cleanup::clean_up;
use deltaic_log::compaction::{Compacted, compact};
use deltaic_log::decode::commits::{MAX_LINE_BYTES, decode_commit};
use deltaic_log::listing::{Listing, LogFile};
use deltaic_log::snapshot::{LoadOptions, Pruning, WithStatistics};
use deltaic_protocol::checksum::VersionChecksum;
use deltaic_protocol::{ErrorKind, Result, Version};
use deltaic_storage::TableLocation;
use deltaic_storage::clock::now_ms;
use deltaic_storage::store_error;
use deltaic_testkit::reference_logs::{copy_log, reference_tables};

const DAY_MS: i64 = 86_400_000;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be made")
}

/// Runs a test on a copy of the log of every reference table that opens, and returns their number; `None` without
/// reference tables.
fn on_every_log<F: Future<Output = Result<bool>>>(
    test: impl Fn(String, Arc<TableLocation>) -> F,
) -> Option<usize> {
    let mut ran_cases = 0;
    for table in reference_tables()? {
        let copy = tempfile::tempdir().expect("a folder");
        copy_log(&table, copy.path()).expect("a copy");
        let name = table
            .components()
            .rev()
            .take(3)
            .map(|part| part.as_os_str().to_string_lossy().into_owned());
        let name = name.collect::<Vec<_>>().join(" of ");
        let location = at(copy.path());
        let ran = runtime().block_on(async {
            if Snapshot::load(Arc::clone(&location), None, LoadOptions::default())
                .await
                .is_err()
            {
                return Ok(false);
            }
            test(name.clone(), location).await
        });
        ran_cases += usize::from(ran.unwrap_or_else(|error| fail(&name, &error)));
    }
    Some(ran_cases)
}

#[expect(clippy::panic, reason = "an error fails the test, with the table's name")]
fn fail(name: &str, error: &deltaic_protocol::Error) -> bool {
    panic!("{name}: {error}")
}

fn at(folder: &Path) -> Arc<TableLocation> {
    Arc::new(TableLocation::parse(&folder.to_string_lossy(), Vec::new()).expect("a location"))
}

async fn open(location: &Arc<TableLocation>, version: Option<Version>) -> Result<Snapshot> {
    Snapshot::load(Arc::clone(location), version, LoadOptions::default()).await
}

/// All contents of a snapshot, as lines that can be compared.
async fn state_of(snapshot: &Snapshot) -> Result<BTreeMap<&'static str, Vec<String>>> {
    let json = |value: serde_json::Result<String>| value.expect("JSON");
    let pruning = Pruning {
        predicate: None,
        statistics: WithStatistics::All,
    };
    let files = match snapshot.prune(pruning).await {
        Ok((files, _)) => files,
        Err(_) => snapshot.files(None).await?.0,
    };
    let mut rows = Vec::new();
    for batch in &files.batches {
        for row in 0..batch.len() {
            let (id, version) = (
                batch.adds.base_row_id(row),
                batch.adds.default_row_commit_version(row),
            );
            rows.push(format!("{} {id:?} {version:?}", batch.adds.path.value(row)));
        }
    }
    rows.sort();
    let (_, tombstones) = snapshot.tombstones().await?;
    let txns = snapshot
        .txns()
        .values()
        .map(|txn| json(serde_json::to_string(txn)));
    let domains = snapshot
        .domains()
        .values()
        .map(|domain| json(serde_json::to_string(domain)));
    Ok(BTreeMap::from([
        ("protocol", vec![json(serde_json::to_string(snapshot.protocol()))]),
        ("metadata", vec![json(serde_json::to_string(snapshot.metadata()))]),
        ("files", lines(&files.to_batches()?)),
        ("rows", rows),
        ("tombstones", lines(&tombstones)),
        ("txns", txns.collect()),
        ("domains", domains.collect()),
    ]))
}

/// The rows of batches as sorted text.
fn lines(batches: &[RecordBatch]) -> Vec<String> {
    let mut writer = arrow_json::LineDelimitedWriter::new(Vec::new());
    for batch in batches {
        writer.write(batch).expect("rows as JSON");
    }
    writer.finish().expect("rows as JSON");
    let text = String::from_utf8(writer.into_inner()).expect("UTF-8");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The findings of a check, except purely informative ones.
async fn faults(location: &Arc<TableLocation>) -> Result<BTreeMap<&'static str, usize>> {
    let progress = Progress::default();
    let found = check_log(location, LoadOptions::default(), OlderNames::Dropped, &progress).await?;
    let counted = found.findings.into_sorted().into_iter();
    let mut faults = BTreeMap::new();
    for finding in counted.filter(|finding| finding.severity != Severity::Info) {
        *faults.entry(finding.diagnosis.code).or_insert(0) += 1;
    }
    Ok(faults)
}

/// Our counts agree with other writers' in every field, for every checksum that belongs to its commit.
///
/// protocol: state-validation-writer-requirements.2, version-checksum-file-schema.1, version-checksum-file-schema.5,
/// version-checksum-file-schema.6
#[test]
fn we_count_what_other_writers_counted() {
    let compared = std::sync::atomic::AtomicUsize::new(0);
    let tables = on_every_log(|name, location| {
        let compared = &compared;
        async move {
            let listing = Listing::whole(&location).await?;
            let checksums: Vec<_> = listing
                .files
                .iter()
                .filter(|file| file.name.ends_with(".crc"))
                .rev()
                .take(20)
                .cloned()
                .collect();
            for file in &checksums {
                let Ok(snapshot) = open(&location, Some(file.path.version)).await else {
                    continue;
                };
                let bytes = location.read(&file.relative()).await;
                let bytes = bytes.map_err(|error| store_error(&error, &file.relative()))?;
                let Ok(theirs) = VersionChecksum::parse(&bytes) else {
                    continue;
                };
                let ours = checksum_of(&snapshot, 0).await;
                let Ok(ours) =
                    ours.inspect_err(|error| assert_eq!(error.kind(), ErrorKind::UnsupportedFeature))
                else {
                    continue;
                };
                // Some reference tables are damaged, and each of them has a warning.
                if !snapshot.warnings().is_empty() {
                    continue;
                }
                let (ours, theirs) = alike(ours, theirs);
                assert_eq!(ours, theirs, "{name}, version {}", file.path.version);
                compared.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            Ok(!checksums.is_empty())
        }
    });
    let Some(tables) = tables else { return };
    let compared = compared.into_inner();
    assert!(
        tables > 50 && compared > 200,
        "{tables} tables, {compared} checksums"
    );
}

/// Two checksums without fields that either of them lacks, in the same order.
fn alike(mut ours: VersionChecksum, mut theirs: VersionChecksum) -> (VersionChecksum, VersionChecksum) {
    theirs.all_files = None;
    if theirs.txn_id.is_none() {
        ours.txn_id = None;
    }
    for checksum in [&mut ours, &mut theirs] {
        for list in checksum.set_transactions.iter_mut() {
            list.sort_by(|left, right| left.app_id.cmp(&right.app_id));
        }
        for list in checksum.domain_metadata.iter_mut() {
            list.sort_by(|left, right| left.domain.cmp(&right.domain));
        }
        for protocol in checksum.protocol.iter_mut() {
            for list in [&mut protocol.reader_features, &mut protocol.writer_features]
                .into_iter()
                .flatten()
            {
                list.sort();
            }
        }
    }
    macro_rules! both_or_none {
        ($($field:ident)*) => {$(
            if theirs.$field.is_none() || ours.$field.is_none() {
                ours.$field = None;
                theirs.$field = None;
            }
        )*};
    }
    both_or_none!(
        set_transactions domain_metadata metadata protocol file_size_histogram num_deleted_records
        num_deletion_vectors deleted_record_counts_histogram
    );
    (ours, theirs)
}

/// The checksum counted incrementally, commit by commit, equals the one counted from scratch.
///
/// protocol: state-validation-writer-requirements.2
#[test]
fn checksums_of_other_writers_are_extended() {
    let tables = on_every_log(|name, location| async move {
        let newest = open(&location, None).await?;
        let commits: Vec<Arc<LogFile>> = newest
            .segment()
            .commits
            .iter()
            .rev()
            .take(12)
            .rev()
            .cloned()
            .collect();
        let mut before: Option<(Snapshot, VersionChecksum)> = None;
        let mut steps = 0;
        for file in commits {
            let version = file.path.version;
            let Ok(snapshot) = open(&location, Some(version)).await else {
                before = None;
                continue;
            };
            let Ok(anew) = checksum_of(&snapshot, 0).await else {
                before = None;
                continue;
            };
            if let Some((before, known)) = &before {
                let bytes = location.read(&file.relative()).await;
                let bytes = bytes.map_err(|error| store_error(&error, &file.relative()))?;
                let commit = decode_commit(&bytes, &file, MAX_LINE_BYTES)?;
                let next = checksum_after(known, &commit, FilesBefore::Snapshot(before), 0)?;
                assert_eq!(next.as_ref(), Some(&anew), "{name}, version {version}");
                steps += 1;
            }
            before = Some((snapshot, anew));
        }
        Ok(steps > 0)
    });
    let Some(tables) = tables else { return };
    assert!(tables > 75, "{tables} tables");
}

/// With our checksum and compaction file the log has the same contents, and a check reports no new findings; the same
/// after a cleanup.
///
/// protocol: metadata-cleanup.1, state-validation-writer-requirements.1
#[test]
fn maintenance_does_not_change_the_state_of_a_table() {
    let counts = [const { std::sync::atomic::AtomicUsize::new(0) }; 3];
    let tables = on_every_log(|name, location| {
        let counts = &counts;
        let add = |which: usize| {
            if let Some(count) = counts.get(which) {
                count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        };
        async move {
            let snapshot = open(&location, None).await?;
            let (Ok(before), Ok(faults_before)) = (state_of(&snapshot).await, faults(&location).await) else {
                return Ok(false);
            };
            // If checkpoints and commits are from two tables, there is no single expected result.
            if faults_before.contains_key("FOREIGN_CHECKPOINT") {
                return Ok(false);
            }
            if let Ok(Created::Now) = write_missing_checksum(&snapshot, now_ms()).await {
                add(0);
            }
            if let Some(written) = compact_most(&snapshot).await? {
                assert!(written.bytes > 0 || written.made == Created::Before, "{name}");
                add(1);
                let through = open(&location, None).await?;
                let is_new = |warning: &&String| !snapshot.warnings().contains(warning);
                let new: Vec<_> = through.warnings().iter().filter(is_new).collect();
                assert!(new.is_empty(), "{name}: {new:?}");
                assert_eq!(
                    state_of(&through).await?,
                    before,
                    "{name}: through {}",
                    written.path
                );
            }
            let mut found = faults(&location).await?;
            // A commit without an id gives a checksum without one.
            found.remove("CHECKSUM_WITHOUT_ID");
            let mut expected = faults_before.clone();
            expected.remove("CHECKSUM_WITHOUT_ID");
            assert_eq!(found, expected, "{name}");

            let versions = Listing::whole(&location).await?;
            match clean_up(&snapshot, now_ms() + 400 * DAY_MS).await {
                Ok(cleaned) => {
                    if let Some(oldest) = cleaned.plan.oldest_kept() {
                        add(2);
                        let listing = Listing::whole(&location).await?;
                        assert!(listing.files.len() < versions.files.len(), "{name}");
                        assert!(
                            listing.files.iter().all(|file| file.path.version >= oldest),
                            "{name}"
                        );
                        for number in oldest.as_i64()..=snapshot.version().as_i64().min(oldest.as_i64() + 10)
                        {
                            open(&location, Some(Version::try_new(number)?)).await?;
                        }
                    }
                    assert!(
                        cleaned.plan.oldest_kept().is_some() || cleaned.plan.kept.is_some(),
                        "{name}"
                    );
                }
                Err(error) => {
                    let known = [ErrorKind::UnsupportedFeature, ErrorKind::CorruptLog];
                    assert!(known.contains(&error.kind()), "{name}: {error}");
                    assert_eq!(
                        versions.files.len(),
                        Listing::whole(&location).await?.files.len(),
                        "{name}: {error}"
                    );
                }
            }
            assert_eq!(
                state_of(&open(&location, None).await?).await?,
                before,
                "{name}: cleaned up"
            );
            Ok(true)
        }
    });
    let Some(tables) = tables else { return };
    let [checksums, compactions, cleanups] = counts.map(std::sync::atomic::AtomicUsize::into_inner);
    let ran_cases =
        format!("{tables} tables, {checksums} checksums, {compactions} compactions, {cleanups} cleanups");
    assert!(
        tables > 150 && checksums > 80 && compactions > 70 && cleanups > 50,
        "{ran_cases}"
    );
}

/// Compacts the commits after the snapshot's checkpoint, or all commits.
async fn compact_most(snapshot: &Snapshot) -> Result<Option<Compacted>> {
    let commits = &snapshot.segment().commits;
    let (Some(first), Some(last)) = (commits.first(), commits.last()) else {
        return Ok(None);
    };
    if first.path.version >= last.path.version {
        return Ok(None);
    }
    match compact(snapshot, first.path.version, last.path.version).await {
        Err(error) if error.kind() == ErrorKind::UnsupportedFeature => Ok(None),
        written => written,
    }
}
