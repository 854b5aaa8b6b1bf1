//! Replay of generated histories, compared with the oracle.

use deltaic_protocol::{ErrorKind, Result};
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::facts::facts;
use deltaic_testkit::maintenance::{LastCommit, MaintenanceStep};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::property::holds;
use deltaic_testkit::strategies::history;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// protocol: action-reconciliation.1, action-reconciliation.2
    #[test]
    fn every_version_is_what_the_oracle_states(commits in history()) {
        holds(async {
            let table = TableBuilder::of(&commits).await?;
            for version in 0..commits.len() {
                let snapshot = table.open_at(version).await?;
                assert_eq!(facts(&snapshot).await?, replay(&commits[..=version]).facts(), "version {version}");
            }
            Ok(())
        })?;
    }

    /// A refreshed older snapshot equals a newly opened one.
    #[test]
    fn a_refreshed_snapshot_is_an_opened_one(commits in history(), step in 1usize..4) {
        holds(async {
            let mut table = TableBuilder::of(&commits[..1]).await?;
            let mut snapshot = table.open().await?;
            for some in commits[1..].chunks(step) {
                for actions in some {
                    table.commit(actions.clone()).await?;
                }
                snapshot = snapshot.refresh().await?;
                assert_eq!(facts(&snapshot).await?, replay(table.commits()).facts());
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn a_file_twice_in_one_commit_is_damage() {
    for actions in [
        vec![add("a", None), add("a", None)],
        vec![remove("a", None), remove("a", None)],
        vec![add("a", None), remove("a", None)],
        vec![add("/a", None), add("file:///a", None)],
    ] {
        let mut first = TableBuilder::first_actions_with_vectors();
        first.extend(actions);
        let opened = async {
            let table = TableBuilder::of(&[first]).await?;
            table.open().await
        }
        .await;
        assert_eq!(
            opened.err().map(|error| error.kind()),
            Some(ErrorKind::CorruptLog)
        );
    }
}

/// trino#24648: a second deletion vector on a file must not double its rows. Detected in a single commit with both
/// adds, across a checkpoint and a commit, and in a refresh.
#[tokio::test]
async fn one_path_cannot_be_live_with_two_deletion_vectors() -> Result<()> {
    let histories = [
        [vec![add("a", Some("v")), add("a", Some("w"))], vec![]],
        [
            vec![add("a", Some("v")), add("/b", None)],
            vec![add("a", Some("w"))],
        ],
        [vec![add("/a", None)], vec![add("file:/a", Some("w"))]],
        [vec![add("a", Some("v"))], vec![add("a", None)]],
        [
            vec![add("a", Some("v"))],
            vec![remove("a", None), add("a", Some("w"))],
        ],
    ];
    for [first, second] in histories {
        for has_checkpoint in [false, true] {
            let opened = async {
                let mut actions = TableBuilder::first_actions_with_vectors();
                actions.extend(first.clone());
                let mut table = TableBuilder::of(&[actions]).await?;
                if has_checkpoint {
                    let form = CheckpointForm::of(Layout::Classic);
                    table.maintain(&MaintenanceStep::Checkpoint(form)).await?;
                    table
                        .maintain(&MaintenanceStep::CleanUp(LastCommit::Deleted))
                        .await?;
                }
                let older = table.open().await;
                if !second.is_empty() {
                    table.commit(second.clone()).await?;
                }
                let opened = table.open().await;
                if let Ok(older) = older {
                    let refreshed = older.refresh().await;
                    assert_eq!(refreshed.is_err(), opened.is_err());
                }
                opened.map(|_| ())
            }
            .await;
            let error = opened.expect_err("the file would be read twice");
            assert_eq!(error.kind(), ErrorKind::CorruptLog);
            assert!(error.to_string().contains("two deletion vectors"), "{error}");
            // The reported commit is the one that should not have added the file.
            let version = error.context().iter().find(|(key, _)| *key == "version");
            let newest = i64::from(!second.is_empty());
            assert!(
                second.is_empty() || version == Some(&("version", newest.into())),
                "{error}"
            );
        }
    }
    Ok(())
}

/// Keys of one path are not compared pairwise, which would take minutes.
#[tokio::test]
async fn a_commit_may_name_one_path_any_number_of_times() -> Result<()> {
    let vectors: Vec<String> = (0..100_000).map(|number| format!("v{number}")).collect();
    let mut actions = TableBuilder::first_actions_with_vectors();
    actions.extend(vectors.iter().map(|vector| remove("a", Some(vector))));
    let opened = async {
        let mut table = TableBuilder::of(&[actions]).await?;
        table.commit(vec![add("a", Some("v7"))]).await?;
        table.open().await
    }
    .await?;
    assert_eq!(opened.num_files(), 1);
    Ok(())
}

#[tokio::test]
async fn one_path_may_leave_with_one_vector_and_come_with_another() -> Result<()> {
    let mut first = TableBuilder::first_actions_with_vectors();
    first.push(add("a", None));
    let table = TableBuilder::of(&[first, vec![remove("a", None), add("a", Some("v"))]]).await?;
    let snapshot = table.open().await?;
    let files: Vec<_> = facts(&snapshot).await?.files.into_keys().collect();
    assert_eq!(files, [("a".to_owned(), Some("uv@1".to_owned()))]);
    Ok(())
}

/// A deletion vector of a live file requires the feature, in a commit and in a checkpoint; one of a tombstone does not,
/// since the feature may have been dropped.
#[tokio::test]
async fn a_vector_of_a_live_file_needs_the_feature() -> Result<()> {
    let dropped = || TableBuilder::first_actions().into_iter().take(1);
    for has_checkpoint in [false, true] {
        for (actions, is_damage) in [(vec![], true), (vec![remove("a", Some("v"))], false)] {
            let opened = async {
                let mut first = TableBuilder::first_actions_with_vectors();
                first.push(add("a", Some("v")));
                first.push(add("b", None));
                let last: Vec<_> = actions.into_iter().chain(dropped()).collect();
                let mut table = TableBuilder::of(&[first, last]).await?;
                if has_checkpoint {
                    let form = CheckpointForm::of(Layout::Classic);
                    table.maintain(&MaintenanceStep::Checkpoint(form)).await?;
                    table
                        .maintain(&MaintenanceStep::CleanUp(LastCommit::Deleted))
                        .await?;
                }
                table.open().await
            }
            .await;
            let error = opened.err();
            assert_eq!(error.is_some(), is_damage, "{has_checkpoint} {error:?}");
            if let Some(error) = error {
                assert_eq!(error.kind(), ErrorKind::CorruptLog);
                assert!(error.to_string().contains("lacks the feature"), "{error}");
            }
        }
    }
    Ok(())
}
