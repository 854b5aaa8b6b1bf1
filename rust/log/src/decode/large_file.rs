//! A log file too large to be held at once: it is cut at line ends, and its pieces are decoded on all cores.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use deltaic_protocol::{Error, Result};
use futures::TryStreamExt;
use object_store::ObjectStoreExt;

use super::TableActions;
use super::commits::{batches, unreadable};
use super::file_batch::{FileBatch, Span};
use super::lines::{DecodedLines, LineError, LinesDecoder, empty_file};
use crate::in_parallel::{compute, in_parallel};
use crate::listing::LogFile;
use crate::location::TableLocation;
use crate::whole_body::{ensure_arrived, read_range};

/// From how many bytes on a file is read in pieces.
pub(super) const LARGE_BYTES: u64 = 32 << 20;

/// Bytes of a piece.
const PIECE_BYTES: u64 = 16 << 20;

/// How many pieces are worked on at once, which bounds the memory.
const PIECES_IN_FLIGHT: usize = 4;

/// By how many bytes a piece is read on until its last line ends.
const OVERLAP_BYTES: u64 = 64 << 10;

/// What a piece says, or which of its lines is damaged; and how many lines it has.
struct Piece {
    lines: usize,
    says: std::result::Result<Decoded, LineError>,
}

struct Decoded {
    lines: DecodedLines,
    adds: Option<FileBatch>,
    removes: Option<FileBatch>,
}

/// Reads a file in pieces.
pub(super) async fn read_large(
    location: &Arc<TableLocation>,
    file: &Arc<LogFile>,
    max_line_bytes: usize,
) -> Result<(TableActions, Vec<FileBatch>, Vec<FileBatch>)> {
    // A local file is read at many places at once; from a network it comes in one go, asked for once.
    let pieces = if location.file_system().is_some() {
        let starts = (0..file.size).step_by(usize::try_from(PIECE_BYTES).unwrap_or(usize::MAX));
        let tasks = starts.map(|start| {
            let (location, file) = (Arc::clone(location), Arc::clone(file));
            async move {
                let (offset, bytes) = read_piece(&location, &file, start, max_line_bytes).await?;
                compute(move || decode_piece(&bytes, offset, &file, max_line_bytes)).await
            }
        });
        in_parallel(tasks, PIECES_IN_FLIGHT).await?
    } else {
        read_stream(location, file, max_line_bytes).await?
    };
    assemble(pieces)
}

fn assemble(pieces: Vec<Piece>) -> Result<(TableActions, Vec<FileBatch>, Vec<FileBatch>)> {
    let mut table = TableActions::default();
    let (mut adds, mut removes) = (Vec::new(), Vec::new());
    let (mut lines, mut actions) = (0usize, 0usize);
    for piece in pieces {
        let decoded = piece.says.map_err(|fault| {
            Error::from(LineError {
                line: fault.line + lines,
                error: fault.error,
            })
        })?;
        lines += piece.lines;
        actions += decoded.lines.actions;
        table.merge(decoded.lines.table)?;
        adds.extend(decoded.adds);
        removes.extend(decoded.removes);
    }
    if actions == 0 {
        return Err(empty_file());
    }
    Ok((table, adds, removes))
}

/// The lines that start in the piece at `start`, and where the first of them does.
async fn read_piece(
    location: &TableLocation,
    file: &LogFile,
    start: u64,
    max_line_bytes: usize,
) -> Result<(u64, Bytes)> {
    let path = location.below(&file.relative())?;
    let end = start.saturating_add(PIECE_BYTES).min(file.size);
    let longest = u64::try_from(max_line_bytes).unwrap_or(u64::MAX);
    // One byte before the piece tells whether a line starts with it.
    let from = start.saturating_sub(1);
    let mut overlap = OVERLAP_BYTES;
    loop {
        let until = end.saturating_add(overlap).min(file.size);
        let bytes = read_range(location.store(), &path, from..until)
            .await
            .map_err(|error| unreadable(&error, file))?;
        let line_end = |at: u64| {
            let at = usize::try_from(at - from).ok()?;
            Some(at + memchr::memchr(b'\n', bytes.get(at..)?)? + 1)
        };
        let first = if start == 0 { Some(0) } else { line_end(start - 1) };
        // The last line of the piece ends where a line ends that starts before the next piece does.
        let last = if end == file.size {
            Some(bytes.len())
        } else {
            line_end(end - 1)
        };
        match (first, last) {
            (Some(first), Some(last)) if first <= last => {
                let offset = from.saturating_add(u64::try_from(first).unwrap_or(0));
                return Ok((offset, bytes.slice(first..last)));
            }
            // No line starts here.
            (Some(_), Some(_)) => return Ok((end, Bytes::new())),
            // A line runs through: from its start another piece reads it, and so far back this one need not look.
            (None, _) => return Ok((end, Bytes::new())),
            (Some(first), None) if until == file.size || overlap > longest => {
                let offset = from.saturating_add(u64::try_from(first).unwrap_or(0));
                return Ok((offset, bytes.slice(first.min(bytes.len())..)));
            }
            (Some(_), None) => overlap = overlap.saturating_mul(8),
        }
    }
}

fn decode_piece(bytes: &[u8], offset: u64, file: &Arc<LogFile>, max_line_bytes: usize) -> Result<Piece> {
    let mut decoder = LinesDecoder::new(max_line_bytes);
    let decoded = match decoder.decode(bytes, offset) {
        Ok(decoded) => decoded,
        Err(fault) => {
            return Ok(Piece {
                lines: 0,
                says: Err(fault),
            });
        }
    };
    let (adds, removes) = decoder.rows();
    let span = |rows: usize| {
        vec![Span {
            file: Arc::clone(file),
            version: file.last_version(),
            rows: 0..rows,
        }]
    };
    let (adds, removes) = batches(decoder.finish()?, span(adds), span(removes))?;
    Ok(Piece {
        lines: memchr::memchr_iter(b'\n', bytes).count(),
        says: Ok(Decoded {
            lines: decoded,
            adds,
            removes,
        }),
    })
}

async fn read_stream(
    location: &TableLocation,
    file: &Arc<LogFile>,
    max_line_bytes: usize,
) -> Result<Vec<Piece>> {
    let path = location.below(&file.relative())?;
    let got = location.store().get(&path).await;
    let got = got.map_err(|error| unreadable(&error, file))?;
    let length = got.range.end.saturating_sub(got.range.start);
    let mut stream = got.into_stream();
    let mut arrived = 0u64;
    let mut pieces = Vec::new();
    let mut waiting: Vec<(u64, Bytes)> = Vec::new();
    let mut held = BytesMut::new();
    let mut offset = 0u64;
    let full = usize::try_from(PIECE_BYTES).unwrap_or(usize::MAX);
    loop {
        let chunk = stream
            .try_next()
            .await
            .map_err(|error| unreadable(&error, file))?;
        let is_last = chunk.is_none();
        let chunk = chunk.unwrap_or_default();
        arrived = arrived.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        if is_last {
            ensure_arrived(arrived, length, &path).map_err(|error| unreadable(&error, file))?;
        }
        held.extend_from_slice(&chunk);
        if held.len() >= full || is_last {
            let cut = if is_last {
                held.len()
            } else {
                memchr::memrchr(b'\n', &held).map_or(0, |at| at + 1)
            };
            if cut > 0 {
                let piece = held.split_to(cut).freeze();
                let length = u64::try_from(piece.len()).unwrap_or(0);
                waiting.push((offset, piece));
                offset = offset.saturating_add(length);
            }
        }
        if waiting.len() >= PIECES_IN_FLIGHT || is_last {
            let tasks = waiting.drain(..).map(|(offset, bytes)| {
                let file = Arc::clone(file);
                compute(move || decode_piece(&bytes, offset, &file, max_line_bytes))
            });
            pieces.extend(in_parallel(tasks, PIECES_IN_FLIGHT).await?);
        }
        if is_last {
            return Ok(pieces);
        }
    }
}
