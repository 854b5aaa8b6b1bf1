//! Row tracking: whether the rows of a table have stable ids, and in which columns they are stored.
//!
//! Protocol: *Row Tracking*, *Reader Requirements for Row Tracking*.

use serde::Deserialize;

use crate::actions::DomainMetadata;
use crate::column_mapping::{ColumnMappingMode, name_in_log};
use crate::features::supports_for_writers;
use crate::properties::boolean;
use crate::schema::StructType;
use crate::{Error, ErrorKind, Result, TableConfiguration};

/// The domain that contains the high water mark.
pub const DOMAIN: &str = "delta.rowTracking";

pub(crate) const ROW_ID_COLUMN: &str = "delta.rowTracking.materializedRowIdColumnName";
pub(crate) const ROW_COMMIT_VERSION_COLUMN: &str = "delta.rowTracking.materializedRowCommitVersionColumnName";

/// The columns of data files with the row ids and commit versions of copied rows. They are not in the
/// schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaterializedColumns {
    /// The column of row ids.
    pub row_id: String,
    /// The column of row commit versions.
    pub row_commit_version: String,
}

/// The state of row tracking in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowTracking {
    /// Files have no row ids.
    Unsupported,
    /// Writers assign row ids, but some files may have none.
    Supported,
    /// Supported, but writers do not have to assign ids until it is resumed.
    Suspended,
    /// Every row has an id and a commit version.
    Enabled(MaterializedColumns),
}

impl RowTracking {
    /// Reads the protocol and metadata of a table.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog` with the property as `field` if row tracking is enabled without the name of a
    /// materialized column, or if a property is neither true nor false.
    pub fn of(table: &TableConfiguration) -> Result<Self> {
        let (protocol, metadata) = (table.protocol(), table.metadata());
        if !supports_for_writers(protocol, "rowTracking") {
            return Ok(Self::Unsupported);
        }
        if boolean(metadata, "delta.rowTrackingSuspended")? {
            return Ok(Self::Suspended);
        }
        if !boolean(metadata, "delta.enableRowTracking")? {
            return Ok(Self::Supported);
        }
        let column = |key: &'static str| {
            metadata
                .property(key)
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .ok_or_else(|| corrupt(key, format!("row tracking is enabled without {key}")))
        };
        Ok(Self::Enabled(MaterializedColumns {
            row_id: column(ROW_ID_COLUMN)?,
            row_commit_version: column(ROW_COMMIT_VERSION_COLUMN)?,
        }))
    }
}

impl MaterializedColumns {
    /// Verifies that no column of the table has the name of a materialized column.
    pub fn validate(&self, schema: &StructType, mode: ColumnMappingMode) -> Result<()> {
        let taken = |name: &str| {
            schema
                .fields
                .iter()
                .any(|field| field.name == name || name_in_log(field, mode) == name)
        };
        for (key, name) in [
            (ROW_ID_COLUMN, &self.row_id),
            (ROW_COMMIT_VERSION_COLUMN, &self.row_commit_version),
        ] {
            if taken(name) {
                return Err(corrupt(
                    key,
                    format!("{key} is {name:?}, and the table has such a column"),
                ));
            }
        }
        if self.row_id == self.row_commit_version {
            let message = format!("{ROW_ID_COLUMN} and {ROW_COMMIT_VERSION_COLUMN} are the same column");
            return Err(corrupt(ROW_COMMIT_VERSION_COLUMN, message));
        }
        Ok(())
    }
}

/// The highest assigned row id, from the domain [`DOMAIN`]; `None` if the domain is removed.
///
/// The protocol text calls it `highWaterMark`, writers `rowIdHighWaterMark`.
///
/// ```
/// use deltaic_protocol::actions::DomainMetadata;
/// use deltaic_protocol::row_tracking::high_water_mark;
/// let domain = DomainMetadata {
///     domain: "delta.rowTracking".to_owned(),
///     configuration: r#"{"rowIdHighWaterMark":9}"#.to_owned(),
///     removed: false,
/// };
/// assert_eq!(high_water_mark(&domain)?, Some(9));
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn high_water_mark(domain: &DomainMetadata) -> Result<Option<i64>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Configuration {
        row_id_high_water_mark: Option<i64>,
        high_water_mark: Option<i64>,
    }
    if domain.removed {
        return Ok(None);
    }
    let parsed: Configuration = serde_json::from_str(&domain.configuration)
        .map_err(|error| corrupt(DOMAIN, format!("the domain {DOMAIN} cannot be read: {error}")))?;
    parsed
        .row_id_high_water_mark
        .or(parsed.high_water_mark)
        .map(Some)
        .ok_or_else(|| corrupt(DOMAIN, format!("the domain {DOMAIN} has no high water mark")))
}

/// The domain [`DOMAIN`] with a high water mark, spelled as writers do.
///
/// ```
/// use deltaic_protocol::row_tracking::{high_water_mark, high_water_mark_domain};
/// assert_eq!(high_water_mark(&high_water_mark_domain(9))?, Some(9));
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[must_use]
pub fn high_water_mark_domain(mark: i64) -> DomainMetadata {
    DomainMetadata {
        domain: DOMAIN.to_owned(),
        configuration: format!(r#"{{"rowIdHighWaterMark":{mark},"domainName":"{DOMAIN}"}}"#),
        removed: false,
    }
}

fn corrupt(field: &'static str, message: String) -> Error {
    Error::new(ErrorKind::CorruptLog, message)
        .with("field", field)
        .hint("the table is readable without its row ids")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{metadata, protocol};
    use crate::schema::{PrimitiveType, StructField};

    const ENABLED: [(&str, &str); 3] = [
        ("delta.enableRowTracking", "true"),
        (ROW_ID_COLUMN, "_row-id"),
        (ROW_COMMIT_VERSION_COLUMN, "_row-version"),
    ];

    fn domain(configuration: &str) -> DomainMetadata {
        DomainMetadata {
            domain: DOMAIN.to_owned(),
            configuration: configuration.to_owned(),
            removed: false,
        }
    }

    /// protocol: writer-requirements-for-row-tracking.16
    #[test]
    fn physical_names_are_taken_while_columns_are_mapped() {
        let mut field = StructField::new("a", PrimitiveType::Long.into(), true);
        let physical = serde_json::json!("col-1");
        field
            .metadata
            .insert("delta.columnMapping.physicalName".to_owned(), physical);
        let schema = StructType { fields: vec![field] };
        for (row_id, row_commit_version, mode, is_free) in [
            ("col-1", "v", ColumnMappingMode::Name, false),
            ("i", "col-1", ColumnMappingMode::Name, false),
            ("i", "col-1", ColumnMappingMode::Id, false),
            ("i", "a", ColumnMappingMode::Name, false),
            ("i", "v", ColumnMappingMode::Name, true),
            ("col-1", "v", ColumnMappingMode::None, true),
        ] {
            let columns = MaterializedColumns {
                row_id: row_id.to_owned(),
                row_commit_version: row_commit_version.to_owned(),
            };
            let checked = columns.validate(&schema, mode);
            assert_eq!(
                checked.is_ok(),
                is_free,
                "{row_id}, {row_commit_version}, {mode:?}"
            );
        }
    }

    /// protocol: row-tracking.3, row-tracking.4, row-tracking.6
    #[test]
    fn it_is_supported_by_the_protocol_and_enabled_by_a_property() -> Result<()> {
        let tracked = protocol(1, 7, &["rowTracking", "domainMetadata"]);
        let on = metadata(&ENABLED);
        assert_eq!(
            RowTracking::of(&crate::samples::table(&protocol(1, 7, &[]), &on))?,
            RowTracking::Unsupported
        );
        assert_eq!(
            RowTracking::of(&crate::samples::table(&tracked, &metadata(&[])))?,
            RowTracking::Supported
        );
        assert_eq!(
            RowTracking::of(&crate::samples::table(&tracked, &on))?,
            RowTracking::Enabled(MaterializedColumns {
                row_id: "_row-id".to_owned(),
                row_commit_version: "_row-version".to_owned(),
            })
        );
        let mut suspended = on.clone();
        suspended
            .configuration
            .insert("delta.rowTrackingSuspended".to_owned(), Some("true".to_owned()));
        assert_eq!(
            RowTracking::of(&crate::samples::table(&tracked, &suspended))?,
            RowTracking::Suspended
        );
        for key in [ROW_ID_COLUMN, ROW_COMMIT_VERSION_COLUMN] {
            let mut nameless = on.clone();
            nameless.configuration.remove(key);
            let error = RowTracking::of(&crate::samples::table(&tracked, &nameless)).err();
            assert!(
                error.is_some_and(|error| error.context().contains(&("field", key.into()))),
                "{key}"
            );
        }
        Ok(())
    }

    #[test]
    fn the_materialised_columns_are_not_columns_of_the_table() -> Result<()> {
        let schema = StructType::from_json(
            r#"{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{"delta.columnMapping.physicalName":"p"}}]}"#,
        )?;
        let columns = |row_id: &str, version: &str| MaterializedColumns {
            row_id: row_id.to_owned(),
            row_commit_version: version.to_owned(),
        };
        columns("x", "y").validate(&schema, ColumnMappingMode::Name)?;
        columns("p", "y").validate(&schema, ColumnMappingMode::None)?;
        for (row_id, version) in [("a", "y"), ("x", "a"), ("p", "y"), ("x", "x")] {
            assert!(
                columns(row_id, version)
                    .validate(&schema, ColumnMappingMode::Name)
                    .is_err(),
                "{row_id} {version}"
            );
        }
        Ok(())
    }

    #[test]
    fn the_high_water_mark_is_read_in_both_spellings() -> Result<()> {
        assert_eq!(
            high_water_mark(&domain(
                r#"{"rowIdHighWaterMark":9,"domainName":"delta.rowTracking"}"#
            ))?,
            Some(9)
        );
        assert_eq!(high_water_mark(&domain(r#"{"highWaterMark":-1}"#))?, Some(-1));
        let removed = DomainMetadata {
            removed: true,
            ..domain("")
        };
        assert_eq!(high_water_mark(&removed)?, None);
        for configuration in [
            "",
            "{}",
            "[]",
            r#"{"highWaterMark":"9"}"#,
            r#"{"highWaterMark":1e99}"#,
        ] {
            assert!(
                high_water_mark(&domain(configuration)).is_err(),
                "{configuration}"
            );
        }
        Ok(())
    }
}
