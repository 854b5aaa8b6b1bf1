//! Operations that are repeated after conflicts reuse the files that they wrote from unchanged files.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::snapshot::FilesBatch;
use deltaic_log::transaction::{
    Committed, Operation, Output, Planned, PreviousAttempt, RunPolicy, StagedFiles, TableOperation,
    Transaction,
};
use deltaic_protocol::actions::{Add, Remove};
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::features::ensure_removable;
use deltaic_protocol::{Conflict, Error, ErrorKind, Result};
use deltaic_storage::clock::Deadline;
use deltaic_storage::store_error;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use futures::TryStreamExt;
use serde_json::Value;

/// A copy-on-write delete: every file is rewritten without the deleted rows.
struct Delete<'a> {
    table: &'a mut TableBuilder,
    /// Commits of other writers after each plan.
    winning_commits: Vec<Vec<Value>>,
    /// Number of rewrites of each file.
    written: BTreeMap<String, usize>,
    /// The error of the previous run, for each run.
    heard: Vec<Option<ErrorKind>>,
}

impl<'a> Delete<'a> {
    fn new(table: &'a mut TableBuilder, winning_commits: Vec<Vec<Value>>) -> Self {
        Self {
            table,
            winning_commits,
            written: BTreeMap::new(),
            heard: Vec::new(),
        }
    }

    async fn rewrite(&mut self, path: &str, files: &StagedFiles) -> Result<Add> {
        *self.written.entry(path.to_owned()).or_default() += 1;
        let path = format!("{path}-without");
        self.table.put(&path, vec![0]).await?;
        files.add([path.clone()]);
        Ok(Add {
            path,
            size: 1,
            data_change: true,
            ..Add::default()
        })
    }
}

impl TableOperation for Delete<'_> {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        earlier: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        self.heard.push(earlier.map(|earlier| earlier.conflict().kind()));
        let mut transaction = Transaction::try_new(snapshot, Operation::Delete, ensure_removable)?;
        let mut outputs = Vec::new();
        let files = Arc::new(StagedFiles::new(snapshot.location()));
        transaction.read.read_whole_table();
        for (path, deletion_vector) in live(snapshot).await? {
            if path.ends_with("-without") {
                continue;
            }
            transaction.read.read_files([path.as_str()]);
            let inputs = vec![path.clone()];
            let known = earlier.and_then(|earlier| earlier.reusable().find(|output| output.inputs == inputs));
            let output = match known {
                Some(output) => output.clone(),
                None => Output {
                    adds: vec![self.rewrite(&path, &files).await?],
                    inputs,
                },
            };
            let gone = Add {
                path,
                size: 1,
                deletion_vector,
                ..Add::default()
            };
            transaction.proposal.removes.push(Remove::of(&gone, 1));
            transaction.proposal.adds.extend(output.adds.clone());
            outputs.push(output);
        }
        if !self.winning_commits.is_empty() {
            self.table.commit(self.winning_commits.remove(0)).await?;
        }
        let something = !transaction.proposal.is_empty();
        Ok(something.then_some(Planned {
            transaction,
            outputs,
            files,
            vectors: None,
        }))
    }
}

/// The rewritten files in the store.
async fn stored(table: &TableBuilder) -> Result<Vec<String>> {
    let location = table.location();
    let listed = location.store().list(None).try_collect::<Vec<_>>().await;
    let mut names: Vec<String> = listed
        .map_err(|error| store_error(&error, ""))?
        .iter()
        .filter_map(|file| file.location.filename().map(str::to_owned))
        .filter(|name| name.ends_with("-without"))
        .collect();
    names.sort();
    Ok(names)
}

/// The live files with their vectors.
async fn live(snapshot: &Snapshot) -> Result<BTreeMap<String, Option<Descriptor>>> {
    let (files, _) = snapshot.files(None).await?;
    let of_batch = |batch: &FilesBatch| -> Vec<(String, Option<Descriptor>)> {
        let rows = 0..batch.len();
        rows.map(|row| (batch.adds.path.value(row).to_owned(), batch.adds.descriptor(row)))
            .collect()
    };
    Ok(files.batches.iter().flat_map(of_batch).collect())
}

/// A table with these files, and its snapshot.
async fn made(paths: &[&str]) -> Result<(TableBuilder, Snapshot)> {
    let mut table = TableBuilder::new();
    table.commit(TableBuilder::first_actions_with_vectors()).await?;
    if !paths.is_empty() {
        let adds = paths.iter().map(|path| add(path, None));
        table.commit(adds.collect()).await?;
    }
    let snapshot = table.open().await?;
    Ok((table, snapshot))
}

const TWICE: RunPolicy = RunPolicy {
    max_attempts: 2,
    deadline: None,
};

async fn run(snapshot: Snapshot, policy: RunPolicy, delete: &mut Delete<'_>) -> Result<Committed> {
    deltaic_log::transaction::run(snapshot, policy, delete).await
}

#[tokio::test]
async fn after_a_conflict_only_what_changed_is_written_again() -> Result<()> {
    for (winning_commit, changed, left) in [
        // Another writer rewrote a file, added a vector to it, removed it, or added one.
        (
            vec![remove("b", None), add("b2", None)],
            "b2",
            vec!["a-without", "b2-without", "c-without"],
        ),
        (
            vec![remove("b", None), add("b", Some("vector"))],
            "b",
            vec!["a-without", "b-without", "c-without"],
        ),
        (vec![remove("b", None)], "", vec!["a-without", "c-without"]),
        (
            vec![add("d", None)],
            "d",
            vec!["a-without", "b-without", "c-without", "d-without"],
        ),
    ] {
        let (mut table, snapshot) = made(&["a", "b", "c"]).await?;
        let mut delete = Delete::new(&mut table, vec![winning_commit.clone()]);
        let committed = run(snapshot, TWICE, &mut delete).await?;
        assert!(!committed.skipped);
        let (written, heard) = (delete.written, delete.heard);
        let mut expected = BTreeMap::from([("a", 1), ("b", 1), ("c", 1)]);
        if !changed.is_empty() {
            *expected.entry(changed).or_default() += 1;
        }
        assert!(
            written
                .iter()
                .map(|(path, count)| (path.as_str(), *count))
                .eq(expected)
        );
        assert_eq!(heard.len(), 2);
        assert!(matches!(heard.last(), Some(Some(ErrorKind::CommitConflict(_)))));
        assert_eq!(
            (committed.version.as_i64(), committed.conflicts_resolved.len()),
            (3, 1)
        );
        assert!(
            committed
                .conflicts_resolved
                .iter()
                .all(|text| text.ends_with("planned again at version 2"))
        );
        let paths = live(&table.open().await?).await?;
        assert!(paths.keys().map(String::as_str).eq(left), "{paths:?}");
        // What the lost attempt wrote and the second did not reuse was deleted.
        assert!(stored(&table).await?.iter().eq(paths.keys()));
    }
    Ok(())
}

/// Files are written for a schema and configuration: if these change, files are written again.
#[tokio::test]
async fn nothing_is_used_again_in_a_table_of_another_form() -> Result<()> {
    let metadata = |change: &dyn Fn(&mut Value)| {
        let mut metadata = TableBuilder::first_actions_with_vectors().remove(1);
        change(&mut metadata["metaData"]);
        vec![metadata]
    };
    let column = r#"{"name":"more","type":"long","nullable":true,"metadata":{}}]}"#;
    let features = serde_json::json!(["deletionVectors", "appendOnly"]);
    let mut upgrade = TableBuilder::first_actions_with_vectors().remove(0);
    upgrade["protocol"]["writerFeatures"] = features;
    for (what, winning_commit, is_used_again) in [
        (
            "a column",
            metadata(&|metadata| {
                let schema = metadata["schemaString"].as_str().unwrap_or_default();
                metadata["schemaString"] = schema.replace("]}", &format!(",{column}")).into();
            }),
            false,
        ),
        (
            "a property",
            metadata(&|metadata| metadata["configuration"] = serde_json::json!({"a": "b"})),
            false,
        ),
        (
            "the protocol",
            [vec![upgrade], vec![remove("c", None)]].concat(),
            false,
        ),
        (
            "a description",
            metadata(&|metadata| metadata["description"] = "d".into()),
            true,
        ),
    ] {
        let (mut table, snapshot) = made(&["a", "b"]).await?;
        // The file is removed by a winning commit, to cause a conflict.
        table.commit(vec![add("c", None)]).await?;
        let snapshot = snapshot.refresh().await?;
        let mut delete = Delete::new(&mut table, vec![winning_commit]);
        let committed = run(snapshot, TWICE, &mut delete).await?;
        assert!(!committed.skipped, "{what}");
        assert_eq!(delete.heard.len(), 2, "{what}");
        let expected = if is_used_again { 1 } else { 2 };
        assert_eq!(delete.written.get("a"), Some(&expected), "{what}");
    }
    Ok(())
}

#[tokio::test]
async fn it_is_run_as_often_as_the_policy_allows() -> Result<()> {
    let rewrites = |table: &TableBuilder| {
        assert!(table.commits().len() >= 2);
        vec![
            vec![remove("a", None), add("a1", None)],
            vec![remove("a1", None), add("a2", None)],
        ]
    };
    for (max_attempts, deadline, runs) in [
        (1, None, 1),
        (2, None, 2),
        (3, Some(Deadline::after(std::time::Duration::from_secs(3_600))), 3),
    ] {
        let (mut table, snapshot) = made(&["a"]).await?;
        let winning_commits = rewrites(&table);
        let mut delete = Delete::new(&mut table, winning_commits);
        let ended = run(
            snapshot,
            RunPolicy {
                max_attempts,
                deadline,
            },
            &mut delete,
        )
        .await;
        assert_eq!(delete.heard.len(), runs);
        // The files of an operation that failed are deleted.
        assert_eq!(stored(&table).await?.len(), usize::from(ended.is_ok()));
        match ended {
            Ok(committed) => {
                assert_eq!(runs, 3);
                assert_eq!(committed.conflicts_resolved.len(), 2);
            }
            Err(error) => {
                assert!(runs < 3);
                assert!(matches!(error.kind(), ErrorKind::CommitConflict(_)), "{error}");
            }
        }
    }
    Ok(())
}

/// After its deadline the operation is neither proposed nor repeated.
#[tokio::test]
async fn a_deadline_ends_it() -> Result<()> {
    let (mut table, snapshot) = made(&["a"]).await?;
    let policy = RunPolicy {
        max_attempts: 9,
        deadline: Some(Deadline::after(std::time::Duration::ZERO)),
    };
    let mut delete = Delete::new(&mut table, Vec::new());
    let error = run(snapshot, policy, &mut delete)
        .await
        .expect_err("there is no time");
    assert_eq!(error.kind(), ErrorKind::CommitConflict(Conflict::ConcurrentWrite));
    assert!(error.to_string().contains("the deadline passed"), "{error}");
    assert_eq!(delete.heard.len(), 1);
    assert_eq!(table.open().await?.version().as_i64(), 1);
    Ok(())
}

/// If there is nothing to do, or it is already done, there is no commit; other errors are returned at once.
#[tokio::test]
async fn nothing_to_do_and_failures_end_it() -> Result<()> {
    let (mut table, snapshot) = made(&[]).await?;
    let mut delete = Delete::new(&mut table, Vec::new());
    assert!(run(snapshot, TWICE, &mut delete).await?.skipped);
    let (mut table, _) = made(&["a"]).await?;
    let mut form = TableBuilder::first_actions();
    form[1]["metaData"]["configuration"] = serde_json::json!({"delta.appendOnly": "true"});
    table.commit(form).await?;
    let snapshot = table.open().await?;
    let mut delete = Delete::new(&mut table, Vec::new());
    let error = run(snapshot, TWICE, &mut delete)
        .await
        .expect_err("it is append-only");
    assert_eq!(error.kind(), ErrorKind::ConstraintViolation);
    assert_eq!(delete.heard.len(), 1);
    Ok(())
}

/// A winning commit that added the same file may be the operation's own commit.
#[test]
fn an_operation_is_not_run_again_if_its_file_was_added() {
    for (conflict, is_run_again) in [(Conflict::AddedTwice, false), (Conflict::ConcurrentAppend, true)] {
        let error = Error::new(ErrorKind::CommitConflict(conflict), "a conflict");
        assert_eq!(TWICE.allows_after(1, &error), is_run_again, "{conflict:?}");
    }
}
