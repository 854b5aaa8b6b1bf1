//! Metadata cleanup: what has expired goes, what is needed stays, and a crash anywhere hurts nobody.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

use std::collections::BTreeSet;

use deltaic_log::Snapshot;
use deltaic_log::cleanup::{CleanedUp, Expired, Kept, clean_up, plan_cleanup};
use deltaic_log::clock::now_ms;
use deltaic_log::listing::Listing;
use deltaic_log::log_tail::LogTail;
use deltaic_log::segment::version_range;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::store_error::store_error;
use deltaic_protocol::log_path::CheckpointFormat;
use deltaic_protocol::{ErrorKind, Result, Version};
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::checksum_writer::ChecksumForm;
use deltaic_testkit::compaction_writer::CompactionForm;
use deltaic_testkit::facts::facts;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::strategies::history_with_upkeep;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use deltaic_testkit::upkeep::{HintForm, Upkeep};
use futures::TryStreamExt;
use object_store::ObjectStore;
use parquet::file::reader::{FileReader, SerializedFileReader};
use proptest::prelude::*;
use serde_json::{Value, json};

const DAY_MS: i64 = 86_400_000;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made")
}

fn version(number: usize) -> Version {
    Version::try_new(i64::try_from(number).unwrap_or(i64::MAX)).expect("a version")
}

async fn open(table: &TableBuilder, asked: Option<usize>) -> Result<Snapshot> {
    Snapshot::load(table.location(), asked.map(version), LoadOptions::default()).await
}

/// A day on which everything that a test writes has long expired.
fn long_after() -> i64 {
    now_ms() + 40 * DAY_MS
}

/// The names in the log's folder and below it.
async fn names(table: &TableBuilder) -> Result<BTreeSet<String>> {
    let location = table.location();
    let folder = location.below("_delta_log")?;
    let listed = location.store().list(Some(&folder)).try_collect::<Vec<_>>().await;
    let listed = listed.map_err(|error| store_error(&error, "_delta_log"))?;
    let below =
        |path: &object_store::path::Path| path.as_ref().trim_start_matches("t/_delta_log/").to_owned();
    Ok(listed.iter().map(|object| below(&object.location)).collect())
}

/// Every version that a listing shows can be opened and is what the oracle says; they are those from `oldest` on.
async fn assert_readable_from(table: &TableBuilder, oldest: usize, how: &str) -> Result<()> {
    let newest = table.commits().len() - 1;
    let listing = Listing::whole(&table.location()).await?;
    let range = version_range(&listing);
    let (first, last) = range.unwrap_or_else(|| panic_with(how));
    assert_eq!(last, version(newest), "{how}");
    assert!(first <= version(oldest), "{how}: the oldest version is {first}");
    for number in usize::try_from(first.as_i64()).unwrap_or(0)..=newest {
        let snapshot = open(table, Some(number)).await?;
        assert_eq!(
            facts(&snapshot).await?,
            replay(&table.commits()[..=number]).facts(),
            "{how}, version {number}"
        );
    }
    let snapshot = open(table, None).await?;
    assert_eq!(facts(&snapshot).await?, replay(table.commits()).facts(), "{how}");
    Ok(())
}

#[expect(clippy::panic, reason = "a table that is gone fails the test")]
fn panic_with(how: &str) -> (Version, Version) {
    panic!("{how}: there is no table any more")
}

const LAYOUTS: [Layout; 5] = [
    Layout::Classic,
    Layout::MultiPart(3),
    Layout::ClassicV2(2),
    Layout::V2(CheckpointFormat::Json, 2),
    Layout::V2(CheckpointFormat::Parquet, 2),
];

/// Ten commits, checkpoints at 2, 5 and 8, checksums, compactions; a sidecar and a commit that were left behind.
async fn table(layout: Layout, properties: &Value) -> Result<TableBuilder> {
    table_of(layout, properties, None).await
}

/// The same; its versions 1 and 2 have another protocol where one is given.
async fn table_of(layout: Layout, properties: &Value, old: Option<&Value>) -> Result<TableBuilder> {
    let mut table = TableBuilder::new();
    for number in 0..10 {
        let actions = match (number, old) {
            (0, _) => first_actions(properties),
            (1, Some(old)) => vec![json!({ "protocol": old }), add("f2", None)],
            (3, Some(_)) => [
                first_actions(properties),
                vec![remove("f2", None), add("f3", None)],
            ]
            .concat(),
            (2, Some(_)) => vec![json!({"commitInfo": {"operation": "WRITE"}})],
            _ => vec![
                json!({"commitInfo": {"operation": "WRITE", "inCommitTimestamp": number * 10 * DAY_MS}}),
                add(&format!("f{number}"), None),
                remove(&format!("f{}", number - 1), None),
            ],
        };
        table.commit(actions).await?;
        table.upkeep(&Upkeep::Checksum(ChecksumForm::Minimal)).await?;
        match number {
            2 | 5 | 8 => {
                table
                    .upkeep(&Upkeep::Checkpoint(CheckpointForm::of(layout)))
                    .await?
            }
            4 | 7 => {
                table
                    .upkeep(&Upkeep::Compaction(2, CompactionForm::Right))
                    .await?
            }
            _ => {}
        }
    }
    for name in LEFT_BEHIND {
        table
            .put(&format!("_delta_log/{name}"), b"left behind".to_vec())
            .await?;
    }
    Ok(table)
}

const LEFT_BEHIND: [&str; 3] = [
    ".00000000000000000007.json.3a0d65cd-4056-49b8-937b-95f9e0ee90e5.tmp",
    "_probe-3a0d65cd-4056-49b8-937b-95f9e0ee90e5",
    "_sidecars/orphan.parquet",
];

fn first_actions(properties: &Value) -> Vec<Value> {
    let mut first = TableBuilder::first_actions();
    let features = ["v2Checkpoint", "inCommitTimestamp", "checkpointProtection"];
    first[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["v2Checkpoint"], "writerFeatures": features}});
    first[1]["metaData"]["configuration"] = properties.clone();
    first.insert(
        0,
        json!({"commitInfo": {"operation": "CREATE TABLE", "inCommitTimestamp": 0}}),
    );
    first
}

fn count(cleaned: &CleanedUp, why: Expired) -> usize {
    cleaned
        .deleted
        .iter()
        .filter(|deletion| deletion.why == why)
        .count()
}

/// The newest checkpoint that is old enough stays with all that is behind it; of every form, what is before it goes.
///
/// protocol: metadata-cleanup.1, checkpoints.3
#[test]
fn what_has_expired_goes_and_the_rest_is_the_same_table() -> Result<()> {
    runtime().block_on(async {
        for layout in LAYOUTS {
            let how = format!("{layout:?}");
            let table = table(layout, &json!({})).await?;
            let before = names(&table).await?;
            let snapshot = open(&table, None).await?;
            let planned = plan_cleanup(&snapshot, long_after()).await?;
            assert_eq!(names(&table).await?, before, "{how}: a plan deletes nothing");
            let cleaned = clean_up(&snapshot, long_after()).await?;
            assert_eq!(cleaned.plan.oldest_kept(), Some(version(8)), "{how}");
            assert!(cleaned.passed_over.is_empty(), "{how}: {:?}", cleaned.passed_over);
            let said: Vec<_> = planned.deletions().cloned().collect();
            assert_eq!(said, cleaned.deleted, "{how}: what was planned was done");
            let after = names(&table).await?;
            assert_eq!(before.len() - after.len(), cleaned.deleted.len(), "{how}");
            // What is left: two commits and checksums, and the checkpoint's files.
            for name in &after {
                let is_new = name.trim_start_matches("_sidecars/") >= "00000000000000000008";
                assert!(is_new, "{how}: {name} is left");
            }
            let sidecars = after.iter().filter(|name| name.starts_with("_sidecars/")).count();
            let has_sidecars = matches!(layout, Layout::ClassicV2(_) | Layout::V2(..));
            assert_eq!(sidecars, if has_sidecars { 2 } else { 0 }, "{how}");
            assert_eq!(
                count(&cleaned, Expired::Sidecar),
                1 + if has_sidecars { 4 } else { 0 },
                "{how}"
            );
            assert_eq!(count(&cleaned, Expired::LeftBehind), 2, "{how}");
            assert_eq!(count(&cleaned, Expired::Compaction), 2, "{how}");
            assert_eq!(count(&cleaned, Expired::BeforeCheckpoint), 16, "{how}");
            assert_readable_from(&table, 8, &how).await?;
            // Nothing is left to be done.
            let again = clean_up(&snapshot, long_after()).await?;
            assert_eq!(
                (again.plan.kept, again.deleted.len()),
                (Some(Kept::NothingExpired), 0),
                "{how}"
            );
        }
        Ok(())
    })
}

/// Who comes within the retention, or the day in which a checkpoint may still be in progress, finds nothing to do.
///
/// protocol: metadata-cleanup.1
#[test]
fn nothing_goes_before_its_time() -> Result<()> {
    runtime().block_on(async {
        let table = table(Layout::V2(CheckpointFormat::Parquet, 2), &json!({})).await?;
        let before = names(&table).await?;
        let snapshot = open(&table, None).await?;
        for now in [now_ms(), now_ms() + DAY_MS - 60_000] {
            let cleaned = clean_up(&snapshot, now).await?;
            assert_eq!(cleaned.plan.kept, Some(Kept::NothingExpired));
            assert_eq!(names(&table).await?, before);
        }
        // After two days what nobody names has been left behind; the log itself is kept for a month.
        let cleaned = clean_up(&snapshot, now_ms() + 2 * DAY_MS).await?;
        assert_eq!(cleaned.plan.kept, Some(Kept::NothingExpired));
        let gone: BTreeSet<String> = before.difference(&names(&table).await?).cloned().collect();
        assert_eq!(gone, LEFT_BEHIND.map(str::to_owned).into());
        Ok(())
    })
}

/// The commit's own time counts where commits have one, whatever the files' times are.
///
/// protocol: metadata-cleanup.1, recommendations-for-readers-of-tables-with-in-commit-timestamps.2
#[test]
fn days_go_by_in_commit_timestamps() -> Result<()> {
    runtime().block_on(async {
        let enabled = json!({"delta.enableInCommitTimestamps": "true", "delta.logRetentionDuration": "interval 30 days"});
        // Version n was committed on day 10n; what is older than 30 days at midnight has expired.
        for (day, kept) in [(50, Some(2)), (49, None), (79, Some(2)), (80, Some(5)), (500, Some(8)), (29, None)] {
            for millisecond in [0, DAY_MS - 1] {
                let table = table(Layout::Classic, &enabled).await?;
                let cleaned = clean_up(&open(&table, None).await?, day * DAY_MS + millisecond).await?;
                let expected = kept.map(version);
                assert_eq!(cleaned.plan.oldest_kept(), expected, "day {day} + {millisecond}");
                assert_readable_from(&table, kept.unwrap_or(0), &format!("day {day}")).await?;
            }
        }
        Ok(())
    })
}

/// Where the first commits have no time of their own, their files' times count, up to when the others have one.
///
/// protocol: recommendations-for-readers-of-tables-with-in-commit-timestamps.3,
/// recommendations-for-readers-of-tables-with-in-commit-timestamps.5
#[test]
fn commits_from_before_in_commit_timestamps_go_by_their_files() -> Result<()> {
    runtime().block_on(async {
        let enabled = json!({
            "delta.enableInCommitTimestamps": "true",
            "delta.inCommitTimestampEnablementVersion": "6",
            "delta.inCommitTimestampEnablementTimestamp": (60 * DAY_MS).to_string(),
        });
        // The files are of today, long after the times that the later commits hold.
        for (day, kept) in [(85, None), (90, Some(5)), (109, Some(5)), (110, Some(8))] {
            let table = table(Layout::Classic, &enabled).await?;
            let cleaned = clean_up(&open(&table, None).await?, day * DAY_MS).await?;
            assert_eq!(cleaned.plan.oldest_kept(), kept.map(version), "day {day}");
        }
        Ok(())
    })
}

/// Protected checkpoints go with all that is before them, or where every protocol of what goes is understood.
///
/// protocol: beyond:checkpoint-protection.1
#[test]
fn protected_checkpoints_go_in_one_go_or_when_they_are_understood() -> Result<()> {
    runtime().block_on(async {
        let known = json!({"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["checkpointProtection", "rowTracking", "domainMetadata"]});
        let unknown = json!({"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["checkpointProtection", "fromTheFuture"]});
        for (protected, protocol, is_cut) in [
            ("8", &unknown, true),
            ("1", &unknown, true),
            ("9", &unknown, false),
            ("500", &unknown, false),
            ("9", &known, true),
        ] {
            for layout in [Layout::Classic, Layout::V2(CheckpointFormat::Json, 1)] {
                for is_in_commit in [true, false] {
                    let how = format!("{protected}, {protocol}, {layout:?}, {is_in_commit}");
                    let properties = json!({"delta.requireCheckpointProtectionBeforeVersion": protected});
                    let mut table = table_of(layout, &properties, Some(protocol)).await?;
                    if !is_in_commit {
                        // The protocol is told by a checkpoint alone, since the log begins there.
                        for number in 0..3 {
                            table.delete(&format!("_delta_log/{number:020}.json")).await?;
                        }
                    }
                    let before = names(&table).await?;
                    let cleaned = clean_up(&open(&table, None).await?, long_after()).await?;
                    assert_eq!(cleaned.plan.oldest_kept().is_some(), is_cut, "{how}");
                    let gone = before.difference(&names(&table).await?).count();
                    assert_eq!(gone == LEFT_BEHIND.len(), !is_cut, "{how}");
                    table.commit(vec![add("later", None)]).await?;
                    assert_eq!(open(&table, None).await?.num_files(), 2, "{how}");
                }
            }
        }
        // Where a commit among them is damaged nobody knows.
        let table = table(Layout::Classic, &json!({"delta.requireCheckpointProtectionBeforeVersion": "9"})).await?;
        table.put("_delta_log/00000000000000000004.json", b"a protocol, or none\n".to_vec()).await?;
        let cleaned = clean_up(&open(&table, None).await?, long_after()).await?;
        assert_eq!(cleaned.plan.kept, Some(Kept::Protected(version(9))));
        Ok(())
    })
}

/// Damage is not cleaned away: where what is kept is not whole, every file stays.
#[test]
fn of_a_damaged_log_no_file_goes() -> Result<()> {
    runtime().block_on(async {
        for damage in ["00000000000000000009.json", "00000000000000000008.json"] {
            let table = table(Layout::Classic, &json!({})).await?;
            let snapshot = open(&table, None).await?;
            table.delete(&format!("_delta_log/{damage}")).await?;
            // A commit is missing that the one behind it needs; the checkpoint of 8 is spoilt besides.
            table
                .put(
                    "_delta_log/00000000000000000010.json",
                    b"{\"commitInfo\":{}}\n".to_vec(),
                )
                .await?;
            table
                .put(
                    "_delta_log/00000000000000000008.checkpoint.parquet",
                    b"spoilt".to_vec(),
                )
                .await?;
            let before = names(&table).await?;
            let refused = clean_up(&snapshot, long_after()).await.expect_err(damage);
            assert_eq!(refused.kind(), ErrorKind::CorruptLog, "{damage}: {refused}");
            assert!(refused.hint_text().is_some(), "{damage}: no hint");
            assert_eq!(names(&table).await?, before, "{damage}");
        }
        Ok(())
    })
}

/// On a disk: by the files' own times, and through symbolic links nothing goes that is not the table's.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "what is tested goes by the times that files have on a disk"
)]
fn days_go_by_the_times_of_files() -> Result<()> {
    runtime().block_on(async {
        let table = table(Layout::V2(CheckpointFormat::Parquet, 1), &json!({})).await?;
        let folder = tempfile::tempdir().expect("a folder");
        let location = table.copy_to(folder.path()).await?;
        // Version n was written at the first moment of day 1000 + n, and so was all that speaks of it.
        for name in names(&table).await? {
            let digits = name.trim_start_matches("_sidecars/").trim_start_matches('.');
            let number: u64 = digits
                .get(..20)
                .and_then(|digits| digits.parse().ok())
                .unwrap_or(3);
            let written = std::time::Duration::from_secs((1000 + number) * 86_400);
            let file = std::fs::File::options()
                .write(true)
                .open(folder.path().join("_delta_log").join(&name));
            file.and_then(|file| file.set_modified(std::time::UNIX_EPOCH + written))
                .expect("a time is set");
        }
        let opened = Snapshot::load(location, None, LoadOptions::default()).await?;
        let right = facts(&opened).await?;
        let on_day = |day: i64| clean_up(&opened, (1000 + 30 + day) * DAY_MS);
        for (day, kept) in [
            (1, None),
            (2, Some(2)),
            (4, None),
            (5, Some(5)),
            (7, None),
            (8, Some(8)),
            (100, None),
        ] {
            let cleaned = on_day(day).await?;
            assert_eq!(cleaned.plan.oldest_kept(), kept.map(version), "day {day}");
            assert!(cleaned.passed_over.is_empty(), "{:?}", cleaned.passed_over);
            assert_eq!(facts(&opened.refresh().await?).await?, right, "day {day}");
        }
        let left = std::fs::read_dir(folder.path().join("_delta_log"))
            .expect("the log")
            .count();
        // Two commits with their checksums, a checkpoint, and the folder of its sidecar.
        assert_eq!(left, 6);
        Ok(())
    })
}

#[test]
fn a_table_that_keeps_its_log_keeps_all_of_it() -> Result<()> {
    runtime().block_on(async {
        let table = table(
            Layout::Classic,
            &json!({"delta.enableExpiredLogCleanup": "false"}),
        )
        .await?;
        let before = names(&table).await?;
        let cleaned = clean_up(&open(&table, None).await?, long_after()).await?;
        assert_eq!(cleaned.plan.kept, Some(Kept::Disabled));
        assert_eq!(names(&table).await?, before);
        Ok(())
    })
}

/// Another writer's word counts that came after the snapshot.
#[test]
fn the_newest_versions_rules_count() -> Result<()> {
    runtime().block_on(async {
        let mut table = table(Layout::Classic, &json!({})).await?;
        let stale = open(&table, None).await?;
        table
            .commit(first_actions(&json!({"delta.enableExpiredLogCleanup": "false"})))
            .await?;
        let cleaned = clean_up(&stale, long_after()).await?;
        assert_eq!(cleaned.plan.kept, Some(Kept::Disabled));
        Ok(())
    })
}

#[test]
fn what_cannot_be_understood_is_refused_and_nothing_goes() -> Result<()> {
    runtime().block_on(async {
        let strange = json!({"delta.logRetentionDuration": "for a while"});
        let table = table(Layout::Classic, &strange).await?;
        let before = names(&table).await?;
        let refused = clean_up(&open(&table, None).await?, long_after()).await.expect_err("refused");
        assert_eq!(refused.kind(), ErrorKind::CorruptLog);
        assert!(refused.context().contains(&("field", "delta.logRetentionDuration".into())), "{refused}");
        assert_eq!(names(&table).await?, before);

        let mut table = self::table(Layout::Classic, &json!({})).await?;
        let mut unknown = first_actions(&json!({}));
        unknown[1] = json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["fromTheFuture"]}});
        table.commit(unknown).await?;
        let before = names(&table).await?;
        let refused = clean_up(&open(&table, None).await?, long_after()).await.expect_err("refused");
        assert_eq!(refused.kind(), ErrorKind::UnsupportedFeature);
        assert!(refused.to_string().contains("fromTheFuture"), "{refused}");
        assert_eq!(names(&table).await?, before);
        Ok(())
    })
}

/// protocol: catalog:maintenance-operations-on-catalog-managed-tables.2
#[test]
fn a_table_with_a_catalog_is_left_to_it() -> Result<()> {
    runtime().block_on(async {
        let mut table = TableBuilder::new();
        let mut first = TableBuilder::first_actions();
        first[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
            "readerFeatures": ["catalogManaged", "vacuumProtocolCheck"],
            "writerFeatures": ["catalogManaged", "vacuumProtocolCheck", "inCommitTimestamp"]}});
        table.commit(first).await?;
        table.commit(vec![add("a", None)]).await?;
        table
            .upkeep(&Upkeep::Checkpoint(CheckpointForm::of(Layout::Classic)))
            .await?;
        table
            .put(&format!("_delta_log/{}", LEFT_BEHIND[0]), Vec::new())
            .await?;
        let before = names(&table).await?;
        let tail = LogTail {
            commits: Vec::new(),
            max_version: Some(version(1)),
        };
        let snapshot =
            Snapshot::load_with_tail(table.location(), &tail, None, LoadOptions::default()).await?;
        let refused = clean_up(&snapshot, long_after()).await.expect_err("refused");
        assert_eq!(refused.kind(), ErrorKind::UnsupportedFeature);
        assert!(refused.hint_text().is_some_and(|hint| hint.contains("catalog")));
        assert_eq!(names(&table).await?, before);
        Ok(())
    })
}

/// A checkpoint that cannot be read stands for nothing: the commits are cut at an older one, or not at all.
#[test]
fn a_checkpoint_proves_itself_before_what_it_stands_for_goes() -> Result<()> {
    runtime().block_on(async {
        for layout in LAYOUTS {
            let how = format!("{layout:?}");
            let table = table(layout, &json!({})).await?;
            // Of the newest two one file each is spoilt, which may be a part or a sidecar.
            for number in [8, 5] {
                let of_it = |name: &&String| {
                    name.contains(&format!("{number:020}.checkpoint")) && name.ends_with(".parquet")
                };
                let spoilt = names(&table).await?.iter().rfind(of_it).cloned().expect("a file");
                table
                    .put(&format!("_delta_log/{spoilt}"), b"spoilt".to_vec())
                    .await?;
            }
            let cleaned = clean_up(&open(&table, None).await?, long_after()).await?;
            assert_eq!(cleaned.plan.oldest_kept(), Some(version(2)), "{how}");
            for number in 2..10 {
                let snapshot = open(&table, Some(number)).await?;
                assert_eq!(
                    facts(&snapshot).await?,
                    replay(&table.commits()[..=number]).facts(),
                    "{how}"
                );
            }
            // Nobody knows which sidecars a spoilt top level names, so all stay; of a whole one those that it names.
            let left = names(&table).await?;
            let is_spoilt_top = matches!(layout, Layout::ClassicV2(_));
            let has_orphan = left.contains("_sidecars/orphan.parquet");
            assert_eq!(
                has_orphan,
                !cleaned.passed_over.is_empty(),
                "{how}: {:?}",
                cleaned.passed_over
            );
            assert!(
                !is_spoilt_top || has_orphan || left.iter().any(|name| name.starts_with("_sidecars/")),
                "{how}"
            );
        }
        Ok(())
    })
}

/// A file whose bytes of one column are spoilt.
fn with_spoilt_column(file: bytes::Bytes, column: &str) -> Vec<u8> {
    let reader = SerializedFileReader::new(file.clone()).expect("a Parquet file");
    let mut spoilt = file.to_vec();
    for group in reader.metadata().row_groups() {
        let chunks = group.columns().iter();
        for chunk in chunks.filter(|chunk| chunk.column_path().string() == column) {
            let (start, length) = chunk.byte_range();
            let range = usize::try_from(start).unwrap_or(0)..usize::try_from(start + length).unwrap_or(0);
            spoilt[range].fill(0xff);
        }
    }
    assert_ne!(spoilt, file, "there is such a column");
    spoilt
}

/// Nobody opens a table for its tombstones, and yet they must not be lost with the commits that hold them.
#[test]
fn a_checkpoint_proves_its_tombstones_too() -> Result<()> {
    runtime().block_on(async {
        let table = table(Layout::Classic, &json!({})).await?;
        let relative = "_delta_log/00000000000000000008.checkpoint.parquet";
        let whole = table.location().read(relative).await;
        let whole = whole.map_err(|error| store_error(&error, relative))?;
        table
            .put(relative, with_spoilt_column(whole, "remove.deletionTimestamp"))
            .await?;
        let snapshot = open(&table, None).await?;
        assert!(
            snapshot.warnings().is_empty(),
            "it opens by that checkpoint: {:?}",
            snapshot.warnings()
        );
        let cleaned = clean_up(&snapshot, long_after()).await?;
        assert_eq!(cleaned.plan.oldest_kept(), Some(version(5)));
        Ok(())
    })
}

/// What lies among the sidecars and is none is nobody's business.
#[test]
fn only_sidecars_are_taken_for_sidecars() -> Result<()> {
    runtime().block_on(async {
        let table = table(Layout::Classic, &json!({})).await?;
        for name in ["notes.txt", ".hidden.parquet"] {
            table
                .put(&format!("_delta_log/_sidecars/{name}"), b"mine".to_vec())
                .await?;
        }
        clean_up(&open(&table, None).await?, long_after()).await?;
        let left = names(&table).await?;
        let left: Vec<&String> = left
            .iter()
            .filter(|name| name.starts_with("_sidecars/"))
            .collect();
        assert_eq!(left, ["_sidecars/.hidden.parquet", "_sidecars/notes.txt"]);
        Ok(())
    })
}

/// The checkpoint that the hint names stays, and all behind it: there are readers who go by nothing else.
#[test]
fn a_hint_never_comes_to_name_what_is_gone() -> Result<()> {
    runtime().block_on(async {
        for (hint, kept) in [
            (HintForm::Right, 8),
            (HintForm::Stale, 2),
            (HintForm::Ahead, 8),
            (HintForm::Torn, 8),
        ] {
            let mut table = table(Layout::Classic, &json!({})).await?;
            table.upkeep(&Upkeep::Hint(hint)).await?;
            let cleaned = clean_up(&open(&table, None).await?, long_after()).await?;
            assert_eq!(cleaned.plan.oldest_kept(), Some(version(kept)), "{hint:?}");
            assert_readable_from(&table, kept, &format!("{hint:?}")).await?;
        }
        Ok(())
    })
}

/// The store stops answering at any request, for once or for good, whatever became of that one: every version that is
/// shown then can be read, the newest is the same, and who cleans up again comes to the same end.
///
/// protocol: checkpoints.3
#[test]
fn a_crash_at_any_request_leaves_a_table_that_opens() -> Result<()> {
    runtime().block_on(async {
        for layout in [
            Layout::Classic,
            Layout::MultiPart(2),
            Layout::V2(CheckpointFormat::Json, 1),
        ] {
            let whole = table(layout, &json!({})).await?;
            clean_up(&open(&whole, None).await?, long_after()).await?;
            let expected: Vec<usize> = name_lengths(&names(&whole).await?);
            for fault in [Fault::RequestLost, Fault::AnswerLost] {
                for is_for_good in [false, true] {
                    for number in 0.. {
                        let how =
                            format!("{layout:?}, {fault:?} at request {number}, for good: {is_for_good}");
                        let table = table(layout, &json!({})).await?;
                        let snapshot = open(&table, None).await?;
                        let end = if is_for_good { usize::MAX } else { number + 1 };
                        table.scripted().forget();
                        table.scripted().fail(Rule::new(fault).requests(number..end));
                        let cleaned = clean_up(&snapshot, long_after()).await;
                        let was_met = table.scripted().faults_met() > 0;
                        table.scripted().heal();
                        if let Err(error) = &cleaned {
                            assert_eq!(error.kind(), ErrorKind::StorageError, "{how}: {error}");
                            assert!(error.hint_text().is_some(), "{how}: no hint: {error}");
                        }
                        assert_readable_from(&table, 8, &how).await?;
                        clean_up(&open(&table, None).await?, long_after()).await?;
                        assert_eq!(
                            name_lengths(&names(&table).await?),
                            expected,
                            "{how}: cleaned up again"
                        );
                        if !was_met {
                            assert!(number > 20, "{how}: a cleanup makes requests");
                            break;
                        }
                    }
                }
            }
        }
        Ok(())
    })
}

/// Names without what is different each time: their number and lengths.
fn name_lengths(names: &BTreeSet<String>) -> Vec<usize> {
    names.iter().map(String::len).collect()
}

/// Files that another cleaner has deleted meanwhile are as good as deleted.
#[test]
fn two_may_clean_up_at_once() -> Result<()> {
    runtime().block_on(async {
        let table = table(Layout::Classic, &json!({})).await?;
        let snapshot = open(&table, None).await?;
        let (one, other) = futures::join!(
            clean_up(&snapshot, long_after()),
            clean_up(&snapshot, long_after())
        );
        one?;
        other?;
        assert_readable_from(&table, 8, "two").await?;
        table
            .scripted()
            .fail(Rule::new(Fault::NotFound).of(&[RequestKind::Delete]));
        let table = self::table(Layout::Classic, &json!({})).await?;
        table
            .scripted()
            .fail(Rule::new(Fault::NotFound).of(&[RequestKind::Delete]));
        clean_up(&open(&table, None).await?, long_after()).await?;
        Ok(())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Logs of any form with anything in them, cut off after any number of deletions: the newest state is the same, every
    /// version from the oldest kept on can be read, and whoever goes on cleaning comes to an end.
    ///
    /// protocol: metadata-cleanup.1, checkpoints.3
    #[test]
    fn any_log_stays_readable(history in history_with_upkeep(), stop in any::<prop::sample::Index>(), is_cut_off in any::<bool>()) {
        runtime().block_on(async {
            let mut table = TableBuilder::new();
            for (actions, upkeep) in &history {
                table.commit(actions.clone()).await?;
                for step in upkeep {
                    table.upkeep(step).await?;
                }
            }
            let readable = table.readable();
            let snapshot = open(&table, None).await?;
            let planned = plan_cleanup(&snapshot, long_after()).await?;
            let oldest = planned.oldest_kept().map(|version| usize::try_from(version.as_i64()).unwrap_or(0));
            let oldest = oldest.unwrap_or(*readable.start());
            let deletions = planned.deletions().count();
            if is_cut_off {
                let from = stop.index(deletions + 1);
                let rule = Rule::new(Fault::RequestLost).of(&[RequestKind::Delete]);
                table.scripted().fail(rule.requests(from..usize::MAX));
            }
            let cleaned = clean_up(&snapshot, long_after()).await;
            let was_met = table.scripted().faults_met() > 0;
            table.scripted().heal();
            assert_eq!(cleaned.is_err(), was_met, "{cleaned:?}");
            for number in oldest..=*readable.end() {
                let opened = open(&table, Some(number)).await?;
                assert_eq!(facts(&opened).await?, replay(&table.commits()[..=number]).facts(), "version {number}");
            }
            assert_eq!(facts(&open(&table, None).await?).await?, replay(table.commits()).facts());
            clean_up(&snapshot, long_after()).await?;
            let again = clean_up(&snapshot, long_after()).await?;
            assert!(again.deleted.is_empty(), "{:?}", again.deleted);
            Result::<()>::Ok(())
        }).map_err(|error: deltaic_protocol::Error| TestCaseError::fail(error.to_string()))?;
    }
}
