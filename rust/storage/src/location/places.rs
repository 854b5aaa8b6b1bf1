//! Detects paths of the log that refer to the same file: `a.parquet` and `./a.parquet` are two names of one
//! file.
//!
//! Replay distinguishes files by their names, as the protocol requires; a scan must not read a file twice.

use std::borrow::Cow;
use std::hash::BuildHasher;

use deltaic_protocol::{Error, ErrorKind, Result};
use hashbrown::HashTable;

use super::table_location::TableLocation;
use super::without_secrets::without_secrets;

impl TableLocation {
    /// Verifies that no two paths of the log refer to the same file. Ignores paths that cannot be resolved:
    /// they fail when they are opened.
    ///
    /// ```
    /// use deltaic_storage::TableLocation;
    ///
    /// let table = TableLocation::parse("/data/t", Vec::new())?;
    /// assert!(table.ensure_unique_files(["p=1/a.parquet", "p=2/a.parquet"]).is_ok());
    /// assert!(table.ensure_unique_files(["p=1/a.parquet", "p%3D1//./a.parquet"]).is_err());
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn ensure_unique_files<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let seed = foldhash::fast::RandomState::default();
        let mut known: HashTable<(u64, &str)> = HashTable::new();
        for path in paths {
            let Some(place) = self.place(path) else {
                continue;
            };
            let hash = seed.hash_one(place.as_ref());
            let is_there = |other: &(u64, &str)| {
                other.0 == hash && self.place(other.1).as_deref() == Some(place.as_ref())
            };
            if let Some((_, other)) = known.find(hash, is_there) {
                return Err(twice(other, path));
            }
            known.insert_unique(hash, (hash, path), |(hash, _)| *hash);
        }
        Ok(())
    }

    /// Returns the normalized location of a path: relative to the root if it is below the root.
    fn place<'a>(&self, path: &'a str) -> Option<Cow<'a, str>> {
        if is_plain(path) {
            return Some(Cow::Borrowed(path));
        }
        let place = self.resolve(path).ok()?;
        let root = self.root().as_ref();
        let below = match root {
            "" => Some(place.as_ref()),
            _ => place
                .as_ref()
                .strip_prefix(root)
                .and_then(|below| below.strip_prefix('/')),
        };
        // No location below the root begins with a slash.
        Some(Cow::Owned(
            below.map_or_else(|| format!("/{place}"), str::to_owned),
        ))
    }
}

/// Whether a path is relative and normalized: without encoding, empty components or components that start
/// with a dot.
fn is_plain(path: &str) -> bool {
    let mut before = b'/';
    for byte in path.bytes() {
        match (before, byte) {
            (b'/', b'/' | b'.') | (_, b'%' | b':') => return false,
            _ => before = byte,
        }
    }
    before != b'/'
}

fn twice(first: &str, second: &str) -> Error {
    let (first, second) = (without_secrets(first), without_secrets(second));
    Error::new(
        ErrorKind::CorruptLog,
        format!(
            "one file is in the table twice, as {first:?} and as {second:?}: its rows would be read twice"
        ),
    )
    .with("path", second)
    .with("field", "add.path")
    .hint("restore the commit that names the file again from a backup of the table")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_has_many_names() -> Result<()> {
        let table = TableLocation::parse("/data/my table", vec!["/clones".to_owned()])?;
        let names = [
            "p=1/a.parquet",
            "./p=1/a.parquet",
            "p=1//a.parquet",
            "p=1/%61.parquet",
            "z/../p=1/a.parquet",
            "/data/my%20table/p=1/a.parquet",
            "file:/data/my%20table/p=1/a.parquet",
            "FILE:///data/my%20table/p=1/a.parquet",
            "file:///data/./my%20table/p=1/a.parquet",
        ];
        for (index, one) in names.iter().enumerate() {
            for other in &names[index + 1..] {
                let error = table.ensure_unique_files(["x", *one, "y", *other]).err();
                let kind = error.as_ref().map(Error::kind);
                assert_eq!(kind, Some(ErrorKind::CorruptLog), "{one} {other}");
            }
        }
        let other = [
            "p=1/a.parquet",
            "p=1/A.parquet",
            "p%253D1/a.parquet",
            "/clones/p=1/a.parquet",
            "clones/p=1/a.parquet",
            "t=10:00/a.parquet",
            "../outside",
            "../outside",
            "/elsewhere/a",
            "/elsewhere/a",
        ];
        table.ensure_unique_files(other)
    }

    #[test]
    fn stores_have_several_schemes() -> Result<()> {
        let table = TableLocation::parse("s3://bucket/t", Vec::new())?;
        let names = ["a.parquet", "s3://bucket/t/a.parquet", "s3a://bucket/t/a.parquet"];
        for (index, one) in names.iter().enumerate() {
            for other in &names[index + 1..] {
                assert!(
                    table.ensure_unique_files([*one, *other]).is_err(),
                    "{one} {other}"
                );
            }
        }
        Ok(())
    }
}
