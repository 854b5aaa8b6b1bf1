//! Reads from a store that raise an error if the body is truncated, instead of returning a shorter file.

use std::ops::Range;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt, Result};

use crate::local_read::bytes_of;

/// Reads a whole file.
pub async fn read_file(store: &dyn ObjectStore, path: &Path) -> Result<Bytes> {
    let got = store.get(path).await?;
    let expected = got.range.end.saturating_sub(got.range.start);
    let bytes = got.bytes().await?;
    ensure_whole(&bytes, expected, path)?;
    Ok(bytes)
}

/// Reads a range that lies within the file.
pub async fn read_range(store: &dyn ObjectStore, path: &Path, range: Range<u64>) -> Result<Bytes> {
    let expected = range.end.saturating_sub(range.start);
    let options = GetOptions::new().with_range(Some(GetRange::Bounded(range)));
    let bytes = bytes_of(store.get_opts(path, options).await?).await?;
    ensure_whole(&bytes, expected, path)?;
    Ok(bytes)
}

/// Reads as much of a range as the file has; `None` if the file ends before it.
pub async fn read_available(
    store: &dyn ObjectStore,
    path: &Path,
    range: Range<u64>,
) -> Result<Option<Bytes>> {
    let start = range.start;
    let options = GetOptions::new().with_range(Some(GetRange::Bounded(range)));
    let got = match store.get_opts(path, options).await {
        Ok(got) => got,
        Err(error @ Error::NotFound { .. }) => return Err(error),
        // Stores reject ranges past the end with different errors.
        Err(error) => {
            return match store.head(path).await {
                Ok(found) if found.size <= start => Ok(None),
                _ => Err(error),
            };
        }
    };
    let expected = got.range.end.saturating_sub(got.range.start);
    let bytes = got.bytes().await?;
    ensure_whole(&bytes, expected, path)?;
    Ok(Some(bytes))
}

/// Verifies that the expected number of bytes was received.
pub(crate) fn ensure_whole(bytes: &Bytes, expected: u64, path: &Path) -> Result<()> {
    ensure_arrived(u64::try_from(bytes.len()).unwrap_or(u64::MAX), expected, path)
}

/// Verifies that the expected number of bytes was received, for bodies that are received in chunks.
pub fn ensure_arrived(arrived: u64, expected: u64, path: &Path) -> Result<()> {
    if arrived == expected {
        return Ok(());
    }
    let name = path.filename().unwrap_or_default();
    Err(Error::Generic {
        store: "table",
        source: format!("the response body of {name} ended after {arrived} of {expected} bytes").into(),
    })
}
