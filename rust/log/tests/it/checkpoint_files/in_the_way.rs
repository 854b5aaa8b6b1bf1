//! Existing files: a checkpoint of the same version, and a hint that names another one.

use deltaic_log::checkpoint::{CheckpointOptions, HintOutcome, write_checkpoint};
use deltaic_log::last_checkpoint::{Hint, read_last_checkpoint};
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::maintenance::MaintenanceStep;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::TableBuilder;
use serde_json::json;

use super::actions::{first, named, one_column, v2};

/// protocol: classic-checkpoint.1
#[tokio::test]
async fn a_checkpoint_that_is_there_is_left() -> Result<()> {
    for actions in [first(one_column(), &[], json!({}), &[]), v2(&json!({}))] {
        let table = TableBuilder::of(&[actions, named(3)]).await?;
        let snapshot = table.open().await?;
        let written = write_checkpoint(&snapshot, &CheckpointOptions::default()).await?;
        let before = table.read(&written.path).await?;
        // One snapshot knows the checkpoint from opening the table, the other does not.
        for snapshot in [snapshot, table.open().await?] {
            table.scripted().forget();
            let again = write_checkpoint(&snapshot, &CheckpointOptions::default()).await?;
            assert!(!again.is_new);
            assert_eq!(
                (&again.path, again.adds, again.actions),
                (&written.path, 3, written.actions)
            );
            assert_eq!((again.bytes, &again.sidecars), (written.bytes, &written.sidecars));
            assert_eq!(table.scripted().report().count(RequestKind::Put), 0);
        }
        assert_eq!(table.read(&written.path).await?, before);
    }
    Ok(())
}

/// An unreadable checkpoint of the version is reported as damaged, and not overwritten.
#[tokio::test]
async fn a_damaged_checkpoint_in_the_way_is_reported() -> Result<()> {
    let table = TableBuilder::of(&[first(one_column(), &[], json!({}), &[]), named(3)]).await?;
    let place = "_delta_log/00000000000000000001.checkpoint.parquet";
    table.put(place, b"PAR1".to_vec()).await?;
    let error = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await;
    let error = error.err();
    assert_eq!(error.as_ref().map(Error::kind), Some(ErrorKind::CorruptLog));
    assert!(error.is_some_and(|error| error.to_string().contains(place) && error.hint_text().is_some()));
    assert_eq!(table.read(place).await?, b"PAR1"[..]);
    Ok(())
}

/// If the store does not respond, an existing checkpoint is not reported as damaged.
#[tokio::test]
async fn a_checkpoint_in_the_way_that_cannot_be_requested_is_not_called_damaged() -> Result<()> {
    let table = TableBuilder::of(&[first(one_column(), &[], json!({}), &[]), named(3)]).await?;
    let snapshot = table.open().await?;
    let place = write_checkpoint(&snapshot, &CheckpointOptions::default())
        .await?
        .path;
    let rule = Rule::new(Fault::ServerError).of(&[RequestKind::Get]).at(&place);
    table.scripted().fail(rule);
    let error = write_checkpoint(&snapshot, &CheckpointOptions::default())
        .await
        .err();
    assert_eq!(
        error.as_ref().map(Error::kind),
        Some(ErrorKind::StorageError),
        "{error:?}"
    );
    Ok(())
}

/// A multi-part checkpoint counts as the checkpoint of its version; the hint, which could not describe it, is
/// unchanged.
#[tokio::test]
async fn a_checkpoint_of_parts_has_no_hint_of_ours() -> Result<()> {
    let mut table = TableBuilder::of(&[first(one_column(), &[], json!({}), &[]), named(3)]).await?;
    table
        .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(
            Layout::MultiPart(2),
        )))
        .await?;
    let hint = "_delta_log/_last_checkpoint";
    let written = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
    assert!(
        !written.is_new && matches!(written.hint, HintOutcome::Left),
        "{written:?}"
    );
    assert!(table.read(hint).await.is_err());
    Ok(())
}

/// A damaged checkpoint with an id does not conflict with other names: the classic one is written next to it.
#[tokio::test]
async fn a_damaged_checkpoint_with_an_id_is_ignored() -> Result<()> {
    for is_v2 in [false, true] {
        let properties = json!({"delta.checkpointPolicy": if is_v2 { "v2" } else { "classic" }});
        let table =
            TableBuilder::of(&[first(one_column(), &[], properties, &["v2Checkpoint"]), named(3)]).await?;
        let id = "80a083e8-7026-4e79-81be-64bd76c43a11";
        let place = format!("_delta_log/00000000000000000001.checkpoint.{id}.parquet");
        table.put(&place, b"PAR1".to_vec()).await?;
        let written = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
        assert!(written.is_new && written.path != place, "{written:?}");
        assert_eq!(
            written.path.ends_with(".checkpoint.parquet"),
            !is_v2,
            "{written:?}"
        );
        assert_eq!(table.read(&place).await?, b"PAR1"[..]);
    }
    Ok(())
}

/// protocol: last-checkpoint-file-schema-json-checksum.1
#[tokio::test]
async fn the_hint_never_names_an_older_checkpoint() -> Result<()> {
    let mut commits = vec![first(one_column(), &[], json!({}), &[])];
    commits.extend(named(4).into_iter().map(|file| vec![file]));
    let table = TableBuilder::of(&commits).await?;
    let hint = || async { read_last_checkpoint(&table.location()).await };
    let write =
        async |version| write_checkpoint(&table.open_at(version).await?, &CheckpointOptions::default()).await;
    let version = |number| Version::try_new(number);
    assert!(matches!(write(2).await?.hint, HintOutcome::Written));
    assert_eq!(hint().await, Hint::Version(version(2)?));
    // A checkpoint of an older version leaves the hint unchanged; one of a newer version updates it.
    assert!(matches!(write(1).await?.hint, HintOutcome::Stays(two) if two == version(2)?));
    assert_eq!(hint().await, Hint::Version(version(2)?));
    assert!(matches!(write(3).await?.hint, HintOutcome::Written));
    assert_eq!(hint().await, Hint::Version(version(3)?));
    // An unreadable or missing hint is overwritten, also for an existing checkpoint.
    for broken in [
        Some("{\"version\":"),
        Some("{\"version\":9,\"checksum\":\"00\"}"),
        None,
    ] {
        const NAME: &str = "_delta_log/_last_checkpoint";
        match broken {
            Some(text) => table.put(NAME, text.as_bytes().to_vec()).await?,
            None => table.delete(NAME).await?,
        }
        let again = write(3).await?;
        assert!(!again.is_new && matches!(again.hint, HintOutcome::Written));
        assert_eq!(hint().await, Hint::Version(version(3)?));
    }
    // A hint of the same version is unchanged.
    assert!(matches!(write(3).await?.hint, HintOutcome::Stays(three) if three == version(3)?));
    // A hint of a future version is unchanged too, because it is newer.
    table
        .put("_delta_log/_last_checkpoint", b"{\"version\":7}".to_vec())
        .await?;
    assert!(matches!(write(4).await?.hint, HintOutcome::Stays(seven) if seven == version(7)?));
    Ok(())
}

/// A hint is read up to one megabyte; a larger one is invalid and overwritten.
#[tokio::test]
async fn a_hint_beyond_all_measure_is_written_over() -> Result<()> {
    const MOST: usize = 1 << 20;
    let head = r#"{"version":7,"pad":""#;
    for (bytes, is_read) in [(MOST, true), (MOST + 1, false), (2 * MOST, false)] {
        let table = TableBuilder::of(&[first(one_column(), &[], json!({}), &[]), named(1)]).await?;
        let hint = format!("{head}{}\"}}", "-".repeat(bytes - head.len() - 2));
        table
            .put("_delta_log/_last_checkpoint", hint.into_bytes())
            .await?;
        let written = write_checkpoint(&table.open_at(1).await?, &CheckpointOptions::default()).await?;
        let stays = matches!(written.hint, HintOutcome::Stays(seven) if seven == Version::try_new(7)?);
        let is_written = matches!(written.hint, HintOutcome::Written);
        assert_eq!(
            (stays, is_written),
            (is_read, !is_read),
            "{bytes}: {:?}",
            written.hint
        );
    }
    Ok(())
}
