//! The URI under which Hadoop finds a data file.

use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::location::without_secrets;
use object_store::path::Path;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters that `java.net.URI` does not accept unencoded in a path.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b':')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Stores that Hadoop does not support, each with a hint.
const UNKNOWN_TO_HADOOP: [(&str, &str); 2] = [
    ("memory", "write the table to a folder first"),
    ("az", "use the store's abfss:// address"),
];

/// The URIs of a table's files.
pub(super) struct FileUris {
    /// Scheme and authority.
    store: String,
}

impl FileUris {
    /// # Errors
    ///
    /// `UnsupportedFeature` for a store that Hadoop does not support.
    pub(super) fn of(table: &str) -> Result<Self> {
        let (scheme, rest) = table.split_once("://").unwrap_or(("file", ""));
        if let Some((_, hint)) = UNKNOWN_TO_HADOOP.iter().find(|(name, _)| *name == scheme) {
            return Err(Error::new(
                ErrorKind::UnsupportedFeature,
                format!("Spark cannot read {scheme}:// addresses"),
            )
            .with("table", table)
            .hint(*hint));
        }
        let (authority, _) = rest.split_once('/').unwrap_or((rest, ""));
        Ok(Self {
            store: format!("{scheme}://{authority}"),
        })
    }

    /// Returns the URI of a file by its path in the store: writers percent-encode differently, so the path in the log
    /// was decoded, and is encoded again here.
    ///
    /// # Errors
    ///
    /// `UnsupportedFeature` for a file that Spark treats as hidden, because it would silently skip its rows,
    /// and for one that it cannot open.
    pub(super) fn of_file(&self, log_path: &str, place: &Path) -> Result<String> {
        let name = place.filename().unwrap_or_default();
        // Hadoop's local file system looks for a checksum file next to each file, and parses its name as a URI.
        let is_local = self.store.starts_with("file:");
        let why = match name.starts_with(['_', '.']) {
            true => Some("skips data file"),
            false => (is_local && name.contains(':')).then_some("cannot open data file"),
        };
        if let Some(why) = why {
            let shown = without_secrets(log_path);
            return Err(Error::new(
                ErrorKind::UnsupportedFeature,
                format!("Spark's own reader {why} {shown}, because of its name"),
            )
            .with("path", shown)
            .hint("read it with format(\"deltaic\"), or with deltaic.Table(path).snapshot().scan()"));
        }
        let path = utf8_percent_encode(place.as_ref(), ENCODED);
        Ok(format!("{}/{path}", self.store))
    }
}

#[cfg(test)]
mod tests {
    use deltaic_storage::TableLocation;

    use super::*;

    fn uri(table: &str, log_path: &str) -> Result<String> {
        let location = TableLocation::parse(table, Vec::new())?;
        let place = location.resolve(log_path)?;
        FileUris::of(location.uri())?.of_file(log_path, &place)
    }

    #[test]
    fn a_path_of_the_log_becomes_one_uri_however_it_was_encoded() -> Result<()> {
        for (path, expected) in [
            ("a.parquet", "a.parquet"),
            ("p=a%20b/a.parquet", "p=a%20b/a.parquet"),
            ("p=a b/a.parquet", "p=a%20b/a.parquet"),
            ("p=a%2520b/a.parquet", "p=a%2520b/a.parquet"),
            ("p=100%/a.parquet", "p=100%25/a.parquet"),
            ("p=ü/a.parquet", "p=%C3%BC/a.parquet"),
            ("p=%C3%BC/a.parquet", "p=%C3%BC/a.parquet"),
            (
                "p=[1]{2}^`|<>/a.parquet",
                "p=%5B1%5D%7B2%7D%5E%60%7C%3C%3E/a.parquet",
            ),
            ("p=a+b&c;d=e/a?b#c.parquet", "p=a+b&c;d=e/a%3Fb%23c.parquet"),
            ("t=10:30/a.parquet", "t=10:30/a.parquet"),
            ("./p=1/./a.parquet", "p=1/a.parquet"),
            ("p=1/../a.parquet", "a.parquet"),
            ("/t%20a/b/a.parquet", "a.parquet"),
            ("file:/t%20a/b/a.parquet", "a.parquet"),
            ("file:///t%20a/b/a.parquet", "a.parquet"),
        ] {
            assert_eq!(
                uri("/t a/b", path)?,
                format!("file:///t%20a/b/{expected}"),
                "{path}"
            );
        }
        assert_eq!(
            uri("s3://bucket/t", "a%20b.parquet")?,
            "s3://bucket/t/a%20b.parquet"
        );
        assert_eq!(
            uri("abfss://box@account.dfs.core.windows.net/t", "a.parquet")?,
            "abfss://box@account.dfs.core.windows.net/t/a.parquet"
        );
        Ok(())
    }

    #[test]
    fn files_that_spark_cannot_find_are_refused() {
        for (table, path) in [
            ("/t", "p=1/_a.parquet"),
            ("/t", ".a.parquet"),
            ("/t", "%5Fa.parquet"),
            ("/t", "p=1/a:b.parquet"),
            ("memory:///t", "a.parquet"),
        ] {
            let error = uri(table, path).expect_err(path);
            assert_eq!(error.kind(), ErrorKind::UnsupportedFeature, "{path}");
        }
    }
}
