//! Fetches the page index of a file for the needed columns and row groups, if that is worthwhile.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use deltaic_protocol::Result;
use deltaic_storage::ParquetFile;
use deltaic_storage::offset_index::is_bounded;
use futures::FutureExt;
use futures::future::BoxFuture;
use parquet::arrow::async_reader::{AsyncFileReader, MetadataFetch};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMask, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};

use super::footer::damaged;

/// The maximum bytes of a page index that are fetched: more than the columns of a row group of millions of rows need.
const MOST_BYTES: i64 = 16 << 20;

/// Returns the footer with the page index of these row groups: the offset index for the leaves to `read`, and the
/// column index for the leaves `asked` by the predicate. The footer is unchanged if the file has no page index or an
/// invalid one, because the index is only an optimization.
///
/// # Errors
///
/// Those of the store.
pub(crate) async fn with_page_index(
    file: &mut ParquetFile,
    metadata: &Arc<ParquetMetaData>,
    groups: &[usize],
    asked: &[usize],
    read: &[usize],
    shown: &str,
) -> Result<Arc<ParquetMetaData>> {
    let of_groups = groups
        .iter()
        .filter_map(|group| metadata.row_groups().get(*group));
    if !is_worth_it(of_groups, asked, read) {
        return Ok(Arc::clone(metadata));
    }
    let mask = |leaves: &[usize]| {
        ColumnChunkMask::row_groups_and_columns(groups.iter().copied(), leaves.iter().copied())
    };
    let mut reader = ParquetMetaDataReader::new_with_metadata(metadata.as_ref().clone())
        .with_column_index_policy(PageIndexPolicy::Optional)
        .with_column_index_mask(mask(asked))
        .with_offset_index_policy(PageIndexPolicy::Optional)
        .with_offset_index_mask(mask(read));
    let guarded = Guarded {
        file,
        indexes: offset_indexes(metadata, groups, read),
    };
    match reader.load_page_index(guarded).await {
        Ok(()) => match reader.finish() {
            Ok(indexed) if is_sound(&indexed, groups, read) => Ok(Arc::new(indexed)),
            _ => Ok(Arc::clone(metadata)),
        },
        Err(error @ ParquetError::External(_)) => Err(damaged(&error, shown)),
        Err(_) => Ok(Arc::clone(metadata)),
    }
}

/// A file whose indexes are rejected if they claim more pages than their bytes can hold: the reader allocates by the
/// claim.
struct Guarded<'a> {
    file: &'a mut ParquetFile,
    indexes: Vec<Range<u64>>,
}

impl MetadataFetch for Guarded<'_> {
    fn fetch(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes, ParquetError>> {
        async move {
            let bytes = self.file.get_bytes(range.clone()).await?;
            let of = |index: &Range<u64>| {
                let first = usize::try_from(index.start.checked_sub(range.start)?).ok()?;
                let end = usize::try_from(index.end.checked_sub(range.start)?).ok()?;
                bytes.get(first..end)
            };
            match self.indexes.iter().filter_map(of).all(is_bounded) {
                true => Ok(bytes),
                false => Err(ParquetError::General(
                    "an index claims more pages than its bytes can describe".to_owned(),
                )),
            }
        }
        .boxed()
    }
}

/// Returns the byte ranges of the offset indexes.
fn offset_indexes(file: &ParquetMetaData, groups: &[usize], read: &[usize]) -> Vec<Range<u64>> {
    let groups = groups.iter().filter_map(|group| file.row_groups().get(*group));
    let columns = groups.flat_map(|group| read.iter().filter_map(|leaf| group.columns().get(*leaf)));
    columns
        .filter_map(|column| {
            let start = u64::try_from(column.offset_index_offset()?).ok()?;
            let length = u64::try_from(column.offset_index_length()?).ok()?;
            Some(start..start.checked_add(length)?)
        })
        .collect()
}

/// Whether a column of the predicate has an index, and the indexes span no more than [`MOST_BYTES`].
fn is_worth_it<'a>(
    groups: impl Iterator<Item = &'a RowGroupMetaData>,
    asked: &[usize],
    read: &[usize],
) -> bool {
    let (mut start, mut end, mut indexed) = (i64::MAX, 0i64, asked.is_empty());
    for group in groups {
        let column = |leaf: &usize| group.columns().get(*leaf);
        for column in asked.iter().filter_map(column) {
            if let (Some(offset), Some(length)) = (column.column_index_offset(), column.column_index_length())
            {
                indexed = true;
                start = start.min(offset);
                end = end.max(offset.saturating_add(i64::from(length)));
            }
        }
        for column in read.iter().filter_map(column) {
            if let (Some(offset), Some(length)) = (column.offset_index_offset(), column.offset_index_length())
            {
                start = start.min(offset);
                end = end.max(offset.saturating_add(i64::from(length)));
            }
        }
    }
    indexed && start >= 0 && end > start && end - start <= MOST_BYTES
}

/// Whether each indexed page that is read is within its column chunk, after the page before.
fn is_sound(file: &ParquetMetaData, groups: &[usize], read: &[usize]) -> bool {
    let Some(index) = file.page_index() else {
        return false;
    };
    let pairs = groups
        .iter()
        .flat_map(|group| read.iter().map(|leaf| (*group, *leaf)));
    pairs.into_iter().all(|(group, leaf)| {
        let (Some(pages), Some(row_group)) = (index.offset_index(group, leaf), file.row_groups().get(group))
        else {
            return true;
        };
        let Some(column) = row_group.columns().get(leaf) else {
            return false;
        };
        let (start, length) = column.byte_range();
        let mut last = (start, None);
        let in_order = pages.page_locations().iter().all(|page| {
            let (Ok(at), Ok(size)) = (
                u64::try_from(page.offset),
                u64::try_from(page.compressed_page_size),
            ) else {
                return false;
            };
            let sound = at >= last.0
                && at.saturating_add(size) <= start.saturating_add(length)
                && match last.1 {
                    None => page.first_row_index == 0,
                    Some(before) => page.first_row_index > before,
                }
                && page.first_row_index < row_group.num_rows();
            last = (at.saturating_add(size), Some(page.first_row_index));
            sound
        });
        in_order && last.1.is_some()
    })
}
