//! Every committer satisfies the same contract and never reports an unverified outcome.

use std::fs::File;
use std::io::ErrorKind as IoKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deltaic_log::committer::{Committer, Disk, FileSystem, Files, Outcome};
use deltaic_protocol::{ErrorKind, Result, Version};
use deltaic_storage::TableLocation;
use deltaic_testkit::catalog::{Catalog, Publishing};
use deltaic_testkit::committer_contract::{Failed, VERSIONS, is_honest, is_listed, keeps_the_contract};
use deltaic_testkit::fault::Fault;
use deltaic_testkit::recorded_files::{Mishap, RecordedFiles, Step};
use deltaic_testkit::remote_table::{MAY_PASS, SERVICES, remote_place};
use deltaic_testkit::scripted_network::Mishap::{Reset, Status};
use deltaic_testkit::scripted_network::Trouble;
use deltaic_testkit::table_builder::TableBuilder;
use futures::StreamExt;
use tempfile::TempDir;

const FIRST: &str = "_delta_log/00000000000000000000.json";

/// An empty location on the local disk.
#[expect(clippy::expect_used, reason = "a test states what it expects by failing")]
fn on_disk() -> Result<(TempDir, Arc<TableLocation>)> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let uri = folder.path().join("some table").display().to_string();
    Ok((folder, Arc::new(TableLocation::parse(&uri, Vec::new())?)))
}

#[expect(clippy::expect_used, reason = "a test states what it expects by failing")]
fn over(location: &TableLocation, files: &RecordedFiles) -> FileSystem {
    FileSystem::over(location, Arc::new(files.clone())).expect("the table is a local one")
}

/// protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2
#[tokio::test(flavor = "multi_thread")]
async fn a_local_file_system_retains_the_contract() -> Result<()> {
    let (_folder, location) = on_disk()?;
    keeps_the_contract(Arc::<TableLocation>::clone(&location)).await?;
    is_listed(&location).await
}

/// protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_local_file_system_without_links_retains_the_contract() -> Result<()> {
    let (_folder, location) = on_disk()?;
    let files = RecordedFiles::without_links();
    keeps_the_contract(Arc::new(over(&location, &files))).await?;
    let steps = files.take_steps();
    assert!(steps.iter().any(|(step, _)| *step == Step::Rename));
    is_listed(&location).await
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_retains_the_contract() -> Result<()> {
    let location = TableBuilder::new().location();
    keeps_the_contract(Arc::<TableLocation>::clone(&location)).await?;
    is_listed(&location).await
}

/// protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2
#[tokio::test(flavor = "multi_thread")]
async fn s3_azure_and_google_retain_the_contract() -> Result<()> {
    for service in SERVICES {
        let (network, location) = remote_place(service, &[])?;
        keeps_the_contract(Arc::<TableLocation>::clone(&location)).await?;
        is_listed(&location).await?;
        let commits = usize::try_from(VERSIONS).unwrap_or_default();
        assert_eq!(
            network.objects().len(),
            commits,
            "{}: something is left",
            service.0
        );
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_catalog_retains_the_contract() -> Result<()> {
    for publishing in [Publishing::AtOnce, Publishing::Later] {
        let location = TableBuilder::new().location();
        let catalog = Catalog::over(&location, 0, publishing);
        keeps_the_contract(Arc::new(catalog.clone())).await?;
        catalog.publish().await?;
        is_listed(&location).await?;
    }
    Ok(())
}

/// The meaning of a status depends on the service: a 412 of S3 and Google and a 409 of Azure that names the blob mean
/// that the version is taken; a 409 of S3 means that no writer has won yet.
#[tokio::test(start_paused = true)]
async fn a_taken_version_and_an_undecided_one_are_reported_apart() -> Result<()> {
    for service in SERVICES {
        let is_azure = service.0.starts_with("az:");
        for (status, code, is_taken) in [
            (412, "PreconditionFailed", true),
            (409, "BlobAlreadyExists", true),
            (409, "ConditionalRequestConflict", false),
            (409, "OperationAborted", false),
        ] {
            if (code == "BlobAlreadyExists") != (is_azure && status == 409) {
                continue;
            }
            let (network, location) = remote_place(service, &[])?;
            network.meets(Trouble::new(Status(status, code), "PUT", FIRST).requests(0..1));
            let outcome = location.propose(Version::ZERO, b"ours\n".to_vec()).await?;
            let expected = if is_taken {
                Outcome::Lost(Version::ZERO)
            } else {
                Outcome::Unknown(Version::ZERO)
            };
            assert_eq!(outcome, expected, "{} {status} {code}", service.0);
            assert_eq!(network.attempts("PUT", FIRST).len(), 1, "{} {code}", service.0);
        }
    }
    Ok(())
}

/// A network file system may execute a step and report a failure, or fail at any step: a commit is never reported as
/// not committed when it was, and no other file is left.
#[tokio::test]
async fn a_file_system_that_fails_is_reported_of_as_it_is() -> Result<()> {
    const STEPS: [Step; 7] = [
        Step::Create,
        Step::Write,
        Step::Sync,
        Step::Link,
        Step::Rename,
        Step::Remove,
        Step::SyncFolder,
    ];
    const WHY: [IoKind; 7] = [
        IoKind::AlreadyExists,
        IoKind::PermissionDenied,
        IoKind::StorageFull,
        IoKind::Unsupported,
        IoKind::NotFound,
        IoKind::TimedOut,
        IoKind::Other,
    ];
    let (mut won, mut failed, mut unknown) = (0, 0, 0);
    for files in [RecordedFiles::default(), RecordedFiles::without_links()] {
        for step in STEPS {
            for mishap in WHY
                .map(Mishap::Refused)
                .into_iter()
                .chain(WHY.map(Mishap::Unheard))
            {
                let names = matches!(step, Step::Link | Step::Rename);
                if names && mishap == Mishap::Refused(IoKind::AlreadyExists) {
                    continue; // it would be another writer's commit
                }
                let how = format!("{step:?} {mishap:?} {files:?}");
                let (_folder, location) = on_disk()?;
                location.prepare().await?;
                let committer = over(&location, &files);
                files.forget();
                files.meets(step, mishap);
                let is_done = matches!(mishap, Mishap::Unheard(_)) && names;
                let failed_where = if is_done { Failed::Behind } else { Failed::Before };
                // This variant does not have the step.
                let is_met = !matches!(
                    (step, files.has_links()),
                    (Step::Link, false) | (Step::Rename, true)
                );
                let failed_where = if is_met { failed_where } else { Failed::Before };
                match is_honest(&committer, Version::ZERO, failed_where, &how).await {
                    Ok(Outcome::Committed(_)) => won += 1,
                    Ok(_) => unknown += 1,
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::StorageError, "{how}");
                        assert!(error.hint_text().is_some(), "{how}");
                        failed += 1;
                    }
                }
                if matches!(step, Step::Create | Step::Write | Step::Sync) {
                    assert_eq!(location.read_commit(Version::ZERO).await?, None, "{how}");
                }
                let log = location.below("_delta_log")?;
                let left = location.store().list(Some(&log)).count().await;
                let seen = usize::from(location.read_commit(Version::ZERO).await?.is_some());
                let stays = usize::from(matches!((step, mishap), (Step::Remove, Mishap::Refused(_))));
                assert!(left <= seen + stays, "{how}: {left} files");
            }
        }
    }
    assert!(won > 0 && failed > 0 && unknown > 0, "{won} {failed} {unknown}");
    Ok(())
}

/// A file system on which another process links every new file to a second name, such as a copy by links, while another
/// writer takes the version.
#[derive(Debug)]
struct Copied {
    copies: PathBuf,
    taken: PathBuf,
    has_links: bool,
}

impl Files for Copied {
    fn create(&self, path: &Path) -> std::io::Result<File> {
        let made = Disk.create(path)?;
        Disk.link(path, &self.copies.join(path.file_name().unwrap_or_default()))?;
        let mut theirs = Disk.create(&self.taken)?;
        Disk.write(&mut theirs, b"theirs\n")?;
        Ok(made)
    }

    fn link(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        if !self.has_links {
            return Err(IoKind::PermissionDenied.into());
        }
        Disk.link(from, to)
    }
}

/// The link count of a file does not determine which writer won.
///
/// protocol: creation-of-new-log-entries.2
#[cfg(unix)]
#[tokio::test]
async fn a_staged_file_with_another_name_elsewhere_has_not_won() -> Result<()> {
    for has_links in [true, false] {
        let (folder, location) = on_disk()?;
        location.prepare().await?;
        let copies = folder.path().join("copies");
        Disk.make_folders(&copies).expect("a folder can be made");
        let files = Copied {
            copies,
            taken: folder.path().join("some table").join(FIRST),
            has_links,
        };
        let committer = FileSystem::over(&location, Arc::new(files)).expect("the table is a local one");
        let outcome = committer.propose(Version::ZERO, b"ours\n".to_vec()).await?;
        assert_eq!(outcome, Outcome::Lost(Version::ZERO), "links: {has_links}");
        let found = committer.read_commit(Version::ZERO).await?;
        assert_eq!(found.as_deref(), Some(&b"theirs\n"[..]), "links: {has_links}");
    }
    Ok(())
}

/// protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2
#[tokio::test(start_paused = true)]
async fn a_service_that_fails_is_reported_of_as_it_is() -> Result<()> {
    for service in SERVICES {
        for mishap in MAY_PASS {
            for failed in [Failed::Before, Failed::Behind] {
                let how = format!("{} {mishap:?} {failed:?}", service.0);
                let (network, location) = remote_place(service, &[])?;
                let trouble = Trouble::new(mishap, "PUT", FIRST).requests(0..1);
                network.meets(if failed == Failed::Behind {
                    trouble.done()
                } else {
                    trouble
                });
                let outcome = is_honest(location.as_ref(), Version::ZERO, failed, &how).await?;
                if mishap == Reset {
                    assert_eq!(outcome, Outcome::Unknown(Version::ZERO), "{how}");
                }
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_catalog_that_fails_is_reported_of_as_it_is() -> Result<()> {
    for (fault, failed) in [
        (Fault::AnswerLost, Failed::Behind),
        (Fault::RequestLost, Failed::Before),
    ] {
        let catalog = Catalog::over(&TableBuilder::new().location(), 0, Publishing::Later);
        catalog.meets(0, &[fault]);
        let outcome = is_honest(&catalog, Version::ZERO, failed, "a catalog").await?;
        assert_eq!(outcome, Outcome::Unknown(Version::ZERO));
    }
    Ok(())
}
