//! Pages that are weighed before the reader makes room for what they claim to unpack to.

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

/// How many bytes a packed one of a file may stand for, wherever it is; none where nothing is packed: then a page is as
/// large as its bytes, which the reader compares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packing(Option<u64>);

impl Packing {
    pub(super) fn of(metadata: &ParquetMetaData) -> Self {
        let columns = metadata.row_groups().iter().flat_map(|group| group.columns());
        let most = columns.filter_map(|column| match column.compression() {
            Compression::UNCOMPRESSED => None,
            Compression::ZSTD(_) | Compression::BROTLI(_) => Some(MOST_BY_REPEATING),
            _ => Some(MOST),
        });
        Self(most.max())
    }

    pub(super) fn is_any(self) -> bool {
        self.0.is_some()
    }

    /// Proves that a page claims no more than its bytes can hold.
    pub(super) fn weigh(self, page: &PageClaims) -> Result<()> {
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

    /// Proves it of the pages that bytes are.
    fn weigh_all(self, bytes: &Bytes) -> Result<()> {
        // What is no page is for the reader to tell.
        let mut pages = Pages::of(bytes).map_while(|page| page);
        pages.try_for_each(|page| self.weigh(&page))
    }
}

/// A file on a network, its footer read.
#[derive(Clone)]
pub(super) struct Weighed {
    file: ParquetFile,
    packing: Packing,
}

impl Weighed {
    pub(super) fn new(file: ParquetFile, packing: Packing) -> Self {
        Self { file, packing }
    }
}

impl AsyncFileReader for Weighed {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes>> {
        async move {
            let bytes = self.file.get_bytes(range).await?;
            self.packing.weigh_all(&bytes)?;
            Ok(bytes)
        }
        .boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, Result<Vec<Bytes>>> {
        async move {
            let all = self.file.get_byte_ranges(ranges).await?;
            for bytes in &all {
                self.packing.weigh_all(bytes)?;
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
