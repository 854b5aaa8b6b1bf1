//! Log files too large to be buffered: they are split at line ends, and the pieces are decoded on all cores.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use deltaic_protocol::{Error, Result};
use futures::TryStreamExt;
use futures::stream::BoxStream;
use object_store::ObjectStoreExt;
use object_store::path::Path;

use super::TableActions;
use super::file_batch::{FileBatch, Span};
use super::line_files::{batches, unreadable};
use super::lines::{DecodedLines, LineError, LinesDecoder, empty_file};
use crate::listing::LogFile;
use deltaic_storage::location::TableLocation;
use deltaic_storage::{compute, in_parallel};
use deltaic_storage::{ensure_arrived, read_range};

/// From this size on a file is read in pieces.
pub(super) const LARGE_BYTES: u64 = 32 << 20;

/// Sizes for splitting a file.
#[derive(Clone, Copy, Debug)]
pub struct Splitting {
    /// Size of a piece in bytes; at least 1.
    pub piece: u64,
    /// Bytes of a local file that are read at once: few, so that the allocator reuses the memory. At least 1.
    pub read: u64,
}

const CUT: Splitting = Splitting {
    piece: 16 << 20,
    read: 1 << 20,
};

/// Maximum number of pieces processed concurrently, which limits the memory.
const PIECES_IN_FLIGHT: usize = 4;

/// The actions of a piece, or its invalid line; and its number of lines.
struct ChunkActions {
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
    // A local file is read at several positions concurrently; a remote file is streamed with one request.
    if location.file_system().is_some() {
        read_cut(location, file, CUT, max_line_bytes).await
    } else {
        assemble(read_stream(location, file, max_line_bytes).await?)
    }
}

/// Reads a file at several positions concurrently.
pub(super) async fn read_cut(
    location: &Arc<TableLocation>,
    file: &Arc<LogFile>,
    cut: Splitting,
    max_line_bytes: usize,
) -> Result<(TableActions, Vec<FileBatch>, Vec<FileBatch>)> {
    let starts = (0..file.size).step_by(usize::try_from(cut.piece).unwrap_or(usize::MAX).max(1));
    let tasks = starts.map(|start| {
        let (location, file) = (Arc::clone(location), Arc::clone(file));
        async move { read_piece(&location, &file, start, cut, max_line_bytes).await }
    });
    assemble(in_parallel(tasks, PIECES_IN_FLIGHT).await?)
}

fn assemble(pieces: Vec<ChunkActions>) -> Result<(TableActions, Vec<FileBatch>, Vec<FileBatch>)> {
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

/// Reads and decodes the lines that start in the piece at `start`.
async fn read_piece(
    location: &TableLocation,
    file: &Arc<LogFile>,
    start: u64,
    cut: Splitting,
    max_line_bytes: usize,
) -> Result<ChunkActions> {
    let path = location.below(&file.relative())?;
    let end = start.saturating_add(cut.piece).min(file.size);
    let mut decoder = LinesDecoder::new(max_line_bytes);
    let mut piece = PieceLines::default();
    // The byte before the piece shows whether a line starts at its first byte.
    let mut at = start.saturating_sub(1);
    let mut is_inside = start == 0;
    // Bytes that are read but not decoded, and their offset in the file.
    let mut held: Vec<u8> = Vec::new();
    let mut offset = at;
    while offset < end {
        let until = at.saturating_add(cut.read).min(file.size);
        let bytes = read_range(location.store(), &path, at..until)
            .await
            .map_err(|error| unreadable(&error, file))?;
        at = until;
        let is_last = until == file.size;
        let mut fresh = bytes.as_ref();
        if !is_inside {
            // The line that extends into this piece belongs to a previous piece.
            match memchr::memchr(b'\n', fresh) {
                Some(newline) => {
                    is_inside = true;
                    offset = offset.saturating_add(as_u64(newline + 1));
                    fresh = fresh.get(newline + 1..).unwrap_or_default();
                }
                None if is_last => break,
                None => {
                    offset = at;
                    continue;
                }
            }
        }
        let ends_a_line = memchr::memchr(b'\n', fresh).is_some();
        held.extend_from_slice(fresh);
        // While the end of a long line is missing, do not scan it again and again.
        if !ends_a_line && !is_last && held.len() <= max_line_bytes {
            continue;
        }
        let lines = whole_lines(&held, offset, end, is_last);
        let decoded = decoder.decode(held.get(..lines).unwrap_or_default(), offset);
        if let Err(fault) = piece.take(decoded)? {
            return Ok(ChunkActions {
                lines: piece.lines,
                says: Err(fault),
            });
        }
        piece.lines += memchr::memchr_iter(b'\n', held.get(..lines).unwrap_or_default()).count();
        held.drain(..lines);
        offset = offset.saturating_add(as_u64(lines));
        if is_last {
            break;
        }
        if held.len() > max_line_bytes {
            // Decode the incomplete line, which fails because it is too long.
            let fault = decoder.decode(&held, offset).err();
            return Ok(ChunkActions {
                lines: piece.lines,
                says: Err(fault.unwrap_or_else(|| LineError {
                    line: 1,
                    error: empty_file(),
                })),
            });
        }
    }
    finish(decoder, piece, file)
}

fn as_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Returns how many of the bytes, which start at `offset` of their file, are complete lines that start before
/// `end`.
fn whole_lines(bytes: &[u8], offset: u64, end: u64, is_last: bool) -> usize {
    let before_end = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
    if before_end == 0 {
        return 0;
    }
    // The last line is the one with the last byte before `end`.
    match bytes.get(before_end - 1..) {
        Some(rest) => match memchr::memchr(b'\n', rest) {
            Some(newline) => before_end + newline,
            None if is_last => bytes.len(),
            None => memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1),
        },
        None if is_last => bytes.len(),
        None => memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1),
    }
}

/// The lines of a piece decoded so far.
#[derive(Default)]
struct PieceLines {
    lines: usize,
    decoded: DecodedLines,
}

impl PieceLines {
    /// Adds decoded lines, or returns the invalid line.
    fn take(
        &mut self,
        more: std::result::Result<DecodedLines, LineError>,
    ) -> Result<std::result::Result<(), LineError>> {
        match more {
            Ok(more) => {
                self.decoded.actions += more.actions;
                self.decoded.table.merge(more.table)?;
                Ok(Ok(()))
            }
            Err(fault) => Ok(Err(LineError {
                line: fault.line + self.lines,
                error: fault.error,
            })),
        }
    }
}

fn decode_piece(
    bytes: &[u8],
    offset: u64,
    file: &Arc<LogFile>,
    max_line_bytes: usize,
) -> Result<ChunkActions> {
    let mut decoder = LinesDecoder::new(max_line_bytes);
    let mut piece = PieceLines::default();
    let decoded = decoder.decode(bytes, offset);
    if let Err(fault) = piece.take(decoded)? {
        return Ok(ChunkActions {
            lines: 0,
            says: Err(fault),
        });
    }
    piece.lines = memchr::memchr_iter(b'\n', bytes).count();
    finish(decoder, piece, file)
}

fn finish(decoder: LinesDecoder, piece: PieceLines, file: &Arc<LogFile>) -> Result<ChunkActions> {
    let (adds, removes) = decoder.rows();
    let span = |rows: usize| {
        vec![Span {
            file: Arc::clone(file),
            version: file.last_version(),
            rows: 0..rows,
        }]
    };
    let (adds, removes) = batches(decoder.finish()?, span(adds), span(removes))?;
    Ok(ChunkActions {
        lines: piece.lines,
        says: Ok(Decoded {
            lines: piece.decoded,
            adds,
            removes,
        }),
    })
}

async fn read_stream(
    location: &TableLocation,
    file: &Arc<LogFile>,
    max_line_bytes: usize,
) -> Result<Vec<ChunkActions>> {
    let path = location.below(&file.relative())?;
    let got = location.store().get(&path).await;
    let got = got.map_err(|error| unreadable(&error, file))?;
    let length = got.range.end.saturating_sub(got.range.start);
    let arriving = Arriving {
        path,
        length,
        stream: got.into_stream(),
    };
    read_arriving(arriving, file, CUT, max_line_bytes).await
}

/// A file that is streamed in chunks.
struct Arriving {
    path: Path,
    /// Expected number of bytes.
    length: u64,
    stream: BoxStream<'static, object_store::Result<Bytes>>,
}

async fn read_arriving(
    mut arriving: Arriving,
    file: &Arc<LogFile>,
    cut: Splitting,
    max_line_bytes: usize,
) -> Result<Vec<ChunkActions>> {
    let mut arrived = 0u64;
    let mut pieces = Vec::new();
    let mut waiting: Vec<(u64, Bytes)> = Vec::new();
    let mut held = BytesMut::new();
    // Length of the complete lines.
    let mut whole = 0usize;
    let mut offset = 0u64;
    let full = usize::try_from(cut.piece).unwrap_or(usize::MAX);
    loop {
        let chunk = arriving
            .stream
            .try_next()
            .await
            .map_err(|error| unreadable(&error, file))?;
        let is_last = chunk.is_none();
        let chunk = chunk.unwrap_or_default();
        arrived = arrived.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        if is_last {
            ensure_arrived(arrived, arriving.length, &arriving.path)
                .map_err(|error| unreadable(&error, file))?;
        }
        held.extend_from_slice(&chunk);
        if let Some(newline) = memchr::memrchr(b'\n', &chunk) {
            whole = held.len() - chunk.len() + newline + 1;
        }
        if held.len() >= full || is_last {
            // Decode a line that exceeds the maximum length, which fails.
            let is_too_long = held.len() - whole > max_line_bytes.max(full);
            let taken = if is_last || is_too_long { held.len() } else { whole };
            if taken > 0 {
                let piece = held.split_to(taken).freeze();
                let length = u64::try_from(piece.len()).unwrap_or(0);
                waiting.push((offset, piece));
                offset = offset.saturating_add(length);
                whole = 0;
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

#[cfg(test)]
mod tests;
