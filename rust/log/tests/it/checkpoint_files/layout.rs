//! The layout of actions in a checkpoint file, and its description in the hint.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use deltaic_log::Snapshot;
use deltaic_log::checkpoint::{CheckpointOptions, HintOutcome, write_checkpoint};
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::{Error, Result};
use deltaic_storage::store_error;
use deltaic_testkit::checkpoint_reader::actions_of;
use deltaic_testkit::table_builder::{TableBuilder, remove};
use object_store::ObjectStoreExt;
use parquet::basic::Compression;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Value, json};

use super::actions::{actions, first, named, names, one_column, v2};

const HINT: &str = "_delta_log/_last_checkpoint";

/// The kind of the actions of each row group, and their number.
fn groups(file: &[u8]) -> Result<Vec<(String, i64)>> {
    let bytes = Bytes::copy_from_slice(file);
    let reader = SerializedFileReader::new(bytes).map_err(|error| Error::internal(error.to_string()))?;
    let rows: Vec<i64> = (0..reader.num_row_groups())
        .map(|group| reader.metadata().row_group(group).num_rows())
        .collect();
    let mut actions = actions_of(file)?.into_iter();
    let mut found = Vec::new();
    for rows in rows {
        let part = actions.by_ref().take(usize::try_from(rows).unwrap_or(0));
        let mut kinds: Vec<String> = part
            .filter_map(|action| {
                action
                    .as_object()
                    .and_then(|action| action.keys().next().cloned())
            })
            .collect();
        kinds.dedup();
        found.push((kinds.join("+"), rows));
    }
    Ok(found)
}

/// Readers of live files skip the tombstones' row groups; the buffer of tombstones is bounded.
#[tokio::test]
async fn tombstones_lie_in_row_groups_of_their_own() -> Result<()> {
    const EACH: usize = 30_001;
    let mut commits = vec![first(one_column(), &[], json!({}), &[]), named(9_001)];
    commits.extend((0..3).map(|commit| {
        (0..EACH)
            .map(|number| remove(&format!("gone{commit}-{number}"), None))
            .collect()
    }));
    let table = TableBuilder::of(&commits).await?;
    let written = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
    assert_eq!(
        (written.adds, written.actions),
        (9_001, Some(9_003 + 3 * EACH as u64))
    );
    let groups = groups(&table.read(&written.path).await?)?;
    let removes: Vec<i64> = groups
        .iter()
        .filter_map(|(kind, rows)| (kind == "remove").then_some(*rows))
        .collect();
    assert!(
        groups
            .iter()
            .all(|(kind, _)| kind == "remove" || !kind.contains("remove")),
        "{groups:?}"
    );
    assert_eq!(removes.iter().sum::<i64>(), 3 * EACH as i64);
    // Two thirds are written first, and the rest at the end; of the first, one group has the maximum size.
    assert_eq!((groups.len(), removes.len()), (4, 3), "{groups:?}");
    assert_eq!(removes.iter().max(), Some(&65_536), "{groups:?}");
    let gone = names(&actions(&table, &written, "remove").await?, "path");
    assert_eq!(gone.iter().collect::<BTreeSet<_>>().len(), 3 * EACH);
    Ok(())
}

/// Columns whose values repeat in nearly all files have dictionaries, the others are plain.
#[tokio::test]
async fn only_columns_with_repeated_values_have_dictionaries() -> Result<()> {
    let table = TableBuilder::of(&[first(one_column(), &[], json!({}), &[]), named(100)]).await?;
    let written = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
    let bytes = table.read(&written.path).await?;
    let reader = SerializedFileReader::new(bytes).map_err(|error| Error::internal(error.to_string()))?;
    let columns = reader.metadata().row_group(0).columns();
    let has_dictionary = |path: &str| {
        let mut named = columns
            .iter()
            .filter(|column| column.column_path().string() == path);
        named
            .next()
            .map(|column| column.dictionary_page_offset().is_some())
    };
    for (path, expected) in [
        ("add.path", false),
        ("add.size", false),
        ("add.modificationTime", false),
        ("add.stats", false),
        ("add.stats_parsed.numRecords", false),
        ("add.stats_parsed.minValues.id", false),
        ("add.stats_parsed.nullCount.id", true),
        ("add.partitionValues.key_value.key", true),
    ] {
        assert_eq!(has_dictionary(path), Some(expected), "{path}");
    }
    Ok(())
}

/// Statistics as JSON may be absent, short, or longer than a page; they are compressed with Zstandard.
#[tokio::test]
async fn statistics_of_any_length_are_preserved() -> Result<()> {
    for properties in [json!({}), json!({"delta.checkpoint.writeStatsAsStruct": "false"})] {
        let mut files = named(3_000);
        let mut expected = Vec::new();
        for (number, file) in files.iter_mut().enumerate() {
            let padding = "é".repeat(if number % 500 == 499 { 100_000 } else { number % 90 });
            let text = json!({"numRecords": number, "padding": padding}).to_string();
            let has_text = number % 7 != 0 && !(1_000..1_200).contains(&number);
            let stats = if has_text {
                Value::String(text)
            } else {
                Value::Null
            };
            file["add"]["stats"] = stats.clone();
            expected.push((format!("f{number}"), stats));
        }
        let table = TableBuilder::of(&[first(one_column(), &[], properties, &[]), files]).await?;
        let written = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
        let adds = actions(&table, &written, "add").await?;
        let found = adds.iter().map(|add| {
            let path = add["path"].as_str().unwrap_or_default();
            (path.to_owned(), add["stats"].clone())
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let bytes = table.read(&written.path).await?;
        let reader = SerializedFileReader::new(bytes).map_err(|error| Error::internal(error.to_string()))?;
        let (mut rows, mut nulls, mut present) = (0, 0, 0);
        for group in reader.metadata().row_groups() {
            let mut columns = group.columns().iter();
            let column = columns.find(|column| column.column_path().string() == "add.stats");
            let column = column.expect("statistics as JSON");
            assert!(matches!(column.compression(), Compression::ZSTD(_)));
            rows += group.num_rows();
            present += column.num_values();
            nulls += column
                .statistics()
                .and_then(|found| found.null_count_opt())
                .unwrap_or(0);
        }
        let without = expected.iter().filter(|(_, stats)| stats.is_null()).count() as u64;
        // The protocol and the metadata have rows too.
        assert_eq!((rows, present, nulls), (3_002, 3_002, without + 2));
    }
    Ok(())
}

/// The hint of a checkpoint with an id names the file, and is the same if written again from the existing checkpoint.
///
/// protocol: last-checkpoint-file-schema-json-checksum.1
#[tokio::test]
async fn the_hint_names_the_top_level_of_a_checkpoint_with_an_id() -> Result<()> {
    for is_v2 in [false, true] {
        let first = if is_v2 {
            v2(&json!({}))
        } else {
            first(one_column(), &[], json!({}), &[])
        };
        let table = TableBuilder::of(&[first, named(3)]).await?;
        let snapshot = table.open().await?;
        let written = write_checkpoint(&snapshot, &CheckpointOptions::default()).await?;
        let read = async || -> Result<Value> {
            Ok(serde_json::from_slice(&table.read(HINT).await?).expect("it is JSON"))
        };
        let hint = read().await?;
        assert_eq!(hint["version"], 1);
        assert_eq!(hint["size"], json!(written.actions));
        assert_eq!(hint["numOfAddFiles"], 3);
        assert_eq!(hint["sizeInBytes"], json!(written.bytes));
        if is_v2 {
            let top = table.read(&written.path).await?;
            let name = written.path.rsplit('/').next().unwrap_or_default();
            assert_eq!(hint["v2Checkpoint"]["path"], name);
            assert_eq!(hint["v2Checkpoint"]["sizeInBytes"], json!(top.len()));
        } else {
            assert_eq!(hint.get("v2Checkpoint"), None);
        }
        table.delete(HINT).await?;
        let again = write_checkpoint(&snapshot, &CheckpointOptions::default()).await?;
        assert!(!again.is_new && matches!(again.hint, HintOutcome::Written));
        let (mut hint, mut rewritten_hint) = (hint, read().await?);
        for hint in [&mut hint, &mut rewritten_hint] {
            hint.as_object_mut().map(|hint| hint.remove("checksum"));
            if let Some(top) = hint.get_mut("v2Checkpoint").and_then(Value::as_object_mut) {
                top.remove("modificationTime");
            }
        }
        assert_eq!(hint, rewritten_hint);
    }
    Ok(())
}

/// All actions of a commit that is large enough to be decoded in parts are in the checkpoint, except files removed
/// since.
#[tokio::test]
async fn a_large_commit_is_written_down_whole() -> Result<()> {
    const LARGE_BYTES: usize = 32 << 20;
    let mut files = named(40);
    for file in &mut files {
        file["add"]["tags"] = json!({"pad": "-".repeat(1 << 20)});
    }
    assert!(files.iter().map(|file| file.to_string().len()).sum::<usize>() > LARGE_BYTES);
    files.extend((0..40).map(|number| remove(&format!("old{number}"), None)));
    let gone: Vec<Value> = (0..40)
        .step_by(7)
        .map(|number| remove(&format!("f{number}"), None))
        .collect();
    let table = TableBuilder::of(&[first(one_column(), &[], json!({}), &[]), files, gone.clone()]).await?;
    let mut expected: Vec<String> = (0..40)
        .filter(|number| number % 7 != 0)
        .map(|number| format!("f{number}"))
        .collect();
    expected.sort();
    // A store returns the file in one response; on a disk, several ranges are read concurrently.
    let folder = tempfile::tempdir().map_err(|error| Error::internal(error.to_string()))?;
    for location in [table.location(), table.copy_to(folder.path()).await?] {
        let snapshot = Snapshot::load(Arc::clone(&location), None, LoadOptions::default()).await?;
        let written = write_checkpoint(&snapshot, &CheckpointOptions::default()).await?;
        assert!(
            written.is_new && written.adds == expected.len() as u64,
            "{written:?}"
        );
        let place = location.below(&written.path)?;
        let file = location.store().get(&place).await;
        let file = file.map_err(|error| store_error(&error, &written.path))?;
        let file = file
            .bytes()
            .await
            .map_err(|error| store_error(&error, &written.path))?;
        let all = actions_of(&file)?;
        let of = |kind: &str| -> Vec<Value> {
            all.iter()
                .filter_map(|action| action.get(kind))
                .cloned()
                .collect()
        };
        assert_eq!(names(&of("add"), "path"), expected);
        assert_eq!(of("remove").len(), 40 + gone.len());
    }
    Ok(())
}
