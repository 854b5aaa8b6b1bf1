//! Orders the deletion of expired files in waves, each of which completes before the next begins.
//!
//! After any part of the waves, all versions that a listing shows can be read. A log that does not begin at version 0
//! begins at its oldest complete checkpoint, so the commits up to a checkpoint are deleted before it, which makes it
//! the oldest; then the checkpoint itself is deleted, before any later commit.
//!
//! Protocol: *Metadata Cleanup*, *Checkpoint Protection*: commits are deleted before the checkpoints that replace them.

use std::collections::BTreeSet;
use std::sync::Arc;

use deltaic_protocol::Version;
use deltaic_protocol::log_path::LogFileKind;

use super::deletion::{Deletion, Expired};
use crate::listing::{Listing, LogFile};

/// The files of a listing that readers starting at a checkpoint of this version do not need, wave by wave; no wave is
/// empty.
pub(super) fn waves(listing: &Listing, checkpoint: Version) -> Vec<Vec<Deletion>> {
    let of_kind = |wanted: &dyn Fn(&LogFile) -> bool, why: Expired| -> Vec<Deletion> {
        let files = listing.files.iter().filter(|file| wanted(file));
        files.map(|file| deletion(file, why)).collect()
    };
    // Readers that start at the checkpoint use no range that begins at it or before.
    let is_spent = |file: &LogFile| is_compaction(file) && file.path.version <= checkpoint;
    let mut waves = vec![of_kind(&is_spent, Expired::Compaction)];
    let is_first =
        |file: &LogFile| file.path.kind == LogFileKind::Commit && file.path.version == Version::ZERO;
    if checkpoint > Version::ZERO {
        // Without commit 0, no reader treats the log as complete from version 0.
        waves.push(of_kind(&is_first, Expired::BeforeCheckpoint));
    }
    let old = || listing.files.iter().filter(|file| file.path.version < checkpoint);
    let of_checkpoints: BTreeSet<Version> = old()
        .filter(|file| is_checkpoint(file))
        .map(|file| file.path.version)
        .collect();
    let mut from = Version::ZERO;
    for version in of_checkpoints {
        let until_it = |file: &LogFile| {
            is_of_a_version(file) && !is_first(file) && (from..=version).contains(&file.path.version)
        };
        waves.push(of_kind(&until_it, Expired::BeforeCheckpoint));
        let its_own = |file: &LogFile| is_checkpoint(file) && file.path.version == version;
        waves.push(of_kind(&its_own, Expired::OlderCheckpoint));
        let Ok(next) = version.next() else { break };
        from = next;
    }
    let rest = |file: &LogFile| {
        is_of_a_version(file) && !is_first(file) && (from..checkpoint).contains(&file.path.version)
    };
    waves.push(of_kind(&rest, Expired::BeforeCheckpoint));
    waves.retain(|wave| !wave.is_empty());
    waves
}

fn deletion(file: &Arc<LogFile>, why: Expired) -> Deletion {
    Deletion {
        path: file.relative(),
        bytes: file.size,
        why,
    }
}

fn is_compaction(file: &LogFile) -> bool {
    matches!(file.path.kind, LogFileKind::Compaction { .. })
}

/// Commits and version checksums.
fn is_of_a_version(file: &LogFile) -> bool {
    matches!(file.path.kind, LogFileKind::Commit | LogFileKind::VersionChecksum)
}

fn is_checkpoint(file: &LogFile) -> bool {
    matches!(
        file.path.kind,
        LogFileKind::ClassicCheckpoint
            | LogFileKind::MultiPartCheckpoint { .. }
            | LogFileKind::UuidCheckpoint { .. }
    )
}
