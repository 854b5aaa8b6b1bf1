//! Before files are deleted, cleanup verifies the checkpoint that replaces them, and that `_last_checkpoint` does not
//! name an older one.

use deltaic_log::cleanup::clean_up;
use deltaic_protocol::Result;
use deltaic_storage::store_error;
use deltaic_testkit::checkpoint_writer::Layout;
use deltaic_testkit::facts::facts;
use deltaic_testkit::maintenance::{HintForm, MaintenanceStep};
use deltaic_testkit::oracle::replay;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::json;

use super::observed::{assert_readable_from, long_after, names, version};
use super::table::{LAYOUTS, table};

/// An unreadable checkpoint replaces nothing: cleanup uses an older one, or deletes nothing.
#[tokio::test]
async fn a_checkpoint_is_verified_before_its_commits_are_deleted() -> Result<()> {
    for layout in LAYOUTS {
        let how = format!("{layout:?}");
        let table = table(layout, &json!({})).await?;
        // One file of each of the newest two is damaged; it may be a part or a sidecar.
        for number in [8, 5] {
            let of_it = |name: &&String| {
                name.contains(&format!("{number:020}.checkpoint")) && name.ends_with(".parquet")
            };
            let spoilt = names(&table).await?.iter().rfind(of_it).cloned().expect("a file");
            table
                .put(&format!("_delta_log/{spoilt}"), b"spoilt".to_vec())
                .await?;
        }
        let cleaned = clean_up(&table.open().await?, long_after()).await?;
        assert_eq!(cleaned.plan.oldest_kept(), Some(version(2)), "{how}");
        for number in 2..10 {
            let snapshot = table.open_at(number).await?;
            assert_eq!(
                facts(&snapshot).await?,
                replay(&table.commits()[..=number]).facts(),
                "{how}"
            );
        }
        // The sidecars of a damaged top level are unknown, so all are retained; for an intact one, those that it names.
        let left = names(&table).await?;
        let is_spoilt_top = matches!(layout, Layout::ClassicV2(_));
        let has_orphan = left.contains("_sidecars/orphan.parquet");
        assert_eq!(
            has_orphan,
            !cleaned.not_deleted.is_empty(),
            "{how}: {:?}",
            cleaned.not_deleted
        );
        assert!(
            !is_spoilt_top || has_orphan || left.iter().any(|name| name.starts_with("_sidecars/")),
            "{how}"
        );
    }
    Ok(())
}

/// A file with one damaged column.
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

/// Opening a table does not read tombstones, but they must not be lost with the commits that contain them.
#[tokio::test]
async fn a_checkpoint_verifies_its_tombstones_too() -> Result<()> {
    let table = table(Layout::Classic, &json!({})).await?;
    let relative = "_delta_log/00000000000000000008.checkpoint.parquet";
    let whole = table.location().read(relative).await;
    let whole = whole.map_err(|error| store_error(&error, relative))?;
    table
        .put(relative, with_spoilt_column(whole, "remove.deletionTimestamp"))
        .await?;
    let snapshot = table.open().await?;
    assert!(
        snapshot.warnings().is_empty(),
        "it opens by that checkpoint: {:?}",
        snapshot.warnings()
    );
    let cleaned = clean_up(&snapshot, long_after()).await?;
    assert_eq!(cleaned.plan.oldest_kept(), Some(version(5)));
    Ok(())
}

/// The checkpoint that the hint names is retained with everything after it: some readers rely on the hint alone.
#[tokio::test]
async fn a_hint_never_names_a_deleted_checkpoint() -> Result<()> {
    for (hint, kept) in [
        (HintForm::Right, 8),
        (HintForm::Stale, 2),
        (HintForm::Ahead, 8),
        (HintForm::Torn, 8),
    ] {
        let mut table = table(Layout::Classic, &json!({})).await?;
        table.maintain(&MaintenanceStep::Hint(hint)).await?;
        let cleaned = clean_up(&table.open().await?, long_after()).await?;
        assert_eq!(cleaned.plan.oldest_kept(), Some(version(kept)), "{hint:?}");
        assert_readable_from(&table, kept, &format!("{hint:?}")).await?;
    }
    Ok(())
}
