//! The configuration of a table that replaces another and continues its history.
//!
//! Protocol: *Change Metadata*, *Protocol Evolution*, *Domain Metadata*, *Row Tracking*, *Iceberg
//! Compatibility V1* and *V2*.

use super::invariants::ensure_consistent;
use crate::TableConfiguration;
use crate::features::{ensure_changeable, names_in, with_features};
use crate::iceberg_compat::IcebergCompat;
use crate::in_commit_timestamp::{ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION, InCommitTimestamps};
use crate::properties::boolean;
use crate::{Error, ErrorKind, Result, row_tracking};

/// Returns the configuration of a table that is replaced by a new one, as made by [`super::created`].
/// Schema, partitioning, properties and domains are those of the new table. The id and the features of
/// the old table are retained, because its history uses them, as are the highest row id and the version
/// from which commits have in-commit timestamps.
///
/// # Errors
///
/// Returns `UnsupportedFeature` if deltaic cannot change the table; `SchemaMismatch` with the `field` if
/// the table is append-only, and with the `feature` if a new feature is incompatible with an old one.
pub fn replaced(before: &TableConfiguration, new: TableConfiguration) -> Result<TableConfiguration> {
    ensure_changeable(before)?;
    if boolean(before.metadata(), "delta.appendOnly")? {
        return Err(Error::new(ErrorKind::SchemaMismatch, "the table is append-only")
            .with("field", "delta.appendOnly")
            .hint("set delta.appendOnly to false first"));
    }
    let names = names_in(new.protocol());
    let mut after = new;
    after.set_protocol(with_features(
        before.protocol(),
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
    )?);
    after.metadata_mut().id.clone_from(&before.metadata().id);
    if let Some(mark) = before.domain(row_tracking::DOMAIN) {
        after.put_domain(&mark.domain, mark.configuration.clone());
    }
    let has_times = |table: &TableConfiguration| {
        InCommitTimestamps::of(table).map(|times| times != InCommitTimestamps::Disabled)
    };
    // A value that cannot be parsed is not copied.
    if has_times(before).unwrap_or(false) && has_times(&after)? {
        for key in [ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP] {
            if let Some(value) = before.metadata().property(key) {
                after.set_property(key, value);
            }
        }
    }
    ensure_consistent(&after, before)?;
    ensure_partitions_stay(before, &after)?;
    Ok(after)
}

/// Verifies that a partitioned table with Iceberg compatibility keeps its partitioning.
///
/// Protocol: *Writer Requirements for IcebergCompatV1*, *Writer Requirements for IcebergCompatV2*.
pub(super) fn ensure_partitions_stay(before: &TableConfiguration, after: &TableConfiguration) -> Result<()> {
    let promises = |table: &TableConfiguration| IcebergCompat::active(table);
    let (old, new) = (
        &before.metadata().partition_columns,
        &after.metadata().partition_columns,
    );
    if old.is_empty() || old == new || promises(before)?.is_empty() || promises(after)?.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::SchemaMismatch,
        format!(
            "Iceberg compatibility is enabled: the table stays partitioned by {}, not by {}",
            old.join(", "),
            if new.is_empty() {
                "nothing".to_owned()
            } else {
                new.join(", ")
            },
        ),
    )
    .with("field", "partitionColumns")
    .hint(
        "partition the new table as the old one, disable Iceberg compatibility, or create it at another path",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{metadata, protocol};

    fn table(
        protocol: crate::actions::Protocol,
        properties: &[(&str, &str)],
        id: &str,
    ) -> TableConfiguration {
        let mut metadata = metadata(properties);
        id.clone_into(&mut metadata.id);
        metadata.schema_string =
            r#"{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{}}]}"#
                .to_owned();
        TableConfiguration::new(protocol, metadata)
    }

    #[test]
    fn files_that_the_history_needs_are_not_deleted() -> Result<()> {
        let on = ("delta.enableInCommitTimestamps", "true");
        let since = [on, (ENABLEMENT_VERSION, "3"), (ENABLEMENT_TIMESTAMP, "9")];
        let features = ["domainMetadata", "inCommitTimestamp", "rowTracking"];
        let mut before = table(protocol(1, 7, &features), &since, "old");
        for name in [row_tracking::DOMAIN, "mine"] {
            before.put_domain(name, r#"{"rowIdHighWaterMark":4}"#.to_owned());
        }
        let after = replaced(
            &before,
            table(protocol(1, 7, &["inCommitTimestamp", "invariants"]), &[on], "new"),
        )?;
        assert_eq!(after.metadata().id, "old");
        assert_eq!(after.metadata().property(ENABLEMENT_VERSION), Some("3"));
        assert_eq!(
            *after.protocol(),
            protocol(
                1,
                7,
                &["domainMetadata", "inCommitTimestamp", "rowTracking", "invariants"]
            )
        );
        let gone = after.actions_since(&before).domains;
        assert_eq!(gone.len(), 1);
        assert!(
            gone.iter()
                .all(|domain| domain.removed && domain.domain == "mine")
        );
        // Without in-commit timestamps there is nothing to record.
        let after = replaced(&before, table(protocol(1, 2, &[]), &[], "new"))?;
        assert_eq!(after.metadata().property(ENABLEMENT_VERSION), None);
        Ok(())
    }

    /// protocol: append-only-tables.3
    #[test]
    fn an_append_only_table_cannot_be_replaced() {
        let before = table(protocol(1, 2, &[]), &[("delta.appendOnly", "true")], "old");
        let error = replaced(&before, table(protocol(1, 2, &[]), &[], "new")).err();
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::SchemaMismatch));
    }
}
