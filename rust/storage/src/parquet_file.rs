//! A Parquet file on a store, for the Parquet reader: no byte is fetched twice.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::FutureExt;
use futures::future::BoxFuture;
use object_store::path::Path;
use object_store::{
    Error, GetOptions, GetRange, GetResult, GetResultPayload, OBJECT_STORE_COALESCE_DEFAULT, ObjectStore,
    ObjectStoreExt, coalesce_ranges,
};
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use crate::local_read::bytes_of;
use crate::schema_depth::ensure_shallow;
use crate::whole_body::ensure_whole;

/// Number of bytes of the end that are fetched first: usually the whole footer, and all of a small file.
const TAIL_GUESS: u64 = 64 * 1024;

/// Maximum size of a footer in bytes: far more than real footers have, and small enough for memory.
const MOST_FOOTER_BYTES: u64 = 256 << 20;

/// A Parquet file on a store. Its size is that reported by the store; the size in the log may be wrong.
#[derive(Clone, Debug)]
pub struct ParquetFile {
    store: Arc<dyn ObjectStore>,
    path: Path,
    size: u64,
    tail_guess: u64,
    tail: Option<Tail>,
}

/// The end of the file, cached so that it is not fetched again.
#[derive(Clone, Debug)]
struct Tail {
    start: u64,
    /// Entity tag of the file that was fetched, if the store reports one.
    e_tag: Option<String>,
    bytes: Bytes,
}

impl ParquetFile {
    /// Creates a file of a size that is known from a listing or claimed; a wrong size is detected on the
    /// first fetch.
    #[must_use]
    pub fn listed(store: Arc<dyn ObjectStore>, path: Path, size: u64) -> Self {
        Self {
            store,
            path,
            size,
            tail_guess: TAIL_GUESS,
            tail: None,
        }
    }

    /// Returns the whole file if it is in memory, as for small files.
    #[must_use]
    pub fn held(&self) -> Option<Bytes> {
        let tail = self.tail.as_ref().filter(|tail| tail.start == 0)?;
        Some(tail.bytes.clone())
    }

    /// Opens the file if it is local, and verifies that it is the file whose end was fetched.
    ///
    /// # Errors
    ///
    /// Errors of the store; also if the file was replaced.
    pub async fn opened(&self) -> Result<Option<File>, Error> {
        let tag = self.tail.as_ref().and_then(|tail| tail.e_tag.clone());
        // For a store that streams, request as little as possible.
        let options = GetOptions::new()
            .with_range(Some(GetRange::Bounded(0..1)))
            .with_if_match(tag);
        Ok(match self.store.get_opts(&self.path, options).await?.payload {
            GetResultPayload::File(file, _) => Some(file),
            GetResultPayload::Stream(_) => None,
        })
    }

    /// The size in bytes: as claimed, until the file was fetched.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Sets the number of bytes that are fetched together with the footer.
    #[must_use]
    pub fn with_tail_guess(mut self, bytes: u64) -> Self {
        self.tail_guess = bytes.max(TAIL_GUESS);
        self
    }

    /// Fetches the end of the file unless it is in memory.
    pub async fn fetch_tail(&mut self) -> Result<(), Error> {
        if self.tail.is_some() {
            return Ok(());
        }
        let got = match self.get_tail().await {
            Ok(got) if got.meta.size == self.size => got,
            Err(error @ Error::NotFound { .. }) => return Err(error),
            // The size differs from the claimed one, or the range is not satisfiable: get the size from the
            // store.
            Ok(_) | Err(_) => {
                self.size = self.store.head(&self.path).await?.size;
                if self.size == 0 {
                    let bytes = Bytes::new();
                    let e_tag = None;
                    self.tail = Some(Tail {
                        start: 0,
                        e_tag,
                        bytes,
                    });
                    return Ok(());
                }
                self.get_tail().await?
            }
        };
        let (start, expected) = (got.range.start, got.range.end - got.range.start);
        let e_tag = got.meta.e_tag.clone();
        let bytes = got.bytes().await?;
        ensure_whole(&bytes, expected, &self.path)?;
        self.tail = Some(Tail { start, e_tag, bytes });
        Ok(())
    }

    async fn get_tail(&self) -> Result<GetResult, Error> {
        let start = self.size.saturating_sub(self.tail_guess);
        let range = GetRange::Bounded(start..self.size.max(1));
        let options = GetOptions::new().with_range(Some(range));
        self.store.get_opts(&self.path, options).await
    }

    /// Returns the part of a range that the tail contains, and the range before it that must be fetched.
    fn held_in_tail(&self, range: &Range<u64>) -> Option<(Range<u64>, Bytes)> {
        let tail = self.tail.as_ref()?;
        if range.end <= tail.start {
            return None;
        }
        let first = range.start.max(tail.start);
        let from = usize::try_from(first - tail.start).ok()?;
        let until = usize::try_from(range.end - tail.start).ok()?;
        if until > tail.bytes.len() || from > until {
            return None;
        }
        Some((range.start..first, tail.bytes.slice(from..until)))
    }

    /// Fetches a range of the same file whose end was fetched; raises an error if the file was replaced.
    async fn fetch_range(&self, range: Range<u64>) -> Result<Bytes, Error> {
        let expected = range.end.saturating_sub(range.start);
        let tag = self.tail.as_ref().and_then(|tail| tail.e_tag.clone());
        let options = GetOptions::new()
            .with_range(Some(GetRange::Bounded(range)))
            .with_if_match(tag);
        let bytes = bytes_of(self.store.get_opts(&self.path, options).await?).await?;
        ensure_whole(&bytes, expected, &self.path)?;
        Ok(bytes)
    }

    async fn fetch(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        // The store's range error would not show that the footer is wrong.
        if ranges
            .iter()
            .any(|range| range.start > range.end || range.end > self.size)
        {
            return Err(ParquetError::EOF(
                "the footer refers to bytes beyond the end of the file".to_owned(),
            ));
        }
        let split: Vec<(Range<u64>, Option<Bytes>)> = ranges
            .iter()
            .map(|range| match self.held_in_tail(range) {
                Some((before, held)) => (before, Some(held)),
                None => (range.clone(), None),
            })
            .collect();
        let missing: Vec<Range<u64>> = split
            .iter()
            .map(|(range, _)| range.clone())
            .filter(|range| !range.is_empty())
            .collect();
        let mut fetched = if missing.is_empty() {
            Vec::new()
        } else {
            let fetch = |range| self.fetch_range(range);
            coalesce_ranges(&missing, fetch, OBJECT_STORE_COALESCE_DEFAULT)
                .await
                .map_err(external)?
        }
        .into_iter();
        split
            .into_iter()
            .map(|(range, held)| {
                let before = if range.is_empty() {
                    Bytes::new()
                } else {
                    fetched
                        .next()
                        .ok_or_else(|| ParquetError::General("the store returned too few bytes".to_owned()))?
                };
                Ok(match held {
                    None => before,
                    Some(held) if before.is_empty() => held,
                    Some(held) => {
                        let mut whole = BytesMut::with_capacity(before.len() + held.len());
                        whole.extend_from_slice(&before);
                        whole.extend_from_slice(&held);
                        whole.freeze()
                    }
                })
            })
            .collect()
    }
}

fn external(error: Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

impl AsyncFileReader for ParquetFile {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes>> {
        async move {
            let mut fetched = self.fetch(std::slice::from_ref(&range)).await?;
            fetched
                .pop()
                .ok_or_else(|| ParquetError::General("the store returned no data".to_owned()))
        }
        .boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, Result<Vec<Bytes>>> {
        async move { self.fetch(&ranges).await }.boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, Result<Arc<ParquetMetaData>>> {
        async move {
            self.fetch_tail().await.map_err(external)?;
            let reader = || {
                ParquetMetaDataReader::new()
                    .with_metadata_options(options.map(|options| options.metadata_options().clone()))
            };
            let size = self.size;
            let tail = self
                .tail
                .as_ref()
                .map(|tail| tail.bytes.clone())
                .unwrap_or_default();
            ensure_shallow(&tail)?;
            let mut first = reader();
            let needed = match first.try_parse_sized(&tail, size) {
                Ok(()) => return Ok(Arc::new(first.finish()?)),
                Err(ParquetError::NeedMoreData(needed)) => u64::try_from(needed).unwrap_or(u64::MAX),
                Err(error) => return Err(error),
            };
            if needed > MOST_FOOTER_BYTES {
                return Err(ParquetError::General(format!(
                    "its footer claims to have {needed} bytes, more than the maximum of {MOST_FOOTER_BYTES}"
                )));
            }
            let start = size
                .checked_sub(needed)
                .ok_or_else(|| ParquetError::EOF("the footer is larger than the file".to_owned()))?;
            let whole = self.get_bytes(start..size).await?;
            ensure_shallow(&whole)?;
            let mut second = reader();
            second.try_parse_sized(&whole, size)?;
            let e_tag = self.tail.as_ref().and_then(|tail| tail.e_tag.clone());
            self.tail = Some(Tail {
                start,
                e_tag,
                bytes: whole,
            });
            Ok(Arc::new(second.finish()?))
        }
        .boxed()
    }
}
