//! Actions as JSON lines: commits, compaction files, and checkpoints with a top-level file in JSON.

use arrow_array::RecordBatch;
use deltaic_protocol::actions::{ActionLine, parse_line};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::TableActions;
use super::columns_builder::{AddsBuilder, RemovesBuilder, StatisticsPlaces};
use super::file_line::{FileLine, PartitionPairs, parse_file_line};

/// Decodes lines of any number of files into one batch of adds and one of removes.
pub(super) struct LinesDecoder {
    adds: AddsBuilder,
    removes: RemovesBuilder,
    max_line_bytes: usize,
}

/// Decoded lines of one file.
#[derive(Default)]
pub(super) struct DecodedLines {
    /// Their actions other than file actions.
    pub(super) table: TableActions,
    /// Number of actions.
    pub(super) actions: usize,
}

/// An error of a line, and its number, starting at 1.
pub(super) struct LineError {
    pub(super) line: usize,
    pub(super) error: Error,
}

impl From<LineError> for Error {
    fn from(fault: LineError) -> Self {
        fault
            .error
            .with("line", i64::try_from(fault.line).unwrap_or(i64::MAX))
    }
}

/// The decoded columns.
pub(super) struct LineBatches {
    pub(super) adds: Option<(RecordBatch, StatisticsPlaces)>,
    pub(super) removes: Option<RecordBatch>,
}

/// The error for a file without any action: the result of a torn write, never of a writer.
pub(super) fn empty_file() -> Error {
    Error::new(ErrorKind::CorruptLog, "the file is empty")
}

impl LinesDecoder {
    pub(super) fn new(max_line_bytes: usize) -> Self {
        Self {
            adds: AddsBuilder::new(),
            removes: RemovesBuilder::new(),
            max_line_bytes,
        }
    }

    /// Number of adds and removes so far.
    pub(super) fn rows(&self) -> (usize, usize) {
        (self.adds.len(), self.removes.len())
    }

    /// Decodes complete lines, which start at byte `offset` of their file. The final newline may be missing,
    /// lines may end in CRLF, and blank lines are ignored.
    pub(super) fn decode(
        &mut self,
        bytes: &[u8],
        offset: u64,
    ) -> std::result::Result<DecodedLines, LineError> {
        let mut decoded = DecodedLines::default();
        let mut pairs = PartitionPairs::new();
        let mut start = 0usize;
        let mut line_number = 0usize;
        while start < bytes.len() {
            let rest = bytes.get(start..).unwrap_or_default();
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = rest.get(..length).unwrap_or_default();
            let at = offset.saturating_add(u64::try_from(start).unwrap_or(u64::MAX));
            line_number += 1;
            start += length + 1;
            self.decode_line(line, at, &mut pairs, &mut decoded)
                .map_err(|error| LineError {
                    line: line_number,
                    error,
                })?;
        }
        Ok(decoded)
    }

    fn decode_line<'a>(
        &mut self,
        line: &'a [u8],
        at: u64,
        pairs: &mut PartitionPairs<'a>,
        decoded: &mut DecodedLines,
    ) -> Result<()> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() <= self.max_line_bytes
            && let Some(parsed) = parse_file_line(line, pairs)
        {
            decoded.actions += 1;
            return match parsed {
                FileLine::Add(add) => {
                    let place = add.stats.and_then(|(first, end)| place(at, first, end));
                    self.adds.push(&add, pairs, place)
                }
                FileLine::Remove(remove) => self.removes.push(&remove, pairs),
            };
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        if line.len() > self.max_line_bytes {
            return Err(Error::new(
                ErrorKind::CorruptLog,
                format!(
                    "a line has {} bytes, more than {}",
                    line.len(),
                    self.max_line_bytes
                ),
            )
            .hint("raise max_line_bytes if you trust the table"));
        }
        decoded.actions += 1;
        self.take_slowly(line, at, &mut decoded.table)
    }

    fn take_slowly(&mut self, line: &[u8], at: u64, table: &mut TableActions) -> Result<()> {
        match parse_line(line)? {
            ActionLine::Add(add) => {
                ensure_size(Some(add.size), "add.size")?;
                // Statistics that are not a JSON string cannot be used and are ignored.
                let text = add
                    .stats
                    .map(|raw| raw.get())
                    .filter(|text| text.starts_with('"'));
                let place = text.and_then(|text| {
                    // The text is a slice of the line, so the difference of the addresses is its position.
                    let first = (text.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
                    place(at, first, first + text.len())
                });
                self.adds.push_line(&add, place)
            }
            ActionLine::Remove(remove) => {
                ensure_size(remove.size, "remove.size")?;
                self.removes.push_line(&remove)
            }
            other => table.take(other),
        }
    }

    pub(super) fn finish(self) -> Result<LineBatches> {
        Ok(LineBatches {
            adds: self.adds.finish()?,
            removes: self.removes.finish()?,
        })
    }
}

fn ensure_size(size: Option<i64>, field: &str) -> Result<()> {
    match size.filter(|size| *size < 0) {
        None => Ok(()),
        Some(size) => {
            let message = format!("a file's size is {size}");
            Err(Error::new(ErrorKind::CorruptLog, message).with("field", field))
        }
    }
}

fn place(line_at: u64, first: usize, end: usize) -> Option<(u64, u32)> {
    let length = u32::try_from(end.checked_sub(first)?).ok()?;
    Some((line_at.checked_add(u64::try_from(first).ok()?)?, length))
}
