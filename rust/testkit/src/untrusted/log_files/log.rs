//! Arbitrary bytes as the files of a log: opening and checking it fail only with expected errors, and agree.

use std::sync::Arc;

use bytes::Bytes;
use deltaic_log::Snapshot;
use deltaic_log::check::{Examination, OlderNames, Progress, Severity, check_log};
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::log_path::LOG_FOLDER;
use deltaic_protocol::{ErrorKind, Result};
use deltaic_storage::TableLocation;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};

use crate::untrusted::memory::{Bound, bounded};
use crate::untrusted::runtime::block_on;

/// A check reads every file and may compare it several times with the commits; every file of the log is one more in
/// listings and findings.
const BOUND: Bound = Bound {
    per_byte: 2048,
    spare: 4 * 1024 * 1024,
};

/// Prefix of a file name; the name is the rest of the line, and the file's bytes follow.
const MARK: &[u8] = b"> ";

/// The names and contents of the files.
fn files(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match (line.strip_prefix(MARK), found.last_mut()) {
            (Some(name), _) => found.push((String::from_utf8_lossy(name).trim().to_owned(), Vec::new())),
            (None, Some((_, body))) => body.extend_from_slice(line),
            (None, None) => {}
        }
    }
    found
}

/// A table on its own store.
async fn table(files: Vec<(String, Vec<u8>)>) -> Arc<TableLocation> {
    let store = Arc::new(InMemory::new());
    for (name, body) in files {
        if let Ok(place) = Path::parse(format!("t/{LOG_FOLDER}/{name}")) {
            let put = store.put(&place, PutPayload::from(Bytes::from(body))).await;
            assert!(put.is_ok());
        }
    }
    let shared: Arc<dyn ObjectStore> = store;
    Arc::new(TableLocation::on_store(
        "memory://t/".to_owned(),
        shared,
        Path::from("t"),
    ))
}

pub(in crate::untrusted) fn check_invariants(bytes: &[u8]) {
    let location = block_on(table(files(bytes)));
    let options = LoadOptions::default();
    let opened = bounded(BOUND, bytes.len(), || {
        block_on(Snapshot::load(Arc::clone(&location), None, options))
    });
    let checked = bounded(BOUND, bytes.len(), || {
        let progress = Progress::default();
        block_on(check_log(&location, options, OlderNames::Kept, &progress))
    });
    agree(&opened, checked);
    if let Ok(snapshot) = opened {
        refreshes_to_itself(&snapshot);
    }
}

fn agree(opened: &Result<Snapshot>, checked: Result<Examination>) {
    let checked = match (opened, checked) {
        (_, Ok(checked)) => checked,
        (Err(opened), Err(checked)) => {
            assert_eq!(
                (opened.kind(), checked.kind()),
                (ErrorKind::TableNotFound, ErrorKind::TableNotFound)
            );
            return;
        }
        (Ok(_), Err(checked)) => panic!("the table opens, but its check fails: {checked:?}"),
    };
    let worst = checked.findings.worst();
    match opened {
        Err(error) => match error.kind() {
            ErrorKind::UnsupportedFeature => {
                assert!(worst.is_some(), "the check does not report {error:?}");
            }
            ErrorKind::CorruptLog | ErrorKind::TableNotFound => {
                assert_eq!(
                    worst,
                    Some(Severity::Damage),
                    "the check reports no damage: {error:?}"
                );
            }
            _ => panic!("a log must not cause {error:?}"),
        },
        Ok(snapshot) if worst < Some(Severity::Damage) => {
            let live = checked.examined.live_files;
            assert!(
                live.is_none_or(|live| live == snapshot.num_files()),
                "the check has {live:?} live files, but the snapshot {}",
                snapshot.num_files()
            );
        }
        Ok(_) => {}
    }
}

/// Refreshing an unchanged log changes nothing.
fn refreshes_to_itself(snapshot: &Snapshot) {
    match block_on(snapshot.refresh()) {
        Ok(refreshed) => {
            assert_eq!(refreshed.version(), snapshot.version());
            assert_eq!(refreshed.num_files(), snapshot.num_files());
        }
        Err(error) => panic!("the table opens, but the refresh fails: {error:?}"),
    }
}
