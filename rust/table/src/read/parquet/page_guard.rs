//! Validates page headers before the reader allocates memory for the uncompressed size that they claim.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use deltaic_storage::ParquetFile;
use deltaic_storage::{PageClaims, Pages};
use futures::FutureExt;
use futures::future::BoxFuture;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;

/// An uncompressed size that any page may have: more than writers put into one.
const ANY_PAGE: u64 = 16 << 20;
/// The maximum compression ratios: of codecs with unlimited repetition, and of the others.
const MOST_BY_REPEATING: u64 = 65_536;
const MOST: u64 = 1_100;

/// The maximum compression ratio of any page of a file; `None` if nothing is compressed: then the reader verifies that
/// the uncompressed size is that of the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packing(Option<u64>);

impl Packing {
    pub(crate) fn of(metadata: &ParquetMetaData) -> Self {
        let columns = metadata.row_groups().iter().flat_map(|group| group.columns());
        let most = columns.filter_map(|column| match column.compression() {
            Compression::UNCOMPRESSED => None,
            Compression::ZSTD(_) | Compression::BROTLI(_) => Some(MOST_BY_REPEATING),
            _ => Some(MOST),
        });
        Self(most.max())
    }

    pub(crate) fn is_any(self) -> bool {
        self.0.is_some()
    }

    /// Verifies that a page does not claim more than its bytes can hold.
    pub(crate) fn check_page(self, page: &PageClaims) -> Result<()> {
        let most = self
            .0
            .map(|most| page.compressed.saturating_mul(most).max(ANY_PAGE));
        match most {
            Some(most) if page.uncompressed > most => Err(ParquetError::General(format!(
                "a page of {} bytes claims to unpack to {}",
                page.compressed, page.uncompressed
            ))),
            _ => Ok(()),
        }
    }

    /// Verifies all pages in the given bytes.
    fn check_all(self, bytes: &Bytes) -> Result<()> {
        // The reader reports bytes that are not a page.
        let mut pages = Pages::of(bytes).map_while(|page| page);
        pages.try_for_each(|page| self.check_page(&page))
    }
}

/// A remote file whose footer was read.
#[derive(Clone)]
pub(crate) struct PageGuard {
    file: ParquetFile,
    packing: Packing,
}

impl PageGuard {
    pub(crate) fn new(file: ParquetFile, packing: Packing) -> Self {
        Self { file, packing }
    }
}

impl AsyncFileReader for PageGuard {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes>> {
        async move {
            let bytes = self.file.get_bytes(range).await?;
            self.packing.check_all(&bytes)?;
            Ok(bytes)
        }
        .boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, Result<Vec<Bytes>>> {
        async move {
            let all = self.file.get_byte_ranges(ranges).await?;
            for bytes in &all {
                self.packing.check_all(bytes)?;
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
