//! The fetched columns of a row group, as input of the Parquet reader: nothing is fetched twice.

use std::ops::Range;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use futures::FutureExt;
use futures::future::BoxFuture;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{ChunkReader, Length};

use deltaic_storage::ParquetFile;

/// The bytes of some columns of a row group.
#[derive(Clone, Debug)]
pub(super) struct FetchedGroup {
    group: usize,
    /// Column index, range in the file, and bytes of each column.
    chunks: Arc<[(usize, Range<u64>, Bytes)]>,
    metadata: Arc<ParquetMetaData>,
}

impl FetchedGroup {
    /// Fetches the columns of a row group that a mask selects.
    pub(super) async fn fetch(
        file: &ParquetFile,
        metadata: &ArrowReaderMetadata,
        group: usize,
        mask: &ProjectionMask,
    ) -> Result<Self> {
        let columns = metadata.metadata().row_group(group).columns();
        let named: Vec<(usize, Range<u64>)> = columns
            .iter()
            .enumerate()
            .filter(|(leaf, _)| mask.leaf_included(*leaf))
            .map(|(leaf, column)| {
                let (start, length) = column.byte_range();
                (leaf, start..start.saturating_add(length))
            })
            .collect();
        let ranges = named.iter().map(|(_, range)| range.clone()).collect();
        let bytes = file.clone().get_byte_ranges(ranges).await?;
        let chunks = named.into_iter().zip(bytes);
        Ok(Self {
            group,
            chunks: chunks
                .map(|((leaf, range), bytes)| (leaf, range, bytes))
                .collect(),
            metadata: Arc::clone(metadata.metadata()),
        })
    }

    /// Number of rows according to the footer.
    pub(super) fn rows(&self, metadata: &ArrowReaderMetadata) -> i64 {
        metadata.metadata().row_group(self.group).num_rows()
    }

    /// The columns and their bytes.
    pub(super) fn columns<'a>(
        &'a self,
        metadata: &'a ArrowReaderMetadata,
    ) -> impl Iterator<Item = (&'a ColumnChunkMetaData, &'a [u8])> {
        let columns = metadata.metadata().row_group(self.group).columns();
        let chunks = self.chunks.iter();
        chunks.filter_map(|(leaf, _, bytes)| Some((columns.get(*leaf)?, bytes.as_ref())))
    }

    /// Returns the bytes from a position to the end of the column that contains it.
    fn from(&self, start: u64) -> Result<Bytes> {
        let held = self.chunks.iter().find_map(|(_, range, bytes)| {
            let skipped = usize::try_from(start.checked_sub(range.start)?).ok()?;
            (range.contains(&start) || range.start == start).then(|| bytes.slice(skipped..))
        });
        held.ok_or_else(|| ParquetError::EOF("a page starts outside of its column".to_owned()))
    }
}

impl Length for FetchedGroup {
    fn len(&self) -> u64 {
        self.chunks
            .iter()
            .map(|(_, range, _)| range.end)
            .max()
            .unwrap_or(0)
    }
}

impl ChunkReader for FetchedGroup {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(self.from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.from(start)?;
        if bytes.len() < length {
            return Err(ParquetError::EOF("a page ends outside of its column".to_owned()));
        }
        Ok(bytes.slice(..length))
    }
}

impl AsyncFileReader for FetchedGroup {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes>> {
        let length = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        let bytes = ChunkReader::get_bytes(self, range.start, length);
        std::future::ready(bytes).boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        _options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, Result<Arc<ParquetMetaData>>> {
        std::future::ready(Ok(Arc::clone(&self.metadata))).boxed()
    }
}
