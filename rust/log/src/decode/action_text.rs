//! Iterates over the lines of a log file of any size: a small file is buffered, a large one is streamed.

use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use futures::stream::BoxStream;
use object_store::ObjectStoreExt;
use object_store::path::Path;

use crate::listing::LogFile;
use deltaic_storage::location::TableLocation;
use deltaic_storage::{ensure_arrived, pieces_of};

/// Files up to this size are prefetched completely.
const HELD_BYTES: u64 = 8 << 20;

/// A file of actions, which may be read more than once.
pub(crate) struct ActionText {
    location: Arc<TableLocation>,
    /// The log file.
    pub(crate) file: Arc<LogFile>,
    held: Option<Bytes>,
    max_line_bytes: usize,
}

/// A line of a file.
pub(crate) enum Line<'a> {
    /// The line without its line feed.
    Text(&'a [u8]),
    /// A line that exceeds the maximum length.
    TooLong,
}

impl ActionText {
    /// Fetches a file unless it is large.
    pub(crate) async fn fetch(
        location: Arc<TableLocation>,
        file: Arc<LogFile>,
        max_line_bytes: usize,
    ) -> Result<Self, object_store::Error> {
        let held = if file.size <= HELD_BYTES {
            Some(location.read(&file.relative()).await?)
        } else {
            None
        };
        Ok(Self {
            location,
            file,
            held,
            max_line_bytes,
        })
    }

    /// Calls `visit` with every line that is not blank, and its number, starting at 1.
    pub(crate) async fn for_each_line(
        &self,
        visit: &mut (dyn FnMut(usize, Line<'_>) + Send),
    ) -> Result<(), object_store::Error> {
        let mut pieces = self.pieces().await?;
        while pieces.next(visit).await? {}
        Ok(())
    }

    /// Returns the lines in pieces, for callers that must process some of them before the next are read.
    pub(crate) async fn pieces(&self) -> Result<FileLines, object_store::Error> {
        let rest = match &self.held {
            Some(bytes) => Rest::Held(bytes.clone()),
            None => {
                let relative = self.file.relative();
                let path = self
                    .location
                    .below(&relative)
                    .map_err(|error| object_store::Error::Generic {
                        store: "table",
                        source: Box::new(error),
                    })?;
                let got = self.location.store().get(&path).await?;
                let expected = got.range.end.saturating_sub(got.range.start);
                let pieces = pieces_of(got);
                Rest::Arriving(Arriving {
                    pieces,
                    arrived: 0,
                    expected,
                    path,
                })
            }
        };
        Ok(FileLines {
            lines: Splitter {
                number: 0,
                longest: self.max_line_bytes,
                pending: Vec::new(),
                overflowed: false,
            },
            rest,
        })
    }
}

/// Size of the pieces of a buffered file.
const PIECE_BYTES: usize = 1 << 20;

/// Iteration over the lines of a file.
pub(crate) struct FileLines {
    lines: Splitter,
    rest: Rest,
}

/// The bytes that are not read yet.
enum Rest {
    Held(Bytes),
    Arriving(Arriving),
}

/// A file that is being streamed.
struct Arriving {
    pieces: BoxStream<'static, Result<Bytes, object_store::Error>>,
    /// Number of bytes received, and number of bytes that the store announced.
    arrived: u64,
    expected: u64,
    path: Path,
}

impl Arriving {
    async fn next(&mut self) -> Result<Option<Bytes>, object_store::Error> {
        let piece = self.pieces.try_next().await?;
        match &piece {
            Some(piece) => {
                let bytes = u64::try_from(piece.len()).unwrap_or(u64::MAX);
                self.arrived = self.arrived.saturating_add(bytes);
            }
            // A truncated commit could be a valid, different commit.
            None => ensure_arrived(self.arrived, self.expected, &self.path)?,
        }
        Ok(piece)
    }
}

impl FileLines {
    /// Calls `visit` with the lines that end in the next piece; returns false at the end.
    pub(crate) async fn next(
        &mut self,
        visit: &mut (dyn FnMut(usize, Line<'_>) + Send),
    ) -> Result<bool, object_store::Error> {
        let piece = match &mut self.rest {
            Rest::Held(bytes) if bytes.is_empty() => None,
            Rest::Held(bytes) => Some(bytes.split_to(bytes.len().min(PIECE_BYTES))),
            Rest::Arriving(arriving) => arriving.next().await?,
        };
        match &piece {
            Some(piece) => self.lines.take(piece, visit),
            None => self.lines.finish(visit),
        }
        Ok(piece.is_some())
    }
}

/// Calls `visit` with every line of the bytes that is not blank, and its number, starting at 1.
pub(crate) fn for_each_line(
    bytes: &[u8],
    max_line_bytes: usize,
    visit: &mut (dyn FnMut(usize, Line<'_>) + Send),
) {
    let mut lines = Splitter {
        number: 0,
        longest: max_line_bytes,
        pending: Vec::new(),
        overflowed: false,
    };
    lines.take(bytes, visit);
    lines.finish(visit);
}

struct Splitter {
    number: usize,
    longest: usize,
    pending: Vec<u8>,
    overflowed: bool,
}

impl Splitter {
    fn take(&mut self, bytes: &[u8], visit: &mut (dyn FnMut(usize, Line<'_>) + Send)) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            if self.pending.is_empty() && !self.overflowed {
                self.number += 1;
                visit_line(self.number, self.longest, line, visit);
            } else {
                self.keep_partial(line);
                self.finish(visit);
            }
        }
        self.keep_partial(rest);
    }

    fn keep_partial(&mut self, part: &[u8]) {
        if self.overflowed || self.pending.len().saturating_add(part.len()) > self.longest.saturating_add(1) {
            self.overflowed = true;
            self.pending = Vec::new();
        } else {
            self.pending.extend_from_slice(part);
        }
    }

    /// Ends the pending line.
    fn finish(&mut self, visit: &mut (dyn FnMut(usize, Line<'_>) + Send)) {
        let line = std::mem::take(&mut self.pending);
        if std::mem::take(&mut self.overflowed) {
            self.number += 1;
            visit(self.number, Line::TooLong);
        } else if !line.is_empty() {
            self.number += 1;
            visit_line(self.number, self.longest, &line, visit);
        }
    }
}

fn visit_line(number: usize, longest: usize, line: &[u8], visit: &mut (dyn FnMut(usize, Line<'_>) + Send)) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > longest {
        visit(number, Line::TooLong);
    } else if !line.iter().all(u8::is_ascii_whitespace) {
        visit(number, Line::Text(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn lines_are_the_same_however_they_come(
            text in "[ab\n\r ]{0,40}", cut in proptest::collection::vec(0usize..40, 0..5), longest in 1usize..6,
        ) {
            let read = |pieces: &[&[u8]]| {
                let mut lines = Splitter { number: 0, longest, pending: Vec::new(), overflowed: false };
                let mut seen: Vec<(usize, Option<Vec<u8>>)> = Vec::new();
                let mut visit = |number: usize, line: Line<'_>| seen.push((number, match line {
                    Line::Text(text) => Some(text.to_vec()),
                    Line::TooLong => None,
                }));
                for piece in pieces {
                    lines.take(piece, &mut visit);
                }
                lines.finish(&mut visit);
                seen
            };
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cut.into_iter().map(|at| at.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
            let whole = read(&[bytes]);
            proptest::prop_assert_eq!(&whole, &read(&pieces));
            let mut expected: Vec<(usize, Option<Vec<u8>>)> = Vec::new();
            for (index, line) in text.split('\n').enumerate() {
                let line = line.strip_suffix('\r').unwrap_or(line);
                if line.len() > longest {
                    expected.push((index + 1, None));
                } else if !line.trim().is_empty() {
                    expected.push((index + 1, Some(line.as_bytes().to_vec())));
                }
            }
            proptest::prop_assert_eq!(whole, expected);
        }
    }
}
