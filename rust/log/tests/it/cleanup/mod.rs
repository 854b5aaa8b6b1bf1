//! Metadata cleanup: expired files are deleted, required ones retained, and a crash at any point is harmless.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

mod crashes;
mod days;
mod observed;
mod refused;
mod table;
mod verified;

use deltaic_log::cleanup::{CleanedUp, Expired, RetentionReason, clean_up, plan_cleanup};
use deltaic_protocol::Result;
use deltaic_testkit::checkpoint_writer::Layout;
use serde_json::json;

use self::observed::{assert_readable_from, long_after, names, version};
use self::table::{LAYOUTS, table};

/// The newest checkpoint that is old enough is retained with everything after it; everything before is deleted, in
/// every form.
///
/// protocol: metadata-cleanup.1, checkpoints.3
#[tokio::test]
async fn cleanup_deletes_expired_files_and_the_table_is_unchanged() -> Result<()> {
    for layout in LAYOUTS {
        let how = format!("{layout:?}");
        let table = table(layout, &json!({})).await?;
        let before = names(&table).await?;
        let snapshot = table.open().await?;
        let planned = plan_cleanup(&snapshot, long_after()).await?;
        assert_eq!(names(&table).await?, before, "{how}: a plan deletes nothing");
        let cleaned = clean_up(&snapshot, long_after()).await?;
        assert_eq!(cleaned.plan.oldest_kept(), Some(version(8)), "{how}");
        assert!(cleaned.not_deleted.is_empty(), "{how}: {:?}", cleaned.not_deleted);
        let deletions: Vec<_> = planned.deletions().cloned().collect();
        assert_eq!(deletions, cleaned.deleted, "{how}: what was planned was done");
        let after = names(&table).await?;
        assert_eq!(before.len() - after.len(), cleaned.deleted.len(), "{how}");
        // Remaining: two commits and checksums, and the checkpoint's files.
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
        // Nothing is left to do.
        let again = clean_up(&snapshot, long_after()).await?;
        assert_eq!(
            (again.plan.kept, again.deleted.len()),
            (Some(RetentionReason::NothingExpired), 0),
            "{how}"
        );
    }
    Ok(())
}

fn count(cleaned: &CleanedUp, why: Expired) -> usize {
    cleaned
        .deleted
        .iter()
        .filter(|deletion| deletion.why == why)
        .count()
}

/// Foreign files among the sidecars are ignored.
#[tokio::test]
async fn only_sidecars_are_taken_for_sidecars() -> Result<()> {
    let table = table(Layout::Classic, &json!({})).await?;
    for name in ["notes.txt", ".hidden.parquet"] {
        table
            .put(&format!("_delta_log/_sidecars/{name}"), b"mine".to_vec())
            .await?;
    }
    clean_up(&table.open().await?, long_after()).await?;
    let left = names(&table).await?;
    let left: Vec<&String> = left
        .iter()
        .filter(|name| name.starts_with("_sidecars/"))
        .collect();
    assert_eq!(left, ["_sidecars/.hidden.parquet", "_sidecars/notes.txt"]);
    Ok(())
}
