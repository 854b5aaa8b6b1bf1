//! The support check for maintenance: checksums, compaction files, metadata cleanup and vacuum.
//!
//! Protocol: *Writer Version Requirements*, *Table Features*, *Maintenance Operations on Catalog-managed
//! Tables*, *Vacuum Protocol Check*.

use super::row::{Support, Verb};
use super::support::{CatalogTail, ensure_openable, ensure_vacuum_supported, refuse, unknown_version};
use super::table::feature;
use crate::{Error, ErrorKind, Result, TableConfiguration};

/// A maintenance operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintenance {
    /// Writes a version checksum.
    VersionChecksum,
    /// Writes a log compaction file.
    LogCompaction,
    /// Deletes expired log files.
    MetadataCleanup,
    /// Deletes files outside of the log that the table no longer needs.
    Vacuum,
}

/// Verifies that deltaic may maintain a table. Log maintenance requires less than an append, which must
/// enforce what features guarantee about rows; unknown features are refused all the same. A vacuum requires support
/// for every feature of readers and writers, whether the table lists `vacuumProtocolCheck` or not: any of them may
/// determine which files are needed.
///
/// # Errors
///
/// Returns `UnsupportedFeature` with the feature that prevents it, as spelled by the table.
///
/// ```
/// use deltaic_protocol::TableConfiguration;
/// use deltaic_protocol::actions::{Metadata, Protocol};
/// use deltaic_protocol::features::{Maintenance, ensure_maintainable};
/// let protocol: Protocol = serde_json::from_str(
///     r#"{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["fromTheFuture"]}"#,
/// )?;
/// let metadata: Metadata = serde_json::from_str(r#"{"id":"t","format":{"provider":"parquet"},"partitionColumns":[]}"#)?;
/// let table = TableConfiguration::new(protocol, metadata);
/// let checked = ensure_maintainable(&table, Maintenance::MetadataCleanup);
/// assert!(checked.is_err_and(|error| error.to_string().contains("fromTheFuture")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn ensure_maintainable(table: &TableConfiguration, what: Maintenance) -> Result<()> {
    let protocol = table.protocol();
    // A caller with a snapshot was given the tail of the log if the table needs one.
    ensure_openable(table, CatalogTail::Given)?;
    if !(1..=7).contains(&protocol.min_writer_version) {
        return Err(unknown_version("writer", protocol.min_writer_version));
    }
    let named = || {
        let lists = [&protocol.reader_features, &protocol.writer_features];
        lists.into_iter().flatten().flatten().map(String::as_str)
    };
    let is_ours =
        |name: &str| feature(name).is_some_and(|known| known.support(Verb::Maintain) == Support::Full);
    let mut refused: Vec<&str> = named().filter(|name| !is_ours(name)).collect();
    refused.sort_unstable();
    refused.dedup();
    refuse(&refused, "maintain")?;
    let managed = named().find(|name| feature(name).is_some_and(|known| known.cleaned_up_by_catalog));
    match managed {
        Some(name) if matches!(what, Maintenance::MetadataCleanup | Maintenance::Vacuum) => Err(Error::new(
            ErrorKind::UnsupportedFeature,
            format!("the table has the feature {name}: only its catalog may delete its files"),
        )
        .with("feature", name)
        .hint("let the catalog clean up the table")),
        _ if what == Maintenance::Vacuum => ensure_vacuum_supported(table),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::Protocol;
    use crate::samples::{metadata, protocol};

    fn checked(protocol: &Protocol, what: Maintenance) -> Result<()> {
        ensure_maintainable(&TableConfiguration::new(protocol.clone(), metadata(&[])), what)
    }

    /// protocol: catalog:maintenance-operations-on-catalog-managed-tables.2, beyond:unknown.1
    #[test]
    fn unknown_properties_are_refused_by_name() {
        let all = [
            Maintenance::VersionChecksum,
            Maintenance::LogCompaction,
            Maintenance::MetadataCleanup,
        ];
        for what in all {
            assert!(checked(&protocol(1, 2, &[]), what).is_ok());
            let known = [
                "rowTracking",
                "domainMetadata",
                "clustering",
                "checkpointProtection",
                "deletionVectors",
            ];
            assert!(checked(&protocol(1, 7, &known), what).is_ok());
            for name in [
                "fromTheFuture",
                "redirectWriterOnly-preview",
                "managedCommit-preview",
            ] {
                let error = checked(&protocol(1, 7, &[name]), what).expect_err(name);
                assert_eq!(error.kind(), ErrorKind::UnsupportedFeature);
                assert!(error.to_string().contains(name), "{error}");
            }
            assert!(checked(&protocol(1, 8, &[]), what).is_err());
            let managed = checked(&protocol(3, 7, &["catalogManaged"]), what);
            assert_eq!(managed.is_err(), what == Maintenance::MetadataCleanup, "{what:?}");
        }
    }

    /// protocol: writer-requirements-for-vacuum-protocol-check.1
    #[test]
    fn a_vacuum_needs_support_for_every_feature() {
        let check = |protocol: &Protocol| checked(protocol, Maintenance::Vacuum);
        assert!(check(&protocol(1, 2, &[])).is_ok());
        let known = [
            "appendOnly",
            "checkConstraints",
            "deletionVectors",
            "vacuumProtocolCheck",
            "checkpointProtection",
        ];
        assert!(check(&protocol(3, 7, &known)).is_ok());
        for name in [
            "fromTheFuture",
            "icebergWriterCompatV1",
            "geospatial",
            "catalogManaged",
            "redirectWriterOnly",
            "coordinatedCommits",
        ] {
            let error = check(&protocol(3, 7, &[name])).expect_err(name);
            assert_eq!(error.kind(), ErrorKind::UnsupportedFeature);
            assert!(error.to_string().contains(name), "{error}");
        }
        assert!(check(&protocol(1, 8, &[])).is_err() && check(&protocol(4, 7, &[])).is_err());
    }
}
