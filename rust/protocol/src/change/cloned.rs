//! The configuration of a shallow clone: a new table whose first files are those of another table.
//!
//! Protocol: *Change Metadata*, *Protocol Evolution*, *Domain Metadata*, *Row Tracking*, *In-Commit
//! Timestamps*, *Column Mapping*.

use std::collections::BTreeMap;

use super::finished::finished;
use super::preconditions::{Precondition, preconditions};
use crate::change_context::ChangeContext;
use crate::column_mapping::MODE;
use crate::features::ensure_changeable;
use crate::in_commit_timestamp::{ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION};
use crate::row_tracking::{ROW_COMMIT_VERSION_COLUMN, ROW_ID_COLUMN};
use crate::{Error, ErrorKind, Result, TableConfiguration, Version, property_change, row_tracking};

/// Properties that describe the history of the source, or that must differ between tables: row ids are assigned
/// again, so the columns with those of the source must not be read.
const OF_THE_SOURCE: [&str; 5] = [
    ENABLEMENT_VERSION,
    ENABLEMENT_TIMESTAMP,
    ROW_ID_COLUMN,
    ROW_COMMIT_VERSION_COLUMN,
    "delta.requireCheckpointProtectionBeforeVersion",
];

/// Returns the configuration of a new table that contains the files of a source: its schema, partitioning, protocol,
/// properties and domains, with further properties. The id is new; name and description are not copied. The highest
/// column id and the last values of identity columns are those of the source.
///
/// # Errors
///
/// Returns `UnsupportedFeature` if deltaic cannot change the source, for example because it is catalog-managed, or if a
/// property needs a feature that is not supported; `SchemaMismatch` with the `field` or `feature` if the files of the
/// source do not satisfy what a property requires; `InvalidArgument` for an invalid property.
///
/// ```
/// use deltaic_protocol::actions::{Metadata, Protocol};
/// use deltaic_protocol::change::{ChangeContext, cloned};
/// use deltaic_protocol::{TableConfiguration, Version};
/// let protocol: Protocol = serde_json::from_str(r#"{"minReaderVersion":1,"minWriterVersion":2}"#)?;
/// let metadata: Metadata = serde_json::from_str(
///     r#"{"id":"t","format":{"provider":"parquet"},"partitionColumns":[],"configuration":{"mine":"1"},
///         "schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}"}"#,
/// )?;
/// let source = TableConfiguration::new(protocol, metadata);
/// let mut context = ChangeContext { version: Version::ZERO, timestamp_ms: 0, new_id: &mut || "new".to_owned() };
/// let clone = cloned(&source, &[("yours".to_owned(), "2".to_owned())].into(), &mut context)?;
/// assert_eq!(clone.metadata().id, "new");
/// assert_eq!(clone.metadata().property("mine"), Some("1"));
/// assert_eq!(clone.metadata().property("yours"), Some("2"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cloned(
    source: &TableConfiguration,
    properties: &BTreeMap<String, String>,
    context: &mut ChangeContext<'_>,
) -> Result<TableConfiguration> {
    ensure_changeable(source)?;
    if context.version != Version::ZERO {
        return Err(
            Error::new(ErrorKind::InvalidArgument, "a table begins with version 0")
                .with("version", context.version),
        );
    }
    let domains = source.domains().values();
    let domains = domains.filter(|domain| domain.domain != row_tracking::DOMAIN);
    let mut start = TableConfiguration::new(source.protocol().clone(), source.metadata().clone())
        .with_domains(domains.cloned());
    let metadata = start.metadata_mut();
    metadata.id = (context.new_id)();
    (metadata.name, metadata.description) = (None, None);
    metadata.created_time = Some(context.timestamp_ms);
    for key in OF_THE_SOURCE {
        metadata.configuration.remove(key);
    }
    let mut after = start.clone();
    property_change::set(&mut after, properties)?;
    let after = finished(&start, after, context)?;
    if after.column_mapping()? != source.column_mapping()? {
        return Err(Error::new(
            ErrorKind::SchemaMismatch,
            "the column mapping mode of a clone is that of its source, whose files it contains",
        )
        .with("field", MODE)
        .hint("omit the property"));
    }
    // The first commit assigns row ids to all files, and there are no earlier versions to protect.
    let unmet = preconditions(source, &after)?;
    let of_clones = [
        Precondition::FilesHaveRowIds,
        Precondition::CheckpointsStandBefore,
    ];
    match unmet.into_iter().find(|unmet| !of_clones.contains(unmet)) {
        None => Ok(after),
        Some(Precondition::FilesAreReadAsIceberg(compat)) => Err(Error::new(
            ErrorKind::SchemaMismatch,
            format!(
                "{} cannot be enabled for files that were written without it",
                compat.feature()
            ),
        )
        .with("feature", compat.feature())
        .hint("omit the property")),
        Some(_) => Err(Error::new(
            ErrorKind::SchemaMismatch,
            "a property requires something of the files of the source that is unknown",
        )
        .hint("clone without the property, then set it with table.alter")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column_mapping::MAX_COLUMN_ID;
    use crate::in_commit_timestamp::InCommitTimestamps;
    use crate::row_tracking::{RowTracking, high_water_mark_domain};
    use crate::samples::{metadata, protocol};

    fn table(features: &[&str], properties: &[(&str, &str)]) -> TableConfiguration {
        let mut metadata = metadata(properties);
        metadata.name = Some("rides".to_owned());
        metadata.description = Some("of a day".to_owned());
        metadata.schema_string = r#"{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{"delta.identity.start":1,"delta.identity.step":1,"delta.identity.allowExplicitInsert":false,"delta.identity.highWaterMark":7}}]}"#.to_owned();
        TableConfiguration::new(protocol(1, 7, features), metadata)
    }

    fn clone_of(source: &TableConfiguration, properties: &[(&str, &str)]) -> Result<TableConfiguration> {
        let mut number = 0;
        let mut new_id = || {
            number += 1;
            format!("new{number}")
        };
        let mut context = ChangeContext {
            version: Version::ZERO,
            timestamp_ms: 9,
            new_id: &mut new_id,
        };
        let properties = properties
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        cloned(source, &properties.collect(), &mut context)
    }

    #[test]
    fn what_describes_the_history_of_the_source_is_not_copied() -> Result<()> {
        let mut source = table(
            &[
                "domainMetadata",
                "identityColumns",
                "inCommitTimestamp",
                "rowTracking",
                "checkpointProtection",
            ],
            &[
                ("delta.enableInCommitTimestamps", "true"),
                (ENABLEMENT_VERSION, "3"),
                (ENABLEMENT_TIMESTAMP, "8"),
                ("delta.enableRowTracking", "true"),
                (ROW_ID_COLUMN, "_row-id-col-1"),
                (ROW_COMMIT_VERSION_COLUMN, "_row-commit-version-col-1"),
                ("delta.requireCheckpointProtectionBeforeVersion", "4"),
                ("mine", "1"),
            ],
        );
        source.put_domain(row_tracking::DOMAIN, high_water_mark_domain(40).configuration);
        source.put_domain("mine", "{}".to_owned());
        let clone = clone_of(&source, &[])?;
        assert_eq!(InCommitTimestamps::of(&clone)?, InCommitTimestamps::FromTheStart);
        let RowTracking::Enabled(columns) = RowTracking::of(&clone)? else {
            return Err(Error::internal("row tracking is not enabled"));
        };
        assert!(columns.row_id.ends_with("new2") && columns.row_commit_version.ends_with("new3"));
        assert_eq!(
            clone
                .metadata()
                .property("delta.requireCheckpointProtectionBeforeVersion"),
            None
        );
        assert_eq!(clone.metadata().property("mine"), Some("1"));
        assert_eq!(clone.domains().keys().collect::<Vec<_>>(), ["mine"]);
        assert_eq!(clone.protocol(), source.protocol());
        let metadata = clone.metadata();
        assert_eq!((metadata.id.as_str(), metadata.created_time), ("new1", Some(9)));
        assert_eq!((&metadata.name, &metadata.description), (&None, &None));
        assert_eq!(metadata.schema_string, source.metadata().schema_string);
        Ok(())
    }

    #[test]
    fn properties_may_only_require_what_the_files_have() -> Result<()> {
        let source = table(&["identityColumns"], &[]);
        let tracked = clone_of(&source, &[("delta.enableRowTracking", "true")])?;
        assert!(matches!(RowTracking::of(&tracked)?, RowTracking::Enabled(_)));
        for (key, value) in [
            (MODE, "name"),
            (MODE, "id"),
            ("delta.enableIcebergCompatV1", "true"),
        ] {
            let error = clone_of(&source, &[(key, value)]).err();
            assert_eq!(
                error.map(|error| error.kind()),
                Some(ErrorKind::SchemaMismatch),
                "{key}"
            );
        }
        for (key, value) in [
            (MAX_COLUMN_ID, "9"),
            ("delta.enableTypeWidening", "maybe"),
            ("delta.unknown", "1"),
        ] {
            let error = clone_of(&source, &[(key, value)]).err();
            assert_eq!(
                error.map(|error| error.kind()),
                Some(ErrorKind::InvalidArgument),
                "{key}"
            );
        }
        Ok(())
    }

    #[test]
    fn a_catalog_managed_source_is_refused() {
        let source = table(
            &["catalogManaged", "inCommitTimestamp", "vacuumProtocolCheck"],
            &[],
        );
        let error = clone_of(&source, &[]).err().map(|error| error.kind());
        assert_eq!(error, Some(ErrorKind::UnsupportedFeature));
    }
}
