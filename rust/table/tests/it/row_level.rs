//! Transactions that delete rows of the same files by deletion vectors: the reported results agree with the table.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

use std::collections::{BTreeMap, BTreeSet};

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::whole_adds;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{CommitOptions, Committed, Operation};
use deltaic_protocol::deletion_vector::{Bitmap, Descriptor, VectorFile, VectorLocation, z85};
use deltaic_protocol::{Conflict, ErrorKind, Result};
use deltaic_storage::store_error;
use deltaic_table::operations::DeleteRows;
use deltaic_table::read::{VectorOf, read_vectors};
use deltaic_table::transaction::TableTransaction;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::TableBuilder;
use futures::TryStreamExt;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

/// Rows of each file. Each is at `POSITIONS` positions of the file, so that the vector of one is inline and that of
/// several is in a file.
const ROWS: u64 = 12;
const POSITIONS: u64 = 10;
const FILES: [&str; 2] = ["a.parquet", "b%20c.parquet"];

/// Rows by file.
type Rows = BTreeMap<String, BTreeSet<u64>>;

/// The positions of rows in their file.
fn positions<'a>(rows: impl IntoIterator<Item = &'a u64>) -> Vec<u64> {
    let positions = rows
        .into_iter()
        .flat_map(|row| (0..POSITIONS).map(move |turn| turn * ROWS + row));
    positions.collect()
}

/// A table whose files have no deleted rows, or already have a deletion vector.
async fn made(vector: Option<&Descriptor>) -> Result<TableBuilder> {
    let mut table = TableBuilder::new();
    let mut first = TableBuilder::first_actions_with_vectors();
    first[1]["metaData"]["configuration"] = json!({"delta.enableDeletionVectors": "true"});
    table.commit(first).await?;
    let adds = FILES.map(|path| {
        let mut add = json!({"path": path, "partitionValues": {}, "size": 1, "modificationTime": 0,
            "dataChange": true, "stats": format!(r#"{{"numRecords":{}}}"#, ROWS * POSITIONS), "tags": {"k": "v"}});
        if let Some(vector) = vector {
            add["deletionVector"] = json!(vector);
        }
        json!({ "add": add })
    });
    table.commit(adds.to_vec()).await?;
    Ok(table)
}

async fn open(table: &TableBuilder) -> Result<Snapshot> {
    Snapshot::load(table.location(), None, LoadOptions::default()).await
}

async fn delete(snapshot: &Snapshot, rows: &Rows) -> Result<(TableTransaction, u64)> {
    let mut transaction =
        TableTransaction::try_new(snapshot.clone(), Operation::Write, CommitOptions::default())?;
    let rows = rows.iter().map(|(path, rows)| (path.clone(), positions(rows)));
    let delete = DeleteRows { rows: rows.collect() };
    let deleted = transaction.apply(&delete).await?;
    assert_eq!(deleted % POSITIONS, 0);
    Ok((transaction, deleted / POSITIONS))
}

fn rows_of(path: &str, rows: &[u64]) -> Rows {
    BTreeMap::from([(path.to_owned(), rows.iter().copied().collect())])
}

/// The deleted rows; all rows of a removed file.
async fn deleted(table: &TableBuilder) -> Result<Rows> {
    let snapshot = open(table).await?;
    let adds = whole_adds(&snapshot, Some(&FILES.map(str::to_owned))).await?;
    let mut found = Rows::new();
    for path in FILES {
        let Some(add) = adds.iter().find(|add| add.path == path) else {
            found.insert(path.to_owned(), (0..ROWS).collect());
            continue;
        };
        assert!(add.tags.is_some(), "what the log says besides is kept");
        let Some(descriptor) = add.deletion_vector.clone() else {
            found.insert(path.to_owned(), BTreeSet::new());
            continue;
        };
        let wanted = vec![VectorOf {
            path: path.to_owned(),
            descriptor,
        }];
        let read = read_vectors(&table.location(), wanted).await?;
        let deleted: Vec<u64> = read.iter().flat_map(|bitmap| bitmap.iter()).collect();
        let rows: BTreeSet<u64> = deleted.iter().map(|position| position % ROWS).collect();
        assert_eq!(deleted.len(), positions(&rows).len());
        found.insert(path.to_owned(), rows);
    }
    Ok(found)
}

/// The deletion vector files of the store, and those that any commit names.
async fn vector_files(table: &TableBuilder) -> Result<(BTreeSet<String>, BTreeSet<String>)> {
    let location = table.location();
    let (mut stored, mut named) = (BTreeSet::new(), BTreeSet::new());
    let failed = |error| store_error(&error, "a listing");
    let files: Vec<_> = location.store().list(None).try_collect().await.map_err(failed)?;
    for file in files {
        let relative = file.location.as_ref().trim_start_matches("t/").to_owned();
        if relative.ends_with(".bin") {
            stored.insert(relative);
        } else if relative.ends_with(".json") {
            let bytes = location.read(&relative).await.map_err(failed)?;
            for line in bytes.split(|byte| *byte == b'\n') {
                let action: Value = serde_json::from_slice(line).unwrap_or_default();
                let vector = action["add"]["deletionVector"].clone();
                let Ok(descriptor) = serde_json::from_value::<Descriptor>(vector) else {
                    continue;
                };
                if let VectorLocation::File(path) = descriptor.validate()? {
                    named.insert(path.into_owned());
                }
            }
        }
    }
    Ok((stored, named))
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(work)
}

/// All transactions start from the same version and commit one after the other.
async fn hold(wanted: &[Rows], with_vectors: bool) -> std::result::Result<(), TestCaseError> {
    let failed = |error: deltaic_protocol::Error| TestCaseError::fail(error.to_string());
    // The files share one inline vector, if any: row 0 is deleted beforehand.
    let base_rows: BTreeSet<u64> = with_vectors.then_some(0).into_iter().collect();
    let base = Bitmap::from_positions(positions(&base_rows)).map_err(failed)?;
    let bytes = base.encode().map_err(failed)?;
    let vector = Descriptor {
        storage_type: "i".to_owned(),
        path_or_inline_dv: z85::encode(&bytes),
        offset: None,
        size_in_bytes: i32::try_from(bytes.len()).unwrap_or(0),
        cardinality: base.len() as i64,
    };
    let table = made(with_vectors.then_some(&vector)).await.map_err(failed)?;
    let snapshot = open(&table).await.map_err(failed)?;
    let mut staged = Vec::new();
    for rows in wanted {
        staged.push(delete(&snapshot, rows).await.map_err(failed)?);
    }
    let before: Rows = FILES
        .iter()
        .map(|path| ((*path).to_owned(), base_rows.clone()))
        .collect();
    let mut acknowledged = before.clone();
    for ((mut transaction, counted), rows) in staged.into_iter().zip(wanted) {
        // Rows deleted before the snapshot do not count for this transaction.
        let fresh: Rows = rows
            .iter()
            .map(|(path, rows)| (path.clone(), rows.difference(&before[path]).copied().collect()))
            .collect();
        prop_assert_eq!(counted, fresh.values().map(|rows| rows.len() as u64).sum::<u64>());
        let overlaps = fresh
            .iter()
            .any(|(path, rows)| !rows.is_disjoint(&acknowledged[path]));
        // A file that is removed completely cannot be merged.
        match transaction.commit().await {
            Ok(None) => prop_assert_eq!(counted, 0),
            Ok(Some(_)) => {
                prop_assert!(!overlaps, "a row went twice: {fresh:?}");
                for (path, rows) in fresh {
                    acknowledged.entry(path).or_default().extend(rows);
                }
            }
            Err(error) => {
                prop_assert!(matches!(error.kind(), ErrorKind::CommitConflict(_)), "{}", error);
                prop_assert!(overlaps, "needless: {error}");
            }
        }
    }
    prop_assert_eq!(deleted(&table).await.map_err(failed)?, acknowledged);
    let snapshot = open(&table).await.map_err(failed)?;
    for add in whole_adds(&snapshot, None).await.map_err(failed)? {
        let cardinality = add.deletion_vector.map_or(0, |vector| vector.cardinality);
        prop_assert!(
            cardinality < (ROWS * POSITIONS) as i64,
            "{} is live and has no row left",
            add.path
        );
    }
    let (stored, named) = vector_files(&table).await.map_err(failed)?;
    prop_assert_eq!(stored, named, "no vector is missing, and none is left behind");
    Ok(())
}

fn some_rows() -> impl Strategy<Value = Rows> {
    // Two halves together are all rows of a file.
    let half = any::<bool>().prop_map(|upper| match upper {
        false => (0..ROWS / 2).collect(),
        true => (ROWS / 2..ROWS).collect(),
    });
    let rows = || prop_oneof![4 => btree_set(0..ROWS, 0..5), 1 => half.clone()];
    (rows(), rows()).prop_map(|(first, second)| {
        let files = FILES.iter().map(|path| (*path).to_owned());
        files
            .zip([first, second])
            .filter(|(_, rows)| !rows.is_empty())
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Exactly the acknowledged rows are deleted; a rejected transaction wanted to delete a deleted row.
    #[test]
    fn exactly_the_acknowledged_rows_are_deleted(wanted in vec(some_rows(), 2..=4), with_vectors: bool) {
        block_on(hold(&wanted, with_vectors))?;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_one_file_are_deleted_once_by_concurrent_transactions() -> Result<()> {
    let table = made(None).await?;
    let snapshot = open(&table).await?;
    let [first, second] = FILES;
    let (mut one, _) = delete(&snapshot, &rows_of(first, &[1, 2])).await?;
    let (mut two, _) = delete(&snapshot, &rows_of(first, &[3])).await?;
    let (mut three, _) = delete(&snapshot, &rows_of(first, &[2, 4])).await?;
    let (mut four, _) = delete(&snapshot, &rows_of(second, &[2])).await?;
    one.commit().await?.expect("it wins");
    let committed: Committed = two.commit().await?.expect("it deletes another row");
    assert_eq!(
        (committed.version.as_i64(), committed.conflicts_resolved.len()),
        (3, 1)
    );
    let error = three.commit().await.expect_err("row 2 is gone");
    assert_eq!(
        error.kind(),
        ErrorKind::CommitConflict(Conflict::ConcurrentDeleteRead)
    );
    four.commit().await?.expect("it is of another file");
    let gone = deleted(&table).await?;
    assert!(gone[first].iter().eq(&[1, 2, 3]) && gone[second].iter().eq(&[2]));
    let (stored, named) = vector_files(&table).await?;
    assert_eq!(stored, named);
    Ok(())
}

/// protocol: deletion-vectors.2
#[tokio::test(flavor = "multi_thread")]
async fn a_file_whose_rows_two_commits_deleted_is_removed() -> Result<()> {
    let table = made(None).await?;
    let snapshot = open(&table).await?;
    let [first, second] = FILES;
    let half: Vec<u64> = (0..6).collect();
    let (mut one, _) = delete(&snapshot, &rows_of(first, &half)).await?;
    let mut rest = rows_of(first, &(6..12).collect::<Vec<u64>>());
    rest.extend(rows_of(second, &[3]));
    let (mut two, counted) = delete(&snapshot, &rest).await?;
    one.commit().await?.expect("it wins");
    let committed = two.commit().await?.expect("it deletes the other rows");
    assert_eq!((counted, committed.conflicts_resolved.len()), (7, 1));
    let snapshot = open(&table).await?;
    let live = whole_adds(&snapshot, None).await?;
    let paths: Vec<&str> = live.iter().map(|add| add.path.as_str()).collect();
    assert_eq!(paths, [second], "the file without rows is removed");
    assert_eq!(snapshot.num_rows().await?, Some(11 * POSITIONS as i64));
    let info: Value =
        serde_json::from_str(&committed.commit_info.expect("it committed")).expect("it is JSON");
    let metrics = &info["operationMetrics"];
    assert_eq!(
        (
            &metrics["numRemovedFiles"],
            &metrics["numDeletionVectorsAdded"],
            &metrics["numDeletedRows"]
        ),
        (&json!("1"), &json!("1"), &json!("70"))
    );
    let (stored, named) = vector_files(&table).await?;
    assert_eq!(stored, named, "no vector is missing, and none is left behind");
    Ok(())
}

/// A damaged vector of a winning commit fails the commit with an error that names it; the files of the attempt are
/// deleted.
#[tokio::test(flavor = "multi_thread")]
async fn damage_is_reported_and_nothing_is_committed() -> Result<()> {
    let other = {
        let mut file = VectorFile::new();
        file.push(&Bitmap::from_positions([1, 2, 3])?)?;
        file.into_bytes()
    };
    for damaged in [None, Some(vec![0; 64]), Some(other)] {
        let table = made(None).await?;
        let snapshot = open(&table).await?;
        let (mut one, _) = delete(&snapshot, &rows_of(FILES[0], &[1, 4])).await?;
        one.commit().await?.expect("it wins");
        let (of_winning_commit, _) = vector_files(&table).await?;
        assert_eq!(of_winning_commit.len(), 1);
        let (mut two, _) = delete(&snapshot, &rows_of(FILES[0], &[3])).await?;
        for relative in &of_winning_commit {
            match &damaged {
                Some(bytes) => table.put(relative, bytes.clone()).await?,
                None => table.delete(relative).await?,
            }
        }
        let error = two.commit().await.expect_err("the winner's rows are not known");
        assert_eq!(error.kind(), ErrorKind::CorruptData, "{error}");
        assert_eq!(open(&table).await?.version().as_i64(), 2);
        let (stored, _) = vector_files(&table).await?;
        assert!(stored.is_subset(&of_winning_commit), "{stored:?}");
    }
    Ok(())
}

/// If the outcome of the commit is unknown, its vector files are retained: the commit may name them.
#[tokio::test(start_paused = true)]
async fn files_that_may_be_live_are_not_deleted() -> Result<()> {
    let table = made(None).await?;
    let snapshot = open(&table).await?;
    let (mut one, _) = delete(&snapshot, &rows_of(FILES[0], &[1, 4])).await?;
    let commit = "_delta_log/00000000000000000002.json";
    let lost = Rule::new(Fault::AnswerLost).of(&[RequestKind::Put]).at(commit);
    let unread = Rule::new(Fault::ServerError).of(&[RequestKind::Get]).at(commit);
    table.scripted().fail(lost);
    table.scripted().fail(unread);
    let error = one.commit().await.expect_err("nobody knows");
    assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{error}");
    table.scripted().heal();
    let (stored, named) = vector_files(&table).await?;
    assert!(!named.is_empty() && named == stored, "{stored:?}");
    assert!(deleted(&table).await?[FILES[0]].iter().eq(&[1, 4]));
    Ok(())
}
