//! Support checks for removing files, and for removing rows by deletion vectors.

use super::support::{ensure_removal_supported, supports_for_writers};
use crate::properties::boolean;
use crate::{Error, ErrorKind, Result, TableConfiguration};

const APPEND_ONLY: &str = "delta.appendOnly";
const ENABLE_VECTORS: &str = "delta.enableDeletionVectors";

/// Verifies that files, or rows by deletion vectors, may be removed from a table: its features allow it,
/// and it is not append-only. An operation that also adds rows must check
/// [`ensure_appendable`](super::ensure_appendable) too.
///
/// Protocol: *Append-only Tables*.
///
/// # Errors
///
/// Returns `ConstraintViolation` if the table is append-only; `UnsupportedFeature` with a feature that
/// deltaic does not implement and whose requirements concern removals.
pub fn ensure_removable(table: &TableConfiguration) -> Result<()> {
    ensure_removal_supported(table)?;
    if !boolean(table.metadata(), APPEND_ONLY)? {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::ConstraintViolation,
        "the table is append-only: no row of it may be removed or changed",
    )
    .with("field", APPEND_ONLY)
    .hint("set delta.appendOnly to false first"))
}

/// Verifies that rows of a table may be removed by deletion vectors.
///
/// Protocol: *Deletion Vectors*, *Writer Requirements for Deletion Vectors*.
///
/// # Errors
///
/// Returns `UnsupportedFeature` if the table has no deletion vectors or must not get any, and the errors
/// of [`ensure_removable`].
pub fn ensure_vectors_writable(table: &TableConfiguration) -> Result<()> {
    ensure_removable(table)?;
    if supports_for_writers(table.protocol(), "deletionVectors") && boolean(table.metadata(), ENABLE_VECTORS)?
    {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::UnsupportedFeature,
        "deletion vectors are not enabled, so single rows of a file cannot be deleted",
    )
    .with("feature", "deletionVectors")
    .hint("set delta.enableDeletionVectors to true, or rewrite the files without these rows"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::actions::{Metadata, Protocol};

    fn metadata(properties: serde_json::Value) -> Metadata {
        let schema =
            r#"{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{}}]}"#;
        serde_json::from_value(json!({
            "id": "t", "format": {"provider": "parquet"}, "partitionColumns": [],
            "schemaString": schema, "configuration": properties,
        }))
        .expect("these are metadata")
    }

    fn protocol(features: &[&str]) -> Protocol {
        Protocol {
            min_reader_version: 3,
            min_writer_version: 7,
            reader_features: Some(features.iter().map(|name| (*name).to_owned()).collect()),
            writer_features: Some(features.iter().map(|name| (*name).to_owned()).collect()),
        }
    }

    fn plain() -> Protocol {
        Protocol {
            min_reader_version: 1,
            min_writer_version: 2,
            reader_features: None,
            writer_features: None,
        }
    }

    /// protocol: append-only-tables.3, append-only-tables.4
    #[test]
    fn no_row_is_deleted_from_an_append_only_table() {
        for (properties, refused) in [
            (json!({}), None),
            (json!({"delta.appendOnly": "false"}), None),
            (
                json!({"delta.appendOnly": "true"}),
                Some(ErrorKind::ConstraintViolation),
            ),
            (
                json!({"delta.appendOnly": "perhaps"}),
                Some(ErrorKind::CorruptLog),
            ),
        ] {
            let table = TableConfiguration::new(plain(), metadata(properties));
            let checked = ensure_removable(&table);
            assert_eq!(checked.map_err(|error| error.kind()).err(), refused, "{table:?}");
        }
    }

    /// protocol: deletion-vectors.1, deletion-vectors.2, deletion-vectors.3
    #[test]
    fn deletion_vectors_are_written_where_the_table_has_them_and_wants_them() {
        let on = json!({"delta.enableDeletionVectors": "true"});
        for (protocol, properties, refused) in [
            (protocol(&["deletionVectors"]), on.clone(), None),
            (
                protocol(&["deletionVectors"]),
                json!({}),
                Some(ErrorKind::UnsupportedFeature),
            ),
            (plain(), on, Some(ErrorKind::UnsupportedFeature)),
            (
                protocol(&["deletionVectors"]),
                json!({"delta.enableDeletionVectors": "true", "delta.appendOnly": "true"}),
                Some(ErrorKind::ConstraintViolation),
            ),
        ] {
            let table = TableConfiguration::new(protocol, metadata(properties));
            let checked = ensure_vectors_writable(&table);
            assert_eq!(checked.map_err(|error| error.kind()).err(), refused, "{table:?}");
        }
    }
}
