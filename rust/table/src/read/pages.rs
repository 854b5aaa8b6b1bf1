//! A data file that needs no network, read page by page as its rows are decoded.
//!
//! So a page is read into memory that the processor still holds from the page before, and a row group never lies in
//! memory as a whole.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use deltaic_log::page_headers::PageClaims;
use deltaic_log::read_buffers::ReadBuffers;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::weighed::Chunks;

/// How many bytes are read at first for the header of a page: most have fewer.
const HEADER: usize = 256;

/// Where pages come from.
pub(super) enum Source {
    /// A file of the file system.
    Opened(File),
    /// All of a file.
    Held(Bytes),
}

/// The pages of one file, for one who reads it.
#[derive(Clone)]
pub(super) struct FilePages(Arc<Inner>);

struct Inner {
    source: Source,
    size: u64,
    chunks: Arc<Chunks>,
    buffers: ReadBuffers,
    /// Where pages begin behind their headers, which have been weighed.
    bodies: Mutex<BTreeSet<u64>>,
    /// Why the file could not be read; the reader carries no more of it than text.
    failure: Mutex<Option<io::Error>>,
}

impl FilePages {
    /// The pages of a file that has so many bytes.
    pub(super) fn new(source: Source, size: u64, chunks: Arc<Chunks>, buffers: ReadBuffers) -> Self {
        Self(Arc::new(Inner {
            source,
            size,
            chunks,
            buffers,
            bodies: Mutex::default(),
            failure: Mutex::default(),
        }))
    }

    /// Why the file could not be read, if that was why its rows could not be decoded.
    pub(super) fn failure(&self) -> Option<io::Error> {
        let mut failure = self.0.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take()
    }
}

impl Inner {
    fn bodies(&self) -> std::sync::MutexGuard<'_, BTreeSet<u64>> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As much of a range as there is.
    fn read(&self, range: Range<u64>) -> io::Result<Bytes> {
        match &self.source {
            Source::Opened(file) => self.buffers.read(file, range),
            Source::Held(bytes) => {
                let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                Ok(bytes.slice(place(range.start)..place(range.end)))
            }
        }
    }

    fn failed(&self, error: io::Error) -> ParquetError {
        let told = ParquetError::General(format!("the file cannot be read: {error}"));
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        told
    }
}

impl Length for FilePages {
    fn len(&self) -> u64 {
        self.0.size
    }
}

impl ChunkReader for FilePages {
    type T = PageHeader;

    fn get_read(&self, start: u64) -> Result<PageHeader> {
        Ok(PageHeader {
            pages: Arc::clone(&self.0),
            start,
            bytes: Vec::new(),
            given: 0,
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let inner = &self.0;
        let end = start.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
        if end > inner.size {
            return Err(outside());
        }
        let bytes = inner.read(start..end).map_err(|error| inner.failed(error))?;
        if bytes.len() < length {
            let text = format!("the file ended {} bytes early", length - bytes.len());
            return Err(inner.failed(io::Error::new(ErrorKind::UnexpectedEof, text)));
        }
        // What does not come behind a header that was weighed has its own.
        if !inner.bodies().remove(&start) {
            inner.chunks.weigh(start, &bytes)?;
        }
        Ok(bytes)
    }
}

/// What is said of a footer that lies about where columns are.
pub(super) fn outside() -> ParquetError {
    ParquetError::EOF("the footer names bytes that the file does not have".to_owned())
}

/// The header of a page, weighed before its last byte is given away. Nothing is read before somebody asks.
pub(super) struct PageHeader {
    pages: Arc<Inner>,
    start: u64,
    /// What was read so far, and how much of it was given.
    bytes: Vec<u8>,
    given: usize,
}

impl PageHeader {
    fn read_on(&mut self) -> io::Result<()> {
        let known = self.bytes.len();
        let more = u64::try_from(known.max(HEADER)).unwrap_or(u64::MAX);
        let at = self
            .start
            .saturating_add(u64::try_from(known).unwrap_or(u64::MAX));
        let read = self.pages.read(at..at.saturating_add(more))?;
        self.bytes.extend_from_slice(&read);
        if let Some((claims, length)) = PageClaims::of_header(&self.bytes) {
            let weighed = self.pages.chunks.weigh_claims(self.start, &claims);
            weighed.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
            let body = self
                .start
                .saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
            self.pages.bodies().insert(body);
        }
        Ok(())
    }
}

impl Read for PageHeader {
    fn read(&mut self, wanted: &mut [u8]) -> io::Result<usize> {
        if self.given >= self.bytes.len() {
            self.read_on()?;
        }
        let rest = self.bytes.get(self.given..).unwrap_or_default();
        let count = rest.len().min(wanted.len());
        for (to, from) in wanted.iter_mut().zip(rest) {
            *to = *from;
        }
        self.given += count;
        Ok(count)
    }
}
