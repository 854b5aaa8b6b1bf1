//! A Parquet file whose pages are weighed before the reader makes room for what they claim to unpack to.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use deltaic_log::page_headers::{PageClaims, Pages};
use deltaic_log::parquet_file::ParquetFile;
use futures::FutureExt;
use futures::future::BoxFuture;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;

/// What any page may unpack to: more than writers put into one.
const ANY_PAGE: u64 = 16 << 20;
/// How many bytes a packed one may stand for, by the codecs that repeat what they know without end, and by the others.
const MOST_BY_REPEATING: u64 = 65_536;
const MOST: u64 = 1_100;

/// The file, its footer read.
#[derive(Clone)]
pub(super) struct Weighed {
    file: ParquetFile,
    chunks: Arc<Chunks>,
}

/// The packed column chunks by where they start: where they end, and how many bytes one of theirs may stand for.
pub(super) struct Chunks(BTreeMap<u64, (u64, u64)>);

impl Chunks {
    pub(super) fn of(metadata: &ParquetMetaData) -> Self {
        let columns = metadata.row_groups().iter().flat_map(|group| group.columns());
        let most = columns.filter_map(|column| {
            let most = match column.compression() {
                // Without a codec a page is as large as its bytes, which the reader compares.
                Compression::UNCOMPRESSED => return None,
                Compression::ZSTD(_) | Compression::BROTLI(_) => MOST_BY_REPEATING,
                _ => MOST,
            };
            let (start, length) = column.byte_range();
            Some((start, (start.saturating_add(length), most)))
        });
        Self(most.collect())
    }

    /// Proves that the pages that start there claim no more than they can hold. What is fetched starts with a page.
    pub(super) fn weigh(&self, start: u64, bytes: &Bytes) -> Result<()> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        // What is no page is for the reader to tell.
        let mut pages = Pages::of(bytes).map_while(|page| page);
        pages.try_for_each(|page| self.weigh_page(start, length, &page))
    }

    /// Proves that the page whose header starts there claims no more than the rest of its column chunk can hold.
    pub(super) fn weigh_claims(&self, start: u64, page: &PageClaims) -> Result<()> {
        match self.chunk_at(start) {
            Some((end, _)) => self.weigh_page(start, end.saturating_sub(start), page),
            None => Ok(()),
        }
    }

    fn chunk_at(&self, start: u64) -> Option<(u64, u64)> {
        let (_, (end, most)) = self.0.range(..=start).next_back()?;
        (start < *end).then_some((*end, *most))
    }

    fn weigh_page(&self, start: u64, length: u64, page: &PageClaims) -> Result<()> {
        let Some((_, most)) = self.chunk_at(start) else {
            return Ok(());
        };
        if page.uncompressed <= length.saturating_mul(most).max(ANY_PAGE) {
            return Ok(());
        }
        Err(ParquetError::General(format!(
            "a page of {length} bytes at most claims to unpack to {}",
            page.uncompressed
        )))
    }
}

impl Weighed {
    pub(super) fn new(file: ParquetFile, chunks: Arc<Chunks>) -> Self {
        Self { file, chunks }
    }
}

impl AsyncFileReader for Weighed {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes>> {
        async move {
            let start = range.start;
            let bytes = self.file.get_bytes(range).await?;
            self.chunks.weigh(start, &bytes)?;
            Ok(bytes)
        }
        .boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, Result<Vec<Bytes>>> {
        async move {
            let starts: Vec<u64> = ranges.iter().map(|range| range.start).collect();
            let all = self.file.get_byte_ranges(ranges).await?;
            for (start, bytes) in starts.into_iter().zip(&all) {
                self.chunks.weigh(start, bytes)?;
            }
            Ok(all)
        }
        .boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, Result<Arc<ParquetMetaData>>> {
        self.file.get_metadata(options)
    }
}
