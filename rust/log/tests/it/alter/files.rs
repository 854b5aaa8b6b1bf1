//! Preconditions of table changes on existing files: rows satisfy a constraint, files have statistics, no file uses a
//! feature.

use std::sync::Mutex;

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::{CheckpointName, CheckpointOptions, write_checkpoint};
use deltaic_log::transaction::{Proved, RowVerifier, alter};
use deltaic_protocol::change::{IfAbsent, TableChange};
use deltaic_protocol::features::{Traces, supports_for_writers};
use deltaic_protocol::{Conflict, Error, ErrorKind, Result};
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::json;

use super::changes::{change, column, options, positive, strict};
use super::table::{file, table};

/// A check of rows with a fixed result that records its calls.
#[derive(Default)]
struct Rows {
    broken: i64,
    asked: Mutex<Vec<(i64, String)>>,
}

impl RowVerifier for Rows {
    fn rows_satisfy<'a>(&'a self, snapshot: &'a Snapshot, name: &'a str, _: &'a str) -> Proved<'a> {
        self.asked
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push((snapshot.version().as_i64(), name.to_owned()));
        Box::pin(async move {
            match self.broken {
                0 => Ok(()),
                rows => Err(Error::new(ErrorKind::ConstraintViolation, "broken").with("rows", rows)),
            }
        })
    }
}

/// protocol: check-constraints.1, check-constraints.3
#[tokio::test]
async fn a_new_constraint_is_verified_by_the_rows_of_the_version_before() -> Result<()> {
    for broken in [0, 3] {
        let (mut table, _) = table(&[], json!({})).await?;
        table.commit(vec![file("a", 5, true)]).await?;
        let snapshot = table.open().await?;
        let rows = Rows {
            broken,
            ..Rows::default()
        };
        // Another file is added before the commit; its rows were not checked.
        table.commit(vec![file("b", 5, true)]).await?;
        let raced = alter(&snapshot, &[positive()], &strict(), Some(&rows)).await;
        let expected = if broken == 0 {
            ErrorKind::CommitConflict(Conflict::ConcurrentAppend)
        } else {
            ErrorKind::ConstraintViolation
        };
        assert_eq!(raced.err().map(|error| error.kind()), Some(expected));
        let ended = alter(&snapshot, &[positive()], &options(), Some(&rows)).await;
        let asked: Vec<i64> = rows
            .asked
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .iter()
            .map(|(version, _)| *version)
            .collect();
        if broken > 0 {
            assert_eq!(
                ended.err().map(|error| error.kind()),
                Some(ErrorKind::ConstraintViolation)
            );
            assert_eq!(table.open().await?.version().as_i64(), 2);
            continue;
        }
        assert_eq!(ended?.version.as_i64(), 3);
        assert_eq!(asked, [1, 1, 2]);
        let info = &table.actions_of(3).await?[0]["commitInfo"];
        assert_eq!(info["isBlindAppend"], json!(false));
    }
    // Rows are not checked if there are no files, and without a check of the rows the change is refused.
    let (_, empty) = table(&[], json!({})).await?;
    change(&empty, &[positive()]).await?;
    let (mut other, _) = table(&[], json!({})).await?;
    other.commit(vec![file("a", 1, true)]).await?;
    let error = change(&other.open().await?, &[positive()])
        .await
        .expect_err("no rows are read");
    assert_eq!(error.kind(), ErrorKind::UnsupportedFeature);
    Ok(())
}

/// protocol: clustered-table.1, clustered-table.2, clustered-table.3, writer-requirements-for-clustered-table.1,
/// writer-requirements-for-clustered-table.4
#[tokio::test]
async fn a_table_is_clustered_by_columns_of_which_every_file_has_statistics() -> Result<()> {
    let cluster = [TableChange::SetClustering(vec![column("id")])];
    for (bounds, fits) in [(true, true), (false, false)] {
        let (mut table, _) = table(&[], json!({})).await?;
        table.commit(vec![file("a", 5, true)]).await?;
        table.commit(vec![file("b", 5, bounds)]).await?;
        let ended = change(&table.open().await?, &cluster).await;
        let fresh = table.open().await?;
        if fits {
            ended?;
            assert!(supports_for_writers(fresh.protocol(), "clustering"));
            assert!(supports_for_writers(fresh.protocol(), "domainMetadata"));
            let domain = fresh
                .domains()
                .get("delta.clustering")
                .map(|domain| domain.configuration.as_str());
            assert!(
                domain.is_some_and(|text| text.contains(r#"[["id"]]"#)),
                "{domain:?}"
            );
            continue;
        }
        let error = ended.expect_err("b has no bounds");
        assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
        assert!(error.context().contains(&("path", "b".into())), "{error}");
        assert_eq!(fresh.version().as_i64(), 2);
    }
    Ok(())
}

/// protocol: beyond:checkpoint-protection.1
#[tokio::test]
async fn a_feature_is_dropped_where_no_file_uses_it_and_checkpoints_remain_before() -> Result<()> {
    let drop = [TableChange::DropFeature(
        "deletionVectors".to_owned(),
        Traces::InHistory,
    )];
    for (vector, raced) in [(None, false), (None, true), (Some("v"), false), (Some("v"), true)] {
        let mut table = TableBuilder::new();
        table.commit(TableBuilder::first_actions_with_vectors()).await?;
        table.commit(vec![add("a", None)]).await?;
        if raced {
            table.commit(vec![add("b", None)]).await?;
        } else {
            table.commit(vec![add("b", vector)]).await?;
        }
        let snapshot = table.open().await?;
        if raced {
            // Preconditions are verified again: the winning commit may use the feature.
            table.commit(vec![add("c", vector)]).await?;
        }
        let last = if raced { 3 } else { 2 };
        let ended = change(&snapshot, &drop).await;
        let fresh = table.open().await?;
        if vector.is_some() {
            let error = ended.expect_err("a file has deleted rows");
            assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
            let path = if raced { "c" } else { "b" };
            assert!(error.context().contains(&("path", path.into())), "{error}");
            assert_eq!(fresh.version().as_i64(), last);
            continue;
        }
        assert_eq!(ended?.version.as_i64(), last + 1);
        assert!(!supports_for_writers(fresh.protocol(), "deletionVectors"));
        assert!(supports_for_writers(fresh.protocol(), "checkpointProtection"));
        let before = fresh
            .metadata()
            .property("delta.requireCheckpointProtectionBeforeVersion");
        assert_eq!(before, Some((last + 1).to_string().as_str()));
        for version in last - 2..=last {
            let path = format!("_delta_log/{version:020}.checkpoint.parquet");
            assert!(table.location().read(&path).await.is_ok(), "{path}");
        }
    }
    Ok(())
}

/// A checkpoint with a classic name may follow the V2 spec, without sidecars if the table has no files.
#[tokio::test]
async fn a_v2_checkpoint_with_a_classic_name_uses_its_feature() -> Result<()> {
    for files in [vec![], vec![file("a", 5, true)]] {
        let mut first = TableBuilder::first_actions();
        first[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
            "readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint"]}});
        first[1]["metaData"]["configuration"] = json!({"delta.checkpointPolicy": "v2"});
        first.extend(files);
        let table = TableBuilder::of(&[first]).await?;
        let snapshot = table.open().await?;
        let classic = CheckpointOptions {
            name: CheckpointName::Classic,
            ..CheckpointOptions::default()
        };
        write_checkpoint(&snapshot, &classic).await?;
        let changes = [
            TableChange::UnsetProperties(vec!["delta.checkpointPolicy".to_owned()], IfAbsent::Error),
            TableChange::DropFeature("v2Checkpoint".to_owned(), Traces::InHistory),
        ];
        let error = change(&snapshot, &changes).await.err().map(|error| error.kind());
        assert_eq!(error, Some(ErrorKind::SchemaMismatch));
        // With another policy the next version has a V1 checkpoint.
        change(&snapshot, &changes[..1]).await?;
        change(&table.open().await?, &changes[1..]).await?;
    }
    Ok(())
}
