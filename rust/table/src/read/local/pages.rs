//! Reads a data file in memory or on a local file system page by page, as its rows are decoded.
//!
//! So a page is read into memory that is still in the CPU cache, and no row group is in memory as a whole.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use deltaic_storage::PageClaims;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};

use crate::read::file::open_file::OpenFile;
use crate::read::parquet::footer::Footer;
use crate::read::parquet::page_guard::Packing;
use crate::read::parquet::read_buffers::ReadBuffers;

/// The number of bytes that are first read for a page header: most are shorter.
const HEADER: usize = 256;
/// The maximum length of a page header.
const LONGEST_HEADER: usize = 4 << 20;

/// The source of pages.
pub(crate) enum Source {
    /// A file of the file system.
    Opened(File),
    /// The bytes of a complete file.
    Held(Bytes),
}

/// The reason why a page could not be read.
pub(crate) enum Failure {
    /// An I/O error.
    Unread(io::Error),
    /// An invalid claim in a page header.
    Refused(String),
}

/// The pages of one file, for a single reader.
#[derive(Clone)]
pub(crate) struct FilePages(Arc<Inner>);

struct Inner {
    source: Source,
    size: u64,
    packing: Packing,
    buffers: ReadBuffers,
    /// The offsets of pages in the page index: these are read together with their headers.
    indexed: Arc<BTreeSet<u64>>,
    /// The offsets of page bodies whose headers were validated.
    bodies: Mutex<BTreeSet<u64>>,
    /// The reason why a page could not be read; the Parquet reader keeps only its text, and wraps that.
    failure: Mutex<Option<Failure>>,
}

impl FilePages {
    /// The pages of an opened file.
    pub(crate) fn new(source: Source, file: &OpenFile) -> Self {
        Self(Arc::new(Inner {
            source,
            size: file.footer.file.size(),
            packing: file.packing,
            indexed: Arc::clone(&file.indexed),
            buffers: file.buffers.clone(),
            bodies: Mutex::default(),
            failure: Mutex::default(),
        }))
    }

    /// The pages of a file without a page index, to look for them.
    pub(crate) fn without_index(source: Source, footer: &Footer) -> Self {
        Self(Arc::new(Inner {
            source,
            size: footer.file.size(),
            packing: Packing::of(&footer.metadata),
            indexed: Arc::default(),
            buffers: ReadBuffers::default(),
            bodies: Mutex::default(),
            failure: Mutex::default(),
        }))
    }

    /// Returns the failure to read a page, if there was one.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let mut failure = self.0.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take()
    }
}

/// Returns the offsets of pages in the page index.
pub(crate) fn indexed(metadata: &ParquetMetaData) -> BTreeSet<u64> {
    let Some(index) = metadata.page_index() else {
        return BTreeSet::new();
    };
    let places = metadata
        .row_groups()
        .iter()
        .enumerate()
        .flat_map(|(group, columns)| {
            (0..columns.num_columns()).filter_map(move |column| index.offset_index(group, column))
        });
    let pages = places.flat_map(|index| index.page_locations());
    pages.filter_map(|page| u64::try_from(page.offset).ok()).collect()
}

impl Inner {
    fn bodies(&self) -> std::sync::MutexGuard<'_, BTreeSet<u64>> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, failure: Failure) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
    }

    fn unread(&self, error: io::Error) -> ParquetError {
        let error_of_page = ParquetError::General(format!("the file cannot be read: {error}"));
        self.note(Failure::Unread(error));
        error_of_page
    }

    /// Verifies that a page does not claim more than its bytes can hold.
    fn check_page(&self, page: Option<PageClaims>) -> Result<()> {
        let page_guard = match page {
            Some(page) => self.packing.check_page(&page),
            None if self.packing.is_any() => Err(ParquetError::General(
                "the header of a page is invalid".to_owned(),
            )),
            None => Ok(()),
        };
        page_guard.inspect_err(|error| self.note(Failure::Refused(error.to_string())))
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
        let bytes = match &inner.source {
            Source::Opened(file) => inner
                .buffers
                .read(file, start..end)
                .map_err(|error| inner.unread(error))?,
            Source::Held(bytes) => part(bytes, start..end),
        };
        if bytes.len() < length {
            let text = format!("the file ended {} bytes early", length - bytes.len());
            return Err(inner.unread(io::Error::new(ErrorKind::UnexpectedEof, text)));
        }
        // Bytes that do not follow a validated header start with their own. An empty body ends where the next page
        // begins.
        let is_checked = length == 0 || inner.bodies().remove(&start) && !inner.indexed.contains(&start);
        if !is_checked {
            inner.check_page(PageClaims::of_header(&bytes).map(|(page, _)| page))?;
        }
        Ok(bytes)
    }
}

/// Returns the part of a range that exists.
fn part(bytes: &Bytes, range: Range<u64>) -> Bytes {
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
    bytes.slice(place(range.start)..place(range.end))
}

/// The error for a footer with columns outside of the file.
pub(crate) fn outside() -> ParquetError {
    ParquetError::EOF("the footer refers to bytes beyond the end of the file".to_owned())
}

/// Reads a page header and validates it before returning its last byte. Reads are lazy.
pub(crate) struct PageHeader {
    pages: Arc<Inner>,
    start: u64,
    /// The bytes that were read, and how many of them were returned.
    bytes: Vec<u8>,
    given: usize,
}

impl PageHeader {
    fn read_on(&mut self) -> io::Result<()> {
        let known = self.bytes.len();
        if known >= LONGEST_HEADER {
            return Ok(());
        }
        let [behind, more] = [known, known.max(HEADER)].map(|many| u64::try_from(many).unwrap_or(u64::MAX));
        let at = self.start.saturating_add(behind);
        match &self.pages.source {
            Source::Opened(file) => {
                let mut file = file;
                // Memory that must still be allocated is filled in small reads.
                self.bytes.reserve(known.max(HEADER));
                let read = file.seek(SeekFrom::Start(at));
                let read = read.and_then(|_| file.take(more).read_to_end(&mut self.bytes));
                read.map_err(|error| io::Error::other(self.pages.unread(error)))?;
            }
            Source::Held(bytes) => {
                let range = at..at.saturating_add(more);
                self.bytes.extend_from_slice(&part(bytes, range));
            }
        }
        if let Some((page, length)) = PageClaims::of_header(&self.bytes) {
            self.pages.check_page(Some(page)).map_err(io::Error::other)?;
            let length = u64::try_from(length).unwrap_or(u64::MAX);
            self.pages.bodies().insert(self.start.saturating_add(length));
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
