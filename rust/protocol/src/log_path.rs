//! Parses the names of files in `_delta_log`.
//!
//! Protocol: *Delta Log Entries*, *Checkpoints*, *Log Compaction Files*, *Version Checksum File*, *Last
//! Checkpoint File*.

use crate::Version;

/// The folder of the log in a table.
pub const LOG_FOLDER: &str = "_delta_log";

/// The file name of the last checkpoint hint.
pub const LAST_CHECKPOINT: &str = "_last_checkpoint";

/// The folder of staged commits in the folder of the log.
pub const STAGED_COMMITS: &str = "_staged_commits";

/// The format of the top-level file of a UUID-named checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckpointFormat {
    /// One action per line.
    Json,
    /// One action per row.
    Parquet,
}

/// The kind of a log file.
///
/// The derived order is the order of preference among files of one version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogFileKind {
    /// `n.json`: a commit.
    Commit,
    /// `n.checkpoint.parquet`.
    ClassicCheckpoint,
    /// `n.checkpoint.o.p.parquet`: part `o` of `p`.
    MultiPartCheckpoint {
        /// Number of the part, from 1.
        part: u32,
        /// Number of parts.
        parts: u32,
    },
    /// `n.checkpoint.u.json` or `n.checkpoint.u.parquet`.
    UuidCheckpoint {
        /// The unique part of the name.
        uuid: String,
        /// The format of its top-level file.
        format: CheckpointFormat,
    },
    /// `x.y.compacted.json`; the version of the path is `x`.
    Compaction {
        /// The last version of the range.
        end: Version,
    },
    /// `n.crc`.
    VersionChecksum,
}

/// The parsed name of a file directly in `_delta_log`.
///
/// ```
/// use deltaic_protocol::log_path::{LogFileKind, LogPath};
/// let path = LogPath::parse("00000000000000000010.json").ok_or("not a log file")?;
/// assert_eq!((path.version.as_i64(), path.kind), (10, LogFileKind::Commit));
/// assert_eq!(LogPath::parse("10.json"), None);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogPath {
    /// The version in the name; the first version of a compaction file.
    pub version: Version,
    /// The kind of the file.
    pub kind: LogFileKind,
}

impl LogPath {
    /// Parses a file name; returns `None` if it does not follow the protocol exactly.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let (stem, rest) = name.split_once('.')?;
        let version = parse_version(stem)?;
        let kind = match rest.split('.').collect::<Vec<_>>().as_slice() {
            ["json"] => LogFileKind::Commit,
            ["crc"] => LogFileKind::VersionChecksum,
            ["checkpoint", "parquet"] => LogFileKind::ClassicCheckpoint,
            ["checkpoint", uuid, "json"] => LogFileKind::UuidCheckpoint {
                uuid: parse_uuid(uuid)?,
                format: CheckpointFormat::Json,
            },
            ["checkpoint", uuid, "parquet"] => LogFileKind::UuidCheckpoint {
                uuid: parse_uuid(uuid)?,
                format: CheckpointFormat::Parquet,
            },
            ["checkpoint", part, parts, "parquet"] => {
                let (part, parts) = (parse_part(part)?, parse_part(parts)?);
                if part == 0 || part > parts {
                    return None;
                }
                LogFileKind::MultiPartCheckpoint { part, parts }
            }
            [end, "compacted", "json"] => LogFileKind::Compaction {
                end: parse_version(end)?,
            },
            _ => return None,
        };
        Some(Self { version, kind })
    }

    /// The name of the commit file of a version, relative to the root of the table.
    #[must_use]
    pub fn commit(version: Version) -> String {
        format!("{LOG_FOLDER}/{}.json", version.file_stem())
    }
}

fn digits(text: &str, width: usize) -> Option<&str> {
    (text.len() == width && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

fn parse_version(text: &str) -> Option<Version> {
    Version::try_new(digits(text, 20)?.parse().ok()?).ok()
}

fn parse_part(text: &str) -> Option<u32> {
    digits(text, 10)?.parse().ok()
}

fn parse_uuid(text: &str) -> Option<String> {
    uuid::Uuid::try_parse(text)
        .is_ok_and(|_| text.len() == 36)
        .then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> Option<LogFileKind> {
        LogPath::parse(name).map(|path| path.kind)
    }

    /// protocol: checkpoints.4, delta-log-entries.1
    #[test]
    fn names_of_the_protocol_are_understood() {
        let uuid = "80a083e8-7026-4e79-81be-64bd76c43a11";
        assert_eq!(kind("00000000000000000010.json"), Some(LogFileKind::Commit));
        assert_eq!(
            kind("00000000000000000010.crc"),
            Some(LogFileKind::VersionChecksum)
        );
        assert_eq!(
            kind("00000000000000000010.checkpoint.parquet"),
            Some(LogFileKind::ClassicCheckpoint)
        );
        assert_eq!(
            kind("00000000000000000010.checkpoint.0000000002.0000000003.parquet"),
            Some(LogFileKind::MultiPartCheckpoint { part: 2, parts: 3 })
        );
        for (ending, format) in [
            ("json", CheckpointFormat::Json),
            ("parquet", CheckpointFormat::Parquet),
        ] {
            assert_eq!(
                kind(&format!("00000000000000000010.checkpoint.{uuid}.{ending}")),
                Some(LogFileKind::UuidCheckpoint {
                    uuid: uuid.to_owned(),
                    format
                })
            );
        }
        assert!(matches!(
            kind("00000000000000000004.00000000000000000006.compacted.json"),
            Some(LogFileKind::Compaction { end }) if end.as_i64() == 6
        ));
    }

    #[test]
    fn names_that_are_nearly_right_are_ignored() {
        for name in [
            "",
            ".json",
            "1.json",
            "0000000000000000001.json",
            "000000000000000000001.json",
            "0000000000000000001a.json",
            "+0000000000000000001.json",
            "00000000000000000001.JSON",
            "00000000000000000001.json.tmp",
            "99999999999999999999.json",
            ".00000000000000000001.json.crc",
            "00000000000000000001.checkpoint",
            "00000000000000000001.checkpoint.0000000004.0000000003.parquet",
            "00000000000000000001.checkpoint.0000000000.0000000003.parquet",
            "00000000000000000001.checkpoint.1.3.parquet",
            "00000000000000000001.checkpoint.not-a-uuid.parquet",
            "_last_checkpoint",
        ] {
            assert_eq!(LogPath::parse(name), None, "{name}");
        }
    }
}
