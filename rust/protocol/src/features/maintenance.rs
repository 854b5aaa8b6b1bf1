//! The gate for who keeps a log in order: checksums, compaction files, and what has expired.
//!
//! Protocol: *Writer Version Requirements*, *Table Features*, *Maintenance Operations on Catalog-managed Tables*.

use super::support::{LogTail, ensure_openable, refuse, unknown_version};
use super::table::feature;
use crate::actions::{Metadata, Protocol};
use crate::schema::StructType;
use crate::{Error, ErrorKind, Result};

/// What is done to a log to keep it in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintenance {
    /// A version checksum is written.
    VersionChecksum,
    /// A log compaction file is written.
    LogCompaction,
    /// What has expired is deleted.
    MetadataCleanup,
}

/// Features under which others hold commits of the log back, or keep it elsewhere.
const OTHERS: [&str; 4] = [
    "coordinatedCommits",
    "redirectWriterOnly",
    "redirectReaderWriter",
    "adaptiveMetadata",
];

/// Proves that deltaic may keep the log of such a table in order. It asks less than an append, which must keep what a
/// feature promises about rows; it fails closed all the same: a feature that is not known is refused.
///
/// # Errors
///
/// `UnsupportedFeature` names what stands in the way, as the table spells it.
///
/// ```
/// use deltaic_protocol::actions::{Metadata, Protocol};
/// use deltaic_protocol::features::{Maintenance, ensure_maintainable};
/// let protocol: Protocol = serde_json::from_str(
///     r#"{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["fromTheFuture"]}"#,
/// )?;
/// let metadata: Metadata = serde_json::from_str(r#"{"id":"t","format":{"provider":"parquet"},"partitionColumns":[]}"#)?;
/// let judged = ensure_maintainable(&protocol, &metadata, &metadata.schema()?, Maintenance::MetadataCleanup);
/// assert!(judged.is_err_and(|error| error.to_string().contains("fromTheFuture")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn ensure_maintainable(
    protocol: &Protocol,
    metadata: &Metadata,
    schema: &StructType,
    what: Maintenance,
) -> Result<()> {
    // Whoever has a snapshot has been given the log's tail where one is needed.
    ensure_openable(protocol, metadata, schema, LogTail::Given)?;
    if !(1..=7).contains(&protocol.min_writer_version) {
        return Err(unknown_version("writer", protocol.min_writer_version));
    }
    let named = || {
        let lists = [&protocol.reader_features, &protocol.writer_features];
        lists.into_iter().flatten().flatten().map(String::as_str)
    };
    let is_ours = |name: &str| feature(name).is_some_and(|known| !OTHERS.contains(&known.name));
    let mut refused: Vec<&str> = named().filter(|name| !is_ours(name)).collect();
    refused.sort_unstable();
    refused.dedup();
    refuse(&refused, "maintain")?;
    let managed = named().find(|name| feature(name).is_some_and(|known| known.name == "catalogManaged"));
    match managed {
        Some(name) if what == Maintenance::MetadataCleanup => Err(Error::new(
            ErrorKind::UnsupportedFeature,
            format!("the table has the feature {name}: its catalog alone says who may clean up its log"),
        )
        .with("feature", name)
        .hint("let the catalog clean up the table")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{metadata, protocol};

    fn judged(protocol: &Protocol, what: Maintenance) -> Result<()> {
        ensure_maintainable(protocol, &metadata(&[]), &StructType::default(), what)
    }

    /// protocol: catalog:maintenance-operations-on-catalog-managed-tables.2, beyond:unknown.1
    #[test]
    fn what_is_not_known_or_not_ours_is_refused_by_name() {
        let all = [
            Maintenance::VersionChecksum,
            Maintenance::LogCompaction,
            Maintenance::MetadataCleanup,
        ];
        for what in all {
            assert!(judged(&protocol(1, 2, &[]), what).is_ok());
            let known = [
                "rowTracking",
                "domainMetadata",
                "clustering",
                "checkpointProtection",
                "deletionVectors",
            ];
            assert!(judged(&protocol(1, 7, &known), what).is_ok());
            for name in [
                "fromTheFuture",
                "redirectWriterOnly-preview",
                "managedCommit-preview",
            ] {
                let error = judged(&protocol(1, 7, &[name]), what).expect_err(name);
                assert_eq!(error.kind(), ErrorKind::UnsupportedFeature);
                assert!(error.to_string().contains(name), "{error}");
            }
            assert!(judged(&protocol(1, 8, &[]), what).is_err());
            let managed = judged(&protocol(3, 7, &["catalogManaged"]), what);
            assert_eq!(managed.is_err(), what == Maintenance::MetadataCleanup, "{what:?}");
        }
    }
}
