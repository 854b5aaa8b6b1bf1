//! Memory limit for reading a checkpoint: proportional to the size of its files, whatever sizes they claim.
//!
//! A few bytes of Parquet can expand to gigabytes: by compression, by runs, by one long dictionary entry.
//! Files of real writers have a distinct path per row and remain far below the limit; so do a million paths
//! with ascending numbers, which take as little as a tenth of a byte each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::{Compression, Type};
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::fetched_group::FetchedGroup;
use super::levels::present;
use deltaic_storage::Pages;

/// Bytes of memory per byte of the files.
const TIMES: u64 = 1024;

/// Bytes of memory that are always allowed.
const SPARE: u64 = 256 << 20;

/// Maximum number of bytes of a column's values in one batch. With long values, batches have fewer rows.
const BATCH_BYTES: u64 = 32 << 20;

/// Bytes of a value's levels, which a NULL has too.
const LEVEL_BYTES: u64 = 4;

/// Minimum number of bytes of a row in a column.
const ROOM_BYTES: u64 = 8;

/// The remaining allowance for a checkpoint.
#[derive(Debug)]
pub(super) struct Allowance(AtomicU64);

impl Allowance {
    /// Returns the allowance for files of `bytes` bytes.
    pub(super) fn of(bytes: u64) -> Self {
        Self(AtomicU64::new(bytes.saturating_mul(TIMES).saturating_add(SPARE)))
    }

    /// Deducts bytes from the allowance.
    pub(super) fn spend(&self, bytes: u64) -> Result<()> {
        let spent = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(bytes)
        });
        spent.map(|_| ()).map_err(|_| {
            ParquetError::General("it decodes to more data than a file of its size can contain".to_owned())
        })
    }
}

/// Deducts what the pages of a row group claim to contain, and returns how many rows may be decoded at once.
pub(super) fn deduct_group(
    allowance: &Allowance,
    metadata: &ArrowReaderMetadata,
    group: &FetchedGroup,
    batch_rows: usize,
) -> Result<usize> {
    let mut longest = 1u64;
    for (column, chunk) in group.columns(metadata) {
        longest = longest.max(deduct_column(allowance, column, chunk, group, batch_rows)?);
    }
    // A full batch consists of a whole number of small batches.
    let mut rows = batch_rows.max(1);
    while u64::try_from(rows).unwrap_or(u64::MAX).saturating_mul(longest) > BATCH_BYTES && rows > 1 {
        rows = if rows.is_multiple_of(2) { rows / 2 } else { 1 };
    }
    // The reader allocates memory for this number of rows in each column before it reads them.
    let columns = u64::try_from(group.columns(metadata).count()).unwrap_or(u64::MAX);
    let claimed = u64::try_from(group.rows(metadata)).unwrap_or(0);
    let room = claimed
        .min(u64::try_from(rows).unwrap_or(u64::MAX))
        .saturating_mul(ROOM_BYTES);
    allowance.spend(columns.saturating_mul(room))?;
    if rows < batch_rows {
        // Many row groups may be decoded concurrently.
        allowance.spend(BATCH_BYTES)?;
    }
    Ok(rows)
}

/// Deducts what the pages of a column claim to contain; returns the maximum number of bytes per decoded
/// value.
fn deduct_column(
    allowance: &Allowance,
    column: &ColumnChunkMetaData,
    chunk: &[u8],
    group: &FetchedGroup,
    batch_rows: usize,
) -> Result<u64> {
    let wanted = u64::try_from(column.num_values()).unwrap_or(0);
    let fixed = match column.column_type() {
        Type::FIXED_LEN_BYTE_ARRAY => u64::try_from(column.column_descr().type_length()).unwrap_or(0),
        _ => 0,
    };
    allowance.spend(fixed)?;
    let mut longest = fixed;
    let mut values = 0u64;
    let (mut dictionaries, mut dictionary_bytes) = (0usize, 0u64);
    for page in Pages::of(chunk) {
        let Some(page) = page else {
            // Some writers leave unused bytes after the last page.
            if values >= wanted {
                break;
            }
            return Err(ParquetError::General(
                "the header of a page is invalid".to_owned(),
            ));
        };
        if column.compression() != Compression::UNCOMPRESSED {
            allowance.spend(page.uncompressed)?;
        }
        values = values.saturating_add(page.values);
        allowance.spend(page.values.saturating_mul(LEVEL_BYTES))?;
        if column.column_type() != Type::BYTE_ARRAY {
            continue;
        }
        if page.is_by_prefix {
            longest = longest.max(page.uncompressed);
        }
        if page.is_dictionary {
            dictionaries += 1;
            dictionary_bytes = dictionary_bytes.max(page.uncompressed);
        }
    }
    // A row of a column that is not repeated has one value, so that a batch has as many values as rows.
    let together = match column.column_descr().max_rep_level() {
        0 => values.min(u64::try_from(batch_rows).unwrap_or(u64::MAX)),
        _ => values,
    };
    // Usually the dictionary is much larger than any of its entries, so their lengths are read. A long entry
    // usually occurs in columns that are mostly NULL, so the values that are not NULL are counted.
    if dictionary_bytes.saturating_mul(together) <= BATCH_BYTES {
        return Ok(longest);
    }
    let entry = longest_entry(column, group, dictionaries)?;
    if entry.saturating_mul(together) <= BATCH_BYTES {
        return Ok(longest);
    }
    let bytes = entry.saturating_mul(present_values(column, group)?);
    if bytes > BATCH_BYTES {
        if column.column_descr().max_rep_level() > 0 {
            // A row may contain any number of values, and is decoded as a whole.
            allowance.spend(bytes)?;
        }
        longest = longest.max(entry);
    }
    Ok(longest)
}

/// Number of values of a column that are not NULL.
fn present_values(column: &ColumnChunkMetaData, group: &FetchedGroup) -> Result<u64> {
    let mut pages = SerializedPageReader::new(Arc::new(group.clone()), column, 0, None)?;
    let mut values = 0u64;
    while let Some(page) = pages.get_next_page()? {
        values = values.saturating_add(present(&page, column.column_descr()));
    }
    Ok(values)
}

/// Returns the length of the longest entry of a column's dictionaries. Usually there is one, in the first
/// page.
fn longest_entry(column: &ColumnChunkMetaData, group: &FetchedGroup, dictionaries: usize) -> Result<u64> {
    let mut pages = SerializedPageReader::new(Arc::new(group.clone()), column, 0, None)?;
    let (mut longest, mut seen) = (0u64, 0usize);
    while seen < dictionaries
        && let Some(page) = pages.get_next_page()?
    {
        let Page::DictionaryPage { buf, .. } = page else {
            continue;
        };
        seen += 1;
        // Each entry is its length in four bytes, followed by its bytes.
        let mut rest = buf.as_ref();
        while let Some((length, below)) = rest.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length);
            longest = longest.max(u64::from(length));
            let entry = usize::try_from(length).unwrap_or(usize::MAX);
            rest = below.get(entry..).unwrap_or_default();
        }
    }
    Ok(longest)
}
