//! What a store sends is whole or an error: a body that ends early is no shorter file.

use std::ops::Range;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt, Result};

/// Reads a whole file.
pub(crate) async fn read_file(store: &dyn ObjectStore, path: &Path) -> Result<Bytes> {
    let got = store.get(path).await?;
    let expected = got.range.end.saturating_sub(got.range.start);
    let bytes = got.bytes().await?;
    ensure_whole(&bytes, expected, path)?;
    Ok(bytes)
}

/// Reads a range that lies within the file.
pub(crate) async fn read_range(store: &dyn ObjectStore, path: &Path, range: Range<u64>) -> Result<Bytes> {
    let expected = range.end.saturating_sub(range.start);
    let bytes = store.get_range(path, range).await?;
    ensure_whole(&bytes, expected, path)?;
    Ok(bytes)
}

/// Reads as much of a range as the file has; none where the file ends before it.
pub async fn read_what_is_there(
    store: &dyn ObjectStore,
    path: &Path,
    range: Range<u64>,
) -> Result<Option<Bytes>> {
    let start = range.start;
    let options = GetOptions::new().with_range(Some(GetRange::Bounded(range)));
    let got = match store.get_opts(path, options).await {
        Ok(got) => got,
        Err(error @ Error::NotFound { .. }) => return Err(error),
        // Stores refuse in many ways what lies past the end.
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

/// Proves that so many bytes came as were to come.
pub(crate) fn ensure_whole(bytes: &Bytes, expected: u64, path: &Path) -> Result<()> {
    ensure_arrived(u64::try_from(bytes.len()).unwrap_or(u64::MAX), expected, path)
}

/// Proves that so many bytes came as were to come, where they came in pieces.
pub(crate) fn ensure_arrived(arrived: u64, expected: u64, path: &Path) -> Result<()> {
    if arrived == expected {
        return Ok(());
    }
    let name = path.filename().unwrap_or_default();
    Err(Error::Generic {
        store: "table",
        source: format!("the body of {name} ended after {arrived} of {expected} bytes").into(),
    })
}
