//! The configuration of a new table.
//!
//! Protocol: *Change Metadata*, *Table Features for New and Existing Tables*.

use std::collections::BTreeMap;

use super::ChangeContext;
use super::invariants::ensure_consistent;
use crate::TableConfiguration;
use crate::actions::{Metadata, Protocol};
use crate::features::{ensure_changeable, needed_features};
use crate::property_change;
use crate::schema_evolution::ensure_names;
use crate::{Error, ErrorKind, Result};

/// Returns the configuration of a new table with this metadata and these properties: the minimum protocol
/// for them, physical names and ids, row tracking columns. Existing entries in the configuration of the
/// metadata are retained.
///
/// This does not check whether deltaic can write its rows.
///
/// # Errors
///
/// Returns the errors of [`super::change`]; `InvalidArgument` if the names of columns cannot be written;
/// `UnsupportedFeature` with a type that is unknown or a feature that the table would need and that is
/// not supported.
///
/// ```
/// use deltaic_protocol::Version;
/// use deltaic_protocol::change::{ChangeContext, created};
/// let metadata = serde_json::from_str(
///     r#"{"id":"t","format":{"provider":"parquet"},"partitionColumns":[],"configuration":{},
///         "schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"my id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}"}"#,
/// )?;
/// let mapped = [("delta.columnMapping.mode".to_owned(), "id".to_owned())].into();
/// let mut context = ChangeContext { version: Version::ZERO, timestamp_ms: 0, new_id: &mut || "1".to_owned() };
/// let table = created(metadata, &mapped, &mut context)?;
/// assert!(table.metadata().schema_string.contains("col-1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn created(
    metadata: Metadata,
    properties: &BTreeMap<String, String>,
    context: &mut ChangeContext<'_>,
) -> Result<TableConfiguration> {
    let plain = Protocol {
        min_reader_version: 1,
        min_writer_version: 2,
        reader_features: None,
        writer_features: None,
    };
    let empty = TableConfiguration::new(plain, metadata);
    if context.version != crate::Version::ZERO {
        return Err(
            Error::new(ErrorKind::InvalidArgument, "a table begins with version 0")
                .with("version", context.version),
        );
    }
    let mut table = empty.clone();
    property_change::set(&mut table, properties)?;
    table.require(&needed_features(table.metadata(), &*table.schema()?))?;
    // A new table has no existing order to retain.
    let mut protocol = table.protocol().clone();
    for list in [&mut protocol.reader_features, &mut protocol.writer_features] {
        list.iter_mut().for_each(|names| names.sort_unstable());
    }
    table.set_protocol(protocol);
    property_change::follow(&empty, &mut table, context)?;
    ensure_names(&*table.schema()?, table.column_mapping()?)?;
    ensure_consistent(&table, &empty)?;
    ensure_changeable(&table)?;
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Version;
    use crate::column_mapping::{MAX_COLUMN_ID, physical_name};
    use crate::in_commit_timestamp::InCommitTimestamps;
    use crate::samples::{metadata, protocol};

    fn make(field: &str, pairs: &[(&str, &str)]) -> Result<TableConfiguration> {
        let mut metadata = metadata(&[]);
        metadata.schema_string = format!(r#"{{"type":"struct","fields":[{field}]}}"#);
        let pairs = pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let mut context = ChangeContext {
            version: Version::ZERO,
            timestamp_ms: 7,
            new_id: &mut || "u".to_owned(),
        };
        created(metadata, &pairs.collect(), &mut context)
    }

    const LONG: &str = r#"{"name":"a","type":"long","nullable":false,"metadata":{}}"#;

    /// protocol: change-metadata.2, table-features-for-new-and-existing-tables.2,
    /// table-features-for-new-and-existing-tables.3, table-features-for-new-and-existing-tables.4
    #[test]
    fn a_new_table_has_what_it_requests_from_the_start() -> Result<()> {
        assert_eq!(*make(LONG, &[])?.protocol(), protocol(1, 2, &[]));
        for mode in ["name", "id"] {
            let table = make(LONG, &[("delta.columnMapping.mode", mode)])?;
            assert_eq!(
                table.schema()?.fields.first().and_then(physical_name),
                Some("col-u")
            );
            assert_eq!(table.metadata().property(MAX_COLUMN_ID), Some("1"));
            assert_eq!(
                (
                    table.protocol().min_reader_version,
                    table.protocol().min_writer_version
                ),
                (2, 7)
            );
        }
        let timed = make(LONG, &[("delta.enableInCommitTimestamps", "true")])?;
        let times = InCommitTimestamps::of(&timed)?;
        assert_eq!(times, InCommitTimestamps::FromTheStart);
        let feed = make(
            LONG,
            &[
                ("delta.enableChangeDataFeed", "true"),
                ("delta.appendOnly", "true"),
            ],
        )?;
        assert_eq!(
            *feed.protocol(),
            protocol(1, 7, &["appendOnly", "changeDataFeed", "invariants"])
        );
        let ntz = make(
            &LONG.replace("long", "timestamp_ntz"),
            &[("delta.feature.v2Checkpoint", "supported")],
        )?;
        let readers = ["timestampNtz", "v2Checkpoint"].map(str::to_owned).to_vec();
        assert_eq!(ntz.protocol().reader_features, Some(readers));
        assert!(ntz.metadata().configuration.is_empty());
        Ok(())
    }

    #[test]
    fn an_unsupported_property_is_refused_by_name() {
        let refused = |made: Result<TableConfiguration>| made.err().map(|error| error.kind());
        for made in [
            make(&LONG.replace("long", "quaternion"), &[]),
            make(LONG, &[("delta.feature.catalogManaged", "supported")]),
            make(LONG, &[("delta.enableIcebergWriterCompatV1", "true")]),
        ] {
            assert_eq!(refused(made), Some(ErrorKind::UnsupportedFeature));
        }
        // No table can have an isolation level this weak.
        let level = ("delta.isolationLevel", "SnapshotIsolation");
        assert_eq!(refused(make(LONG, &[level])), Some(ErrorKind::InvalidArgument));
    }

    #[test]
    fn names_that_files_cannot_hold_need_a_mapping() -> Result<()> {
        let spaced = LONG.replace(r#""a""#, r#""a b""#);
        assert!(make(&spaced, &[]).is_err());
        make(&spaced, &[("delta.columnMapping.mode", "name")])?;
        let nested = format!(
            r#"{{"name":"l","nullable":true,"metadata":{{}},"type":{{"type":"array","containsNull":true,"elementType":{{"type":"struct","fields":[{spaced}]}}}}}}"#
        );
        assert!(make(&nested, &[]).is_err());
        make(&nested, &[("delta.columnMapping.mode", "name")])?;
        assert!(
            make(
                LONG,
                &[
                    ("delta.enableRowTracking", "true"),
                    ("delta.rowTrackingSuspended", "true")
                ]
            )
            .is_err()
        );
        Ok(())
    }
}
