//! A column chunk of another file, which is copied as it is encoded.

use std::ops::Range;

use bytes::{Buf, Bytes};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};

/// A column chunk of another file.
#[derive(Clone, Debug)]
pub struct EncodedChunk {
    pub(super) close: ColumnCloseResult,
    pub(super) bytes: ChunkBytes,
}

impl EncodedChunk {
    /// The range of the bytes of a chunk in its file, by row group and leaf; `None` if the footer has no such chunk.
    #[must_use]
    pub fn range(file: &ParquetMetaData, group: usize, leaf: usize) -> Option<Range<u64>> {
        let (start, length) = file.row_groups().get(group)?.columns().get(leaf)?.byte_range();
        Some(start..start.checked_add(length)?)
    }

    /// The chunk with these bytes, which are those of its range. It has its pages in the page index if the footer has.
    #[must_use]
    pub fn of(file: &ParquetMetaData, group: usize, leaf: usize, bytes: Bytes) -> Option<Self> {
        let range = Self::range(file, group, leaf)?;
        let rows = file.row_groups().get(group)?;
        let index = file.page_index_for_row_group(group);
        Some(Self {
            close: ColumnCloseResult {
                bytes_written: range.end - range.start,
                rows_written: u64::try_from(rows.num_rows()).ok()?,
                metadata: rows.columns().get(leaf)?.clone(),
                bloom_filter: None,
                column_index: index.column_index(leaf).cloned(),
                offset_index: index.offset_index(leaf).cloned(),
            },
            bytes: ChunkBytes {
                start: range.start,
                bytes,
            },
        })
    }
}

/// The bytes of a chunk, at their place in the file.
#[derive(Clone, Debug)]
pub(super) struct ChunkBytes {
    start: u64,
    bytes: Bytes,
}

impl Length for ChunkBytes {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for ChunkBytes {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let at = start
            .checked_sub(self.start)
            .and_then(|at| usize::try_from(at).ok());
        match at {
            Some(at) if at <= self.bytes.len() => Ok(self.bytes.slice(at..).reader()),
            _ => Err(ParquetError::EOF(
                "a chunk starts outside of its bytes".to_owned(),
            )),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = self.get_read(start)?.into_inner();
        match length <= bytes.len() {
            true => Ok(bytes.split_to(length)),
            false => Err(ParquetError::EOF("a chunk ends outside of its bytes".to_owned())),
        }
    }
}
