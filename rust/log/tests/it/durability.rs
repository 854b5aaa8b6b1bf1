//! Acknowledged commits are durable: the steps of one commit, in order.

use std::io::ErrorKind as IoKind;
use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::committer::{Committer, FileSystem, Outcome};
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::create;
use deltaic_protocol::{ErrorKind, Result, Version};
use deltaic_storage::TableLocation;
use deltaic_testkit::own_commits::{a_new_table, an_append, commit_to, without_maintenance};
use deltaic_testkit::recorded_files::{Mishap, RecordedFiles, Step};
use futures::StreamExt;
use tempfile::TempDir;

#[expect(clippy::expect_used, reason = "a test states what it expects by failing")]
async fn table(files: &RecordedFiles) -> Result<(TempDir, TableLocation, FileSystem)> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let location = TableLocation::parse(&folder.path().display().to_string(), Vec::new())?;
    let committer = FileSystem::over(&location, Arc::new(files.clone())).expect("the table is a local one");
    committer.prepare().await?;
    Ok((folder, location, committer))
}

fn order(files: &RecordedFiles) -> Vec<Step> {
    files.take_steps().into_iter().map(|(step, _)| step).collect()
}

/// The bytes are synced before they are linked to the version's name, and the folder before the commit is acknowledged.
///
/// protocol: creation-of-new-log-entries.1
#[tokio::test]
async fn a_file_is_synced_before_its_link_and_the_folder_after_it() -> Result<()> {
    use Step::{Create, Link, Remove, Sync, SyncFolder, Write};
    let files = RecordedFiles::default();
    let (_folder, _, committer) = table(&files).await?;
    files.forget();
    let first = Version::ZERO;
    let outcome = committer.propose(first, b"one\n".to_vec()).await?;
    assert_eq!(outcome, Outcome::Committed(first));
    let steps = files.take_steps();
    let order: Vec<Step> = steps.iter().map(|(step, _)| *step).collect();
    assert_eq!(order, [Create, Write, Sync, Link, Remove, SyncFolder]);
    let name = |step: Step| {
        let found = steps.iter().find(|(one, _)| *one == step);
        found.map(|(_, name)| name.as_str()).unwrap_or_default()
    };
    assert_eq!(name(Link), "00000000000000000000.json");
    assert_eq!(name(SyncFolder), "_delta_log");
    assert!(name(Create).starts_with(".00000000000000000000.json."));
    assert_eq!(name(Create), name(Remove));
    Ok(())
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_file_is_synced_before_its_rename_and_the_folder_after_it() -> Result<()> {
    use Step::{Create, Remove, Rename, Sync, SyncFolder, Write};
    let files = RecordedFiles::without_links();
    let (_folder, _, committer) = table(&files).await?;
    files.forget();
    committer.propose(Version::ZERO, b"one\n".to_vec()).await?;
    // The temporary name does not exist any more.
    assert_eq!(order(&files), [Create, Write, Sync, Rename, Remove, SyncFolder]);
    Ok(())
}

/// The folders of a new table are synced before a commit is written.
#[tokio::test]
async fn new_folders_are_synced_from_above() -> Result<()> {
    let files = RecordedFiles::default();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let uri = folder.path().join("a/b").display().to_string();
    let location = TableLocation::parse(&uri, Vec::new())?;
    let committer = FileSystem::over(&location, Arc::new(files.clone())).expect("the table is a local one");
    committer.prepare().await?;
    let above = folder
        .path()
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let synced: Vec<String> = files.take_steps().into_iter().map(|(_, name)| name).collect();
    assert_eq!(synced, ["b", "a", above.as_str()]);
    committer.prepare().await?;
    assert_eq!(files.take_steps(), [], "nothing is new");
    Ok(())
}

/// A parent folder of a new table that cannot be synced is reported, and the others are synced.
#[tokio::test]
async fn new_folders_that_cannot_be_synced_are_reported() -> Result<()> {
    let files = RecordedFiles::default();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let uri = folder.path().join("a/b").display().to_string();
    let location = TableLocation::parse(&uri, Vec::new())?;
    let committer = FileSystem::over(&location, Arc::new(files.clone())).expect("the table is a local one");
    files.meets(Step::SyncFolder, Mishap::Refused(IoKind::StorageFull));
    let why = committer.prepare().await?.expect("one folder is not synced");
    assert!(why.contains("a/b") && why.contains("no storage space"), "{why}");
    assert_eq!(files.take_steps().len(), 3);
    assert_eq!(committer.prepare().await?, None, "nothing is new");
    Ok(())
}

/// If the bytes cannot be synced, there is no commit and no remaining file.
#[tokio::test]
async fn a_file_that_cannot_be_synced_is_not_committed() -> Result<()> {
    for step in [Step::Create, Step::Write, Step::Sync] {
        for kind in [IoKind::Other, IoKind::StorageFull] {
            let files = RecordedFiles::default();
            let (_folder, location, committer) = table(&files).await?;
            files.forget();
            files.meets(step, Mishap::Refused(kind));
            let error = committer.propose(Version::ZERO, b"one\n".to_vec()).await.err();
            let error = error.expect("it fails");
            assert_eq!(error.kind(), ErrorKind::StorageError);
            assert!(!order(&files).contains(&Step::Link), "{step:?}");
            assert_eq!(committer.read_commit(Version::ZERO).await?, None, "{step:?}");
            let log = location.below("_delta_log")?;
            assert_eq!(location.store().list(Some(&log)).count().await, 0, "{step:?}");
            // The next attempt succeeds.
            let again = committer.propose(Version::ZERO, b"two\n".to_vec()).await?;
            assert_eq!(again, Outcome::Committed(Version::ZERO), "{step:?}");
        }
    }
    Ok(())
}

/// Once linked, the version is committed, whatever fails then. If the folder could not be synced the outcome reports
/// it: the name may not survive a power failure.
#[tokio::test]
async fn a_linked_commit_file_is_committed() -> Result<()> {
    for step in [Step::Remove, Step::SyncFolder] {
        let files = RecordedFiles::default();
        let (_folder, _, committer) = table(&files).await?;
        files.forget();
        files.meets(step, Mishap::Refused(IoKind::StorageFull));
        let outcome = committer.propose(Version::ZERO, b"one\n".to_vec()).await?;
        match (step, outcome) {
            (Step::SyncFolder, Outcome::NotSynced(version, why)) => {
                assert_eq!(version, Version::ZERO);
                assert!(
                    why.contains("_delta_log") && why.contains("no storage space"),
                    "{why}"
                );
            }
            (step, outcome) => assert_eq!((step, outcome), (Step::Remove, Outcome::Committed(Version::ZERO))),
        }
    }
    Ok(())
}

/// A transaction reports it as a warning, and the commit succeeds.
#[tokio::test]
async fn a_folder_that_cannot_be_synced_is_a_warning_of_the_commit() -> Result<()> {
    for is_synced in [true, false] {
        let files = RecordedFiles::default();
        let (_folder, location, committer) = table(&files).await?;
        let location = Arc::new(location);
        create(&location, a_new_table(), &without_maintenance()).await?;
        let snapshot = Snapshot::load(Arc::clone(&location), None, LoadOptions::default()).await?;
        if !is_synced {
            files.meets(Step::SyncFolder, Mishap::Refused(IoKind::Other));
        }
        let mut transaction = commit_to(&snapshot)?;
        transaction.committer = &committer;
        transaction.proposal.adds = an_append("one").adds;
        let committed = transaction.commit().await?;
        assert_eq!(committed.version.as_i64(), 1);
        assert_eq!(committed.warnings.len(), usize::from(!is_synced));
        for warning in &committed.warnings {
            assert!(
                warning.contains("version 1") && warning.contains("fsync"),
                "{warning}"
            );
        }
    }
    Ok(())
}
