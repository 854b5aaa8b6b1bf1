//! Actions as JSON, one a line: commits, and checkpoints whose top level is JSON.

use deltaic_protocol::actions::columns::Statistics;
use deltaic_protocol::actions::{ActionLine, parse_line};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::Actions;
use super::columns_builder::{AddsBuilder, RemovesBuilder};

/// Decodes lines; an error says in which one it is. A final newline may be missing, lines may end in CRLF, and blank
/// lines count for nothing; without a single action the file is damaged, because no writer makes such a file and a
/// torn write does.
pub(super) fn decode_lines(bytes: &[u8], statistics: Statistics, max_line_bytes: usize) -> Result<Actions> {
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
        decode_line(line, max_line_bytes, &mut actions, &mut adds, &mut removes)
            .map_err(|error| error.with("line", i64::try_from(index + 1).unwrap_or(i64::MAX)))?;
    }
    if lines == 0 {
        return Err(Error::new(ErrorKind::CorruptLog, "the file is empty"));
    }
    actions.adds.extend(adds.finish()?);
    actions.removes.extend(removes.finish()?);
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
            format!("there are two {what} actions"),
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
        ActionLine::Sidecar(sidecar) => actions.sidecars.push(sidecar),
        ActionLine::CheckpointMetadata(metadata) => {
            if actions.checkpoint_metadata.replace(metadata).is_some() {
                return twice("checkpointMetadata");
            }
        }
        ActionLine::Cdc | ActionLine::Other => {}
    }
    Ok(())
}
