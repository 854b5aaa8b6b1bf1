//! A commit: one action a line.
//!
//! Protocol: *Delta Log Entries*.

use deltaic_protocol::actions::columns::Statistics;
use deltaic_protocol::actions::{ActionLine, parse_line};
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Error, ErrorKind, Result, Version};

use super::Actions;
use super::columns_builder::{AddsBuilder, RemovesBuilder};

/// How long a line of the log may be before it is refused, unless the user raises it.
pub const MAX_LINE_BYTES: usize = 1 << 28;

/// Decodes a commit. Every fault is a `CorruptLog` that names the file, the version and the line.
///
/// A final newline may be missing, lines may end in CRLF, and blank lines count for nothing; a commit without a
/// single action is damage, because no writer makes one and a torn write does.
pub fn decode_commit(
    bytes: &[u8],
    version: Version,
    statistics: Statistics,
    max_line_bytes: usize,
) -> Result<Actions> {
    let mut actions = Actions::default();
    let mut adds = AddsBuilder::new(statistics);
    let mut removes = RemovesBuilder::new();
    let mut lines = 0usize;
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        lines += 1;
        decode_line(line, max_line_bytes, &mut actions, &mut adds, &mut removes).map_err(|error| {
            locate(error, version).with("line", i64::try_from(index + 1).unwrap_or(i64::MAX))
        })?;
    }
    if lines == 0 {
        return Err(locate(
            Error::new(ErrorKind::CorruptLog, "the commit is empty"),
            version,
        ));
    }
    actions
        .adds
        .extend(adds.finish().map_err(|error| locate(error, version))?);
    actions
        .removes
        .extend(removes.finish().map_err(|error| locate(error, version))?);
    Ok(actions)
}

fn decode_line(
    line: &[u8],
    max_line_bytes: usize,
    actions: &mut Actions,
    adds: &mut AddsBuilder,
    removes: &mut RemovesBuilder,
) -> Result<()> {
    if line.len() > max_line_bytes {
        return Err(Error::new(
            ErrorKind::CorruptLog,
            format!("a line has {} bytes, more than {max_line_bytes}", line.len()),
        )
        .hint("raise max_line_bytes if you trust the table"));
    }
    let twice = |what: &str| {
        Err(Error::new(
            ErrorKind::CorruptLog,
            format!("the commit holds two {what} actions"),
        ))
    };
    match parse_line(line)? {
        ActionLine::Add(add) => {
            if add.size < 0 {
                return Err(
                    Error::new(ErrorKind::CorruptLog, format!("a file's size is {}", add.size))
                        .with("field", "add.size"),
                );
            }
            adds.push(&add)?;
        }
        ActionLine::Remove(remove) => removes.push(&remove)?,
        ActionLine::Protocol(protocol) => {
            if actions.protocol.replace(protocol).is_some() {
                return twice("protocol");
            }
        }
        ActionLine::Metadata(metadata) => {
            if actions.metadata.replace(metadata).is_some() {
                return twice("metaData");
            }
        }
        ActionLine::Txn(txn) => {
            if actions.txns.iter().any(|known| known.app_id == txn.app_id) {
                return twice(&format!("txn ({})", txn.app_id));
            }
            actions.txns.push(txn);
        }
        ActionLine::DomainMetadata(domain) => {
            if actions.domains.iter().any(|known| known.domain == domain.domain) {
                return twice(&format!("domainMetadata ({})", domain.domain));
            }
            actions.domains.push(domain);
        }
        ActionLine::CommitInfo(info) => actions.commit_info = Some(info.get().to_owned()),
        ActionLine::Cdc | ActionLine::Other => {}
    }
    Ok(())
}

fn locate(error: Error, version: Version) -> Error {
    let located = error
        .with("path", LogPath::commit(version))
        .with("version", version);
    located.or_hint("the commit is damaged: restore it from a backup of the table")
}

#[cfg(test)]
mod tests {
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
