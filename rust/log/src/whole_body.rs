//! What a store sends is whole or an error: a body that ends early is no shorter file.

use std::ops::Range;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, Result};

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
