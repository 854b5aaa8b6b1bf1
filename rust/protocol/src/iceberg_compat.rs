//! Iceberg compatibility: the requirements that writers meet so that Iceberg can read the table.
//!
//! Protocol: *Iceberg Compatibility V1*, *Iceberg Compatibility V2*.

use crate::features::supports_for_writers;
use crate::properties::boolean;
use crate::schema::{DataType, PrimitiveType};
use crate::{Error, ErrorKind, Result, TableConfiguration};

/// A version of the requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IcebergCompat {
    /// Without maps and arrays.
    V1,
    /// With ids for elements, keys and values.
    V2,
    /// With row tracking and deletion vectors.
    V3,
}

impl IcebergCompat {
    /// The active versions: the protocol has the feature, and its property is true.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog` with the property as `field` if it is neither true nor false.
    pub fn active(table: &TableConfiguration) -> Result<Vec<Self>> {
        let (protocol, metadata) = (table.protocol(), table.metadata());
        let mut active = Vec::new();
        for (promises, feature, property) in [
            (Self::V1, "icebergCompatV1", "delta.enableIcebergCompatV1"),
            (Self::V2, "icebergCompatV2", "delta.enableIcebergCompatV2"),
            (Self::V3, "icebergCompatV3", "delta.enableIcebergCompatV3"),
        ] {
            if supports_for_writers(protocol, feature) && boolean(metadata, property)? {
                active.push(promises);
            }
        }
        Ok(active)
    }
}

/// Verifies that the schema and properties of a table meet the active requirements.
///
/// Protocol: *Writer Requirements for IcebergCompatV1*, *Writer Requirements for IcebergCompatV2*.
///
/// # Errors
///
/// Returns `SchemaMismatch` with the `field` that violates a requirement.
pub(crate) fn ensure_kept(table: &TableConfiguration) -> Result<()> {
    let (protocol, metadata, schema) = (table.protocol(), table.metadata(), table.schema()?);
    let active = IcebergCompat::active(table)?;
    let broken = |field: &str, message: &str, hint: &str| {
        Err(Error::new(
            ErrorKind::SchemaMismatch,
            format!("Iceberg compatibility is enabled: {message}"),
        )
        .with("field", field)
        .hint(hint))
    };
    let formats = metadata
        .property("delta.universalFormat.enabledFormats")
        .unwrap_or_default();
    if active.is_empty()
        && formats
            .split(',')
            .any(|format| format.trim().eq_ignore_ascii_case("iceberg"))
    {
        return broken(
            "delta.universalFormat.enabledFormats",
            "no version of the requirements is enabled",
            "set delta.enableIcebergCompatV2 to true first",
        );
    }
    let Some(first) = active.first() else {
        return Ok(());
    };
    if active.len() > 1 {
        return broken(
            "delta.enableIcebergCompatV2",
            "only one version of the requirements can be enabled",
            "set the older one to false",
        );
    }
    if !table.column_mapping()?.is_mapped() {
        return broken(
            "delta.columnMapping.mode",
            "it requires column mapping",
            "set delta.columnMapping.mode to name first",
        );
    }
    let vectors = supports_for_writers(protocol, "deletionVectors");
    if *first == IcebergCompat::V1 && vectors
        || *first == IcebergCompat::V2 && vectors && boolean(metadata, "delta.enableDeletionVectors")?
    {
        return broken(
            "delta.enableDeletionVectors",
            "it excludes deletion vectors",
            "disable deletion vectors, or Iceberg compatibility",
        );
    }
    let mut lacking = None;
    schema.for_each_part(&mut |path, part| {
        let has = match part {
            DataType::Primitive(primitive) => {
                !matches!(primitive, PrimitiveType::Void | PrimitiveType::Variant)
            }
            DataType::Struct(_) => true,
            DataType::Array(_) | DataType::Map(_) => *first != IcebergCompat::V1,
            DataType::Unknown(_) => false,
        };
        if !has && lacking.is_none() {
            lacking = Some((path.to_owned(), part.to_string()));
        }
    });
    match lacking {
        None => Ok(()),
        Some((path, data_type)) => broken(
            &path,
            &format!("it excludes the type {data_type} of {path}"),
            "omit the column, or disable Iceberg compatibility",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::Metadata;
    use crate::samples::{metadata, protocol};

    #[test]
    fn a_promise_rules_out_what_iceberg_has_not() -> Result<()> {
        let of = |data_type: &str| {
            format!(
                r#"{{"type":"struct","fields":[{{"name":"a","type":{data_type},"nullable":true,
                    "metadata":{{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"a"}}}}]}}"#
            )
        };
        let list = r#"{"type":"array","elementType":"long","containsNull":true}"#;
        let mode = ("delta.columnMapping.mode", "name");
        let one = ("delta.enableIcebergCompatV1", "true");
        let two = ("delta.enableIcebergCompatV2", "true");
        let vectors = ("delta.enableDeletionVectors", "true");
        let iceberg = ("delta.universalFormat.enabledFormats", "hudi, Iceberg");
        for (features, properties, data_type, kept) in [
            (&["icebergCompatV1"][..], &[one, mode][..], r#""long""#, true),
            (&["icebergCompatV1"], &[one, mode, iceberg], r#""long""#, true),
            (&["icebergCompatV1"], &[one], r#""long""#, false),
            (&["icebergCompatV1"], &[one, mode], list, false),
            (&["icebergCompatV1"], &[one, mode], r#""void""#, false),
            (
                &["icebergCompatV1", "deletionVectors"],
                &[one, mode],
                r#""long""#,
                false,
            ),
            (&["icebergCompatV2"], &[two, mode], list, true),
            (&["icebergCompatV2"], &[two, mode], r#""void""#, false),
            (&["icebergCompatV2"], &[two, mode], r#""variant""#, false),
            (&["icebergCompatV2"], &[two, mode], r#""quaternion""#, false),
            (
                &["icebergCompatV2", "deletionVectors"],
                &[two, mode],
                r#""long""#,
                true,
            ),
            (
                &["icebergCompatV2", "deletionVectors"],
                &[two, mode, vectors],
                r#""long""#,
                false,
            ),
            (
                &["icebergCompatV1", "icebergCompatV2"],
                &[one, two, mode],
                r#""long""#,
                false,
            ),
            (&["icebergCompatV2"], &[vectors], r#""void""#, true),
            (&[], &[iceberg], r#""long""#, false),
        ] {
            let names: Vec<&str> = features.iter().copied().chain(["columnMapping"]).collect();
            let found = ensure_kept(&TableConfiguration::new(
                protocol(3, 7, &names),
                Metadata {
                    schema_string: of(data_type),
                    ..metadata(properties)
                },
            ));
            assert_eq!(found.is_ok(), kept, "{features:?} {properties:?} {data_type}");
        }
        Ok(())
    }

    #[test]
    fn promises_are_in_force_by_feature_and_property_together() -> Result<()> {
        let on = metadata(&[
            ("delta.enableIcebergCompatV1", "false"),
            ("delta.enableIcebergCompatV2", "true"),
            ("delta.enableIcebergCompatV3", "true"),
        ]);
        let both = protocol(2, 7, &["columnMapping", "icebergCompatV1", "icebergCompatV2"]);
        assert_eq!(
            IcebergCompat::active(&TableConfiguration::new(both.clone(), on.clone()))?,
            [IcebergCompat::V2]
        );
        assert!(IcebergCompat::active(&TableConfiguration::new(both.clone(), metadata(&[])))?.is_empty());
        assert!(IcebergCompat::active(&TableConfiguration::new(protocol(2, 6, &[]), on))?.is_empty());
        let odd = metadata(&[("delta.enableIcebergCompatV2", "perhaps")]);
        assert!(IcebergCompat::active(&TableConfiguration::new(both, odd)).is_err());
        Ok(())
    }
}
