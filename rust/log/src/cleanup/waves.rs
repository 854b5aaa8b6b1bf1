//! In which order expired files go: in waves, each of which is over before the next begins.
//!
//! Whatever part of the waves is carried out, all versions that a listing then shows can be read: where a log does not
//! begin at version 0 it begins at its oldest complete checkpoint, so the commits up to a checkpoint go before it, which
//! leaves it the oldest; then it goes itself, before any commit behind it.
//!
//! Protocol: *Metadata Cleanup*, *Checkpoint Protection*: commits go before the checkpoints that stand for them.

use std::collections::BTreeSet;
use std::sync::Arc;

use deltaic_protocol::Version;
use deltaic_protocol::log_path::LogFileKind;

use super::plan::{Deletion, Expired};
use crate::listing::{Listing, LogFile};

/// The files of a listing that nobody needs who starts at a checkpoint of this version, wave by wave; none of them is
/// empty.
pub(super) fn waves(listing: &Listing, checkpoint: Version) -> Vec<Vec<Deletion>> {
    let of_kind = |wanted: &dyn Fn(&LogFile) -> bool, why: Expired| -> Vec<Deletion> {
        let files = listing.files.iter().filter(|file| wanted(file));
        files.map(|file| deletion(file, why)).collect()
    };
    // A range that begins at the checkpoint or before it is read by nobody who starts there.
    let is_spent = |file: &LogFile| is_compaction(file) && file.path.version <= checkpoint;
    let mut waves = vec![of_kind(&is_spent, Expired::Compaction)];
    let is_first =
        |file: &LogFile| file.path.kind == LogFileKind::Commit && file.path.version == Version::ZERO;
    if checkpoint > Version::ZERO {
        // Without it nobody takes the log for one that begins at version 0.
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
