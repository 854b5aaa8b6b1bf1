//! Arbitrary strings as a file name in `_delta_log`: accepted names serialize as the protocol requires.

use deltaic_protocol::log_path::{CheckpointFormat, LogFileKind, LogPath};

use super::memory::{Bound, bounded};

/// A name is split at its dots, and an id is copied.
const BOUND: Bound = Bound {
    per_byte: 64,
    spare: 1024,
};

pub(super) fn check_invariants(bytes: &[u8]) {
    let Ok(name) = std::str::from_utf8(bytes) else {
        return;
    };
    let Some(path) = bounded(BOUND, bytes.len(), || LogPath::parse(name)) else {
        return;
    };
    let stem = path.version.file_stem();
    let named = match &path.kind {
        LogFileKind::Commit => {
            assert_eq!(LogPath::commit(path.version), format!("_delta_log/{name}"));
            format!("{stem}.json")
        }
        LogFileKind::ClassicCheckpoint => format!("{stem}.checkpoint.parquet"),
        LogFileKind::MultiPartCheckpoint { part, parts } => {
            assert!((1..=*parts).contains(part), "{name}");
            format!("{stem}.checkpoint.{part:010}.{parts:010}.parquet")
        }
        LogFileKind::UuidCheckpoint { uuid, format } => match format {
            CheckpointFormat::Json => format!("{stem}.checkpoint.{uuid}.json"),
            CheckpointFormat::Parquet => format!("{stem}.checkpoint.{uuid}.parquet"),
        },
        LogFileKind::Compaction { end } => format!("{stem}.{}.compacted.json", end.file_stem()),
        LogFileKind::VersionChecksum => format!("{stem}.crc"),
    };
    assert_eq!(named, name);
}
