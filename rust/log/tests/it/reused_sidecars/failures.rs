//! Failures and crashes while a checkpoint is written that references older sidecars.

use std::collections::BTreeSet;

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::write_checkpoint;
use deltaic_protocol::{ErrorKind, Result};
use deltaic_testkit::facts::facts;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, remove};
use serde_json::json;

use super::table::{adds, checkpoint, first, options};

/// A table with a checkpoint with four sidecars, one of them with tombstones, and a commit after it.
async fn build() -> Result<(TableBuilder, Vec<String>)> {
    let mut files = adds("a", 30);
    files.push(remove("gone", None));
    let mut table = TableBuilder::of(&[first(&json!({})), files]).await?;
    let made = checkpoint(&table, 10).await?;
    table
        .commit([adds("b", 12), vec![remove("a3", None)]].concat())
        .await?;
    Ok((table, made.sidecars))
}

/// Every request fails in turn, alone or with all later ones: the old sidecars remain, the table is unchanged, and the
/// next attempt succeeds. The last of these are crashes: nothing after a request happens.
#[tokio::test(start_paused = true)]
async fn a_failure_leaves_the_old_sidecars_and_the_table() -> Result<()> {
    for fault in [Fault::PermissionDenied, Fault::ServerError, Fault::AnswerLost] {
        for number in 0.. {
            let mut was_met = false;
            for until in [number + 1, usize::MAX] {
                let how = format!("{fault:?} at the requests {number}..{until}");
                let (table, old) = build().await?;
                let snapshot = table.open().await?;
                table.scripted().fail(Rule::new(fault).requests(number..until));
                let outcome = write_checkpoint(&snapshot, &options(10)).await;
                was_met |= table.scripted().faults_met() > 0;
                table.scripted().heal();
                for sidecar in &old {
                    table.read(sidecar).await?;
                }
                let state = replay(table.commits()).facts();
                let opened = table.open().await?;
                assert_eq!(facts(&opened).await?, state, "{how}: {outcome:?}");
                assert_eq!(opened.warnings(), [""; 0], "{how}");
                let again = write_checkpoint(&opened, &options(10)).await?;
                assert!(outcome.is_err() || !again.is_new, "{how}: {outcome:?}");
                for version in 0..=2 {
                    table.delete(&format!("_delta_log/{version:020}.json")).await?;
                }
                assert_eq!(facts(&table.open().await?).await?, state, "{how}");
            }
            if !was_met {
                assert!(number > 10, "a checkpoint makes requests");
                break;
            }
        }
    }
    Ok(())
}

/// An attempt that fails deletes the sidecars that it wrote, and no other.
#[tokio::test]
async fn a_failed_attempt_deletes_its_own_sidecars() -> Result<()> {
    let (table, old) = build().await?;
    let snapshot = table.open().await?;
    table.scripted().forget();
    let third = Rule::new(Fault::PermissionDenied)
        .of(&[RequestKind::Put])
        .requests(2..3);
    table.scripted().fail(third);
    assert!(write_checkpoint(&snapshot, &options(10)).await.is_err());
    table.scripted().heal();
    let report = table.scripted().report();
    let paths = |kind: RequestKind| -> BTreeSet<String> {
        let requests = report.at(kind, "_sidecars");
        requests.map(|request| request.path.clone()).collect()
    };
    let (put, deleted) = (paths(RequestKind::Put), paths(RequestKind::Delete));
    assert!(!deleted.is_empty() && deleted.is_subset(&put), "{deleted:?}");
    let is_old = |path: &String| old.iter().any(|sidecar| path.ends_with(sidecar.as_str()));
    assert!(!put.iter().any(is_old));
    Ok(())
}

/// A sidecar that is missing, or is another file, is not referenced again.
#[tokio::test]
async fn a_missing_sidecar_is_not_referenced() -> Result<()> {
    for is_replaced in [false, true] {
        for which in 0..4 {
            let (table, old) = build().await?;
            let snapshot: Snapshot = table.open().await?;
            match is_replaced {
                true => {
                    table
                        .put(&old[which], b"PAR1 of another size PAR1".to_vec())
                        .await?
                }
                false => table.delete(&old[which]).await?,
            }
            match write_checkpoint(&snapshot, &options(10)).await {
                // A small file may be in memory completely, so that its actions are written again.
                Ok(written) => assert!(written.is_new && !written.sidecars.contains(&old[which])),
                Err(error) => {
                    let known = [ErrorKind::CorruptLog, ErrorKind::StorageError];
                    assert!(known.contains(&error.kind()), "{error}");
                }
            }
            // The commits still exist.
            assert_eq!(
                facts(&table.open().await?).await?,
                replay(table.commits()).facts()
            );
            let again = write_checkpoint(&table.open().await?, &options(10)).await?;
            assert_eq!(again.reused_sidecars, 0);
            assert!(!again.sidecars.contains(&old[which]));
        }
    }
    Ok(())
}
