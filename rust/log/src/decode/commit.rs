//! A commit: one action a line.
//!
//! Protocol: *Delta Log Entries*.

use deltaic_protocol::actions::columns::Statistics;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Error, Result, Version};

use super::Actions;
use super::lines::decode_lines;

/// How long a line of the log may be before it is refused, unless the user raises it.
pub const MAX_LINE_BYTES: usize = 1 << 28;

/// Decodes a commit. Every fault is a `CorruptLog` that names the file, the version and the line.
///
/// Actions that only a checkpoint holds count for nothing here. Protocol: *Action Reconciliation*.
pub fn decode_commit(
    bytes: &[u8],
    version: Version,
    statistics: Statistics,
    max_line_bytes: usize,
) -> Result<Actions> {
    let actions = decode_lines(bytes, statistics, max_line_bytes).map_err(|error| locate(error, version))?;
    Ok(Actions {
        sidecars: Vec::new(),
        checkpoint_metadata: None,
        ..actions
    })
}

fn locate(error: Error, version: Version) -> Error {
    let located = error
        .with("path", LogPath::commit(version))
        .with("version", version);
    located.or_hint("the commit is damaged: restore it from a backup of the table")
}

#[cfg(test)]
mod tests {
    use deltaic_protocol::ErrorKind;

    use super::*;

    fn decode(text: &[u8]) -> Result<Actions> {
        decode_commit(text, Version::try_new(7)?, Statistics::Text, 1 << 20)
    }

    const ADD: &str = r#"{"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":2,"dataChange":true,"stats":"{\"numRecords\":1}"}}"#;

    /// protocol: delta-log-entries.1
    #[test]
    fn lines_may_end_as_they_like() -> Result<()> {
        let remove = r#"{"remove":{"path":"b","dataChange":true}}"#;
        for (end, tail) in [("\n", "\n"), ("\r\n", ""), ("\n\n", "\n \n")] {
            let actions = decode(format!("{ADD}{end}{remove}{tail}").as_bytes())?;
            assert_eq!(
                actions.adds.iter().map(|batch| batch.num_rows()).sum::<usize>(),
                1
            );
            assert_eq!(
                actions
                    .removes
                    .iter()
                    .map(|batch| batch.num_rows())
                    .sum::<usize>(),
                1
            );
        }
        Ok(())
    }

    #[test]
    fn damage_names_the_version_and_the_line() {
        let metadata = r#"{"metaData":{"id":"x","format":{"provider":"parquet"},"schemaString":"","partitionColumns":[],"configuration":{}}}"#;
        for text in [
            "".to_owned(),
            "\n".to_owned(),
            format!("{ADD}\n{{\"add\":{{\"path\":\"a"),
            format!("{ADD}\n\0\0\0\0"),
            format!("\u{feff}{ADD}"),
            format!("{metadata}\n{metadata}"),
            ADD.replace("\"size\":1", "\"size\":-1"),
        ] {
            let error = decode(text.as_bytes()).err();
            assert_eq!(
                error.as_ref().map(Error::kind),
                Some(ErrorKind::CorruptLog),
                "{text}"
            );
            assert!(
                error.is_some_and(|error| error.to_string().contains("version: 7")),
                "{text}"
            );
        }
        assert!(decode_commit(ADD.as_bytes(), Version::ZERO, Statistics::Skipped, 20).is_err());
    }
}
