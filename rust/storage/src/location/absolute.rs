//! Paths of a table's log as absolute URIs, for the log of another table on the same store.

use deltaic_protocol::path_encoding::encode_absolute_path;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::resolve::split_scheme;
use super::table_location::TableLocation;
use super::without_secrets::without_secrets;

impl TableLocation {
    /// Returns the absolute URI of a path of the log, spelled as Spark does: `file:/data/t/a%20b.parquet`.
    /// A path that is already absolute is returned unchanged, and is not checked against the allowed roots.
    ///
    /// Protocol: *Add File and Remove File*.
    ///
    /// # Errors
    ///
    /// `PathEscape` for a relative path that leaves the table; `UnsupportedFeature` for a table in memory, whose files
    /// have no absolute URI.
    ///
    /// ```
    /// use deltaic_storage::TableLocation;
    ///
    /// let table = TableLocation::parse("/data/my table", Vec::new())?;
    /// assert_eq!(table.absolute("p=a%2520b/x.parquet")?, "file:/data/my%20table/p=a%2520b/x.parquet");
    /// assert_eq!(table.absolute("file:/other/x.parquet")?, "file:/other/x.parquet");
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn absolute(&self, log_path: &str) -> Result<String> {
        if log_path.starts_with('/') || split_scheme(log_path).is_some() {
            return Ok(log_path.to_owned());
        }
        let place = self.resolve(log_path)?;
        Ok(format!(
            "{}{}",
            self.authority()?,
            encode_absolute_path(place.as_ref())
        ))
    }

    /// The root as Spark shows it: with scheme and authority, not encoded, without a slash at its end.
    ///
    /// # Errors
    ///
    /// `UnsupportedFeature` for a table in memory.
    pub fn absolute_root(&self) -> Result<String> {
        Ok(format!("{}{}", self.authority()?, self.root))
    }

    /// Whether another location is on the same store, so that a log there can refer to files here.
    #[must_use]
    pub fn shares_store_with(&self, other: &Self) -> bool {
        match (&self.remote, &other.remote) {
            (Some(ours), Some(theirs)) => ours.place.is_beside(&theirs.place),
            (None, None) => self.file_system.is_some() && other.file_system.is_some(),
            _ => false,
        }
    }

    /// The part of absolute URIs before the path on the store, with its slash.
    fn authority(&self) -> Result<String> {
        match (&self.remote, &self.file_system) {
            (Some(remote), _) => Ok(remote.place.authority()),
            (None, Some(_)) => Ok("file:/".to_owned()),
            (None, None) => Err(Error::new(
                ErrorKind::UnsupportedFeature,
                "files of a table in memory have no absolute URI, by which another table could refer to them",
            )
            .with("table", without_secrets(&self.uri))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn an_absolute_path_is_resolved_to_the_same_file(path in "[a-zé %#?=:+&\\\\'\"-]{1,12}") {
            let source = TableLocation::parse("/data/süd %41", Vec::new())?;
            let clone = TableLocation::parse("/clone", vec!["/data/süd %41".to_owned()])?;
            let encoded = deltaic_protocol::path_encoding::encode_path(&path);
            let there = source.resolve(&encoded)?;
            proptest::prop_assert_eq!(clone.resolve(&source.absolute(&encoded)?)?, there);
        }
    }

    #[test]
    fn absolute_paths_have_the_scheme_of_the_table() -> Result<()> {
        let region = [("aws_region".to_owned(), "eu-west-1".to_owned())];
        let options = crate::location::StorageOptions::from(std::collections::BTreeMap::from(region));
        let table = TableLocation::with_options("s3a://bucket/a b", options.clone(), Vec::new())?;
        assert_eq!(
            table.absolute("p=1/x%2541.parquet")?,
            "s3a://bucket/a%20b/p=1/x%2541.parquet"
        );
        assert_eq!(table.absolute_root()?, "s3a://bucket/a b");
        let beside = TableLocation::with_options(
            "s3://bucket/c",
            options.clone(),
            vec!["s3://bucket/a%20b".to_owned()],
        )?;
        assert_eq!(
            beside.resolve(&table.absolute("x%2541.parquet")?)?.as_ref(),
            "a b/x%41.parquet"
        );
        let other = TableLocation::with_options("s3://other/c", options, Vec::new())?;
        let local = TableLocation::parse("/data/t", Vec::new())?;
        assert!(table.shares_store_with(&beside) && !table.shares_store_with(&other));
        assert!(!table.shares_store_with(&local) && local.shares_store_with(&local));
        Ok(())
    }

    #[test]
    fn a_path_that_leaves_the_table_and_a_table_in_memory_are_errors() -> Result<()> {
        let table = TableLocation::parse("/data/t", Vec::new())?;
        let error = table.absolute("../x.parquet").err().map(|error| error.kind());
        assert_eq!(error, Some(ErrorKind::PathEscape));
        let memory = TableLocation::parse("memory:///t", Vec::new())?;
        let error = memory.absolute("x.parquet").err().map(|error| error.kind());
        assert_eq!(error, Some(ErrorKind::UnsupportedFeature));
        assert!(!memory.shares_store_with(&memory));
        Ok(())
    }
}
