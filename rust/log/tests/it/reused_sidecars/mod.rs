//! Checkpoints that reference the sidecars of older ones: what is written, what is kept, and what a cleanup may delete.

mod changed;
mod failures;
mod races;
mod refreshed;
mod table;
mod tombstones;

use deltaic_log::checkpoint::write_checkpoint;
use deltaic_protocol::Result;
use serde_json::json;

use self::table::{adds, assert_alone, checkpoint, first, is_prefix, options, paths_of};
use deltaic_testkit::table_builder::{TableBuilder, remove};

/// Sidecars whose files are all live are referenced again; only the new files are written.
///
/// protocol: v2-spec.2, v2-spec.3, sidecar-files.1, sidecar-file-information.3
#[tokio::test]
async fn appended_files_are_written_beside_the_old_sidecars() -> Result<()> {
    let mut table = TableBuilder::of(&[first(&json!({})), adds("a", 25)]).await?;
    let one = checkpoint(&table, 10).await?;
    assert_eq!((one.sidecars.len(), one.reused_sidecars), (3, 0));
    table.commit(adds("b", 2)).await?;
    let two = checkpoint(&table, 10).await?;
    assert_eq!((two.sidecars.len(), two.reused_sidecars), (4, 3));
    assert!(is_prefix(&one.sidecars, &two.sidecars));
    assert_eq!(paths_of(&table, &two.sidecars[3]).await?, ["b0", "b1"]);
    assert_eq!((two.adds, two.actions), (27, Some(27 + 1 + 2 + 4)));
    // The counts are those that an existing checkpoint has.
    let again = write_checkpoint(&table.open().await?, &options(10)).await?;
    assert!(!again.is_new && again.reused_sidecars == 0);
    assert_eq!(
        (again.adds, again.actions, again.bytes, &again.sidecars),
        (two.adds, two.actions, two.bytes, &two.sidecars)
    );
    assert_alone(&table).await
}

/// A sidecar with a removed file is written again, and no other.
#[tokio::test]
async fn only_the_sidecar_with_the_removed_file_is_written_again() -> Result<()> {
    let mut table = TableBuilder::of(&[first(&json!({})), adds("a", 30)]).await?;
    let one = checkpoint(&table, 10).await?;
    table.commit(vec![remove("a15", None)]).await?;
    let two = checkpoint(&table, 10).await?;
    assert_eq!((two.sidecars.len(), two.reused_sidecars), (4, 2));
    assert_eq!(
        two.sidecars[..2],
        [one.sidecars[0].clone(), one.sidecars[2].clone()]
    );
    let rest: Vec<String> = (10..20)
        .filter(|number| *number != 15)
        .map(|number| format!("a{number}"))
        .collect();
    assert_eq!(paths_of(&table, &two.sidecars[2]).await?, rest);
    assert_eq!(paths_of(&table, &two.sidecars[3]).await?, ["a15"]);
    assert_alone(&table).await
}

/// A file that is added again with a deletion vector is live once.
#[tokio::test]
async fn a_file_with_a_new_deletion_vector_is_written_again() -> Result<()> {
    use deltaic_testkit::table_builder::add;
    let mut created = first(&json!({"delta.enableDeletionVectors": "true"}));
    created[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["v2Checkpoint", "deletionVectors"],
        "writerFeatures": ["v2Checkpoint", "deletionVectors"]}});
    let mut table = TableBuilder::of(&[created, adds("a", 20)]).await?;
    checkpoint(&table, 10).await?;
    table
        .commit(vec![remove("a3", None), add("a3", Some("v"))])
        .await?;
    let two = checkpoint(&table, 10).await?;
    assert_eq!((two.adds, two.reused_sidecars), (20, 1));
    assert_alone(&table).await
}

/// However many checkpoints add a few files, there are few sidecars, and few files are written again.
#[tokio::test]
async fn small_sidecars_are_merged() -> Result<()> {
    const CHECKPOINTS: usize = 100;
    let mut table = TableBuilder::of(&[first(&json!({}))]).await?;
    let (mut most, mut written) = (0, 0);
    for number in 0..CHECKPOINTS {
        table.commit(adds(&format!("c{number}-"), 3)).await?;
        let made = checkpoint(&table, 1_000).await?;
        most = most.max(made.sidecars.len());
        for sidecar in &made.sidecars[made.reused_sidecars..] {
            written += paths_of(&table, sidecar).await?.len();
        }
        assert_eq!(made.adds, 3 * (number as u64 + 1));
    }
    assert!(most <= 9, "{most} sidecars");
    let each = 3 * CHECKPOINTS;
    assert!((each + 1..=8 * each).contains(&written), "{written} of {each}");
    assert_alone(&table).await
}

/// A checkpoint with a classic name references sidecars of one with an ID, and the reverse.
#[tokio::test]
async fn names_do_not_matter() -> Result<()> {
    use deltaic_log::checkpoint::{CheckpointName, CheckpointOptions};
    let mut table = TableBuilder::of(&[first(&json!({})), adds("a", 20)]).await?;
    for (round, name) in [
        CheckpointName::BySpec,
        CheckpointName::Classic,
        CheckpointName::BySpec,
    ]
    .into_iter()
    .enumerate()
    {
        table.commit(adds(&format!("b{round}-"), 1)).await?;
        let options = CheckpointOptions { name, ..options(10) };
        let made = write_checkpoint(&table.open().await?, &options).await?;
        assert_eq!(made.reused_sidecars, if round == 0 { 0 } else { 2 }, "{made:?}");
        assert_eq!(
            made.path.ends_with(".checkpoint.parquet"),
            name == CheckpointName::Classic
        );
    }
    assert_alone(&table).await
}
