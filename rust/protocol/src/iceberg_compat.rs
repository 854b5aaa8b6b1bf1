//! Iceberg compatibility: the requirements that writers meet so that Iceberg can read the table.
//!
//! Protocol: *Iceberg Compatibility V1*, *Iceberg Compatibility V2*, *Iceberg Compatibility V3*.

use crate::actions::Metadata;
use crate::column_mapping::{each_field, lacks_nested_ids};
use crate::features::supports_for_writers;
use crate::properties::boolean;
use crate::row_tracking::RowTracking;
use crate::schema::{DataType, PrimitiveType, StructType};
use crate::schema_evolution::ensure_iceberg_has;
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
        for version in [Self::V1, Self::V2, Self::V3] {
            if supports_for_writers(protocol, version.feature()) && boolean(metadata, version.property())? {
                active.push(version);
            }
        }
        Ok(active)
    }

    /// The feature with these requirements.
    #[must_use]
    pub fn feature(self) -> &'static str {
        match self {
            Self::V1 => "icebergCompatV1",
            Self::V2 => "icebergCompatV2",
            Self::V3 => "icebergCompatV3",
        }
    }

    /// The property that enables the feature.
    fn property(self) -> &'static str {
        match self {
            Self::V1 => "delta.enableIcebergCompatV1",
            Self::V2 => "delta.enableIcebergCompatV2",
            Self::V3 => "delta.enableIcebergCompatV3",
        }
    }

    /// Whether elements, keys and values of the table must have ids.
    ///
    /// # Errors
    ///
    /// Those of [`Self::active`].
    pub(crate) fn needs_nested_ids(table: &TableConfiguration) -> Result<bool> {
        Ok(Self::active(table)?.iter().any(|version| *version != Self::V1))
    }

    /// Whether columns may have this type.
    fn allows(self, part: &DataType) -> bool {
        match part {
            DataType::Primitive(PrimitiveType::Void) | DataType::Unknown(_) => false,
            DataType::Primitive(PrimitiveType::Variant) => self == Self::V3,
            DataType::Primitive(_) | DataType::Struct(_) => true,
            DataType::Array(_) | DataType::Map(_) => self != Self::V1,
        }
    }
}

/// The `field_id` in Parquet of the column with the row ids of copied rows, and of that with their row commit versions.
///
/// Protocol: *Writer Requirements for IcebergCompatV3*.
pub const ROW_TRACKING_FIELD_IDS: [i32; 2] = [2_147_483_540, 2_147_483_539];

/// Whether clients describe the table as an Iceberg table too, with metadata in its folder.
#[must_use]
pub fn has_iceberg_metadata(metadata: &Metadata) -> bool {
    let formats = metadata.property("delta.universalFormat.enabledFormats");
    let mut formats = formats.unwrap_or_default().split(',');
    formats.any(|format| format.trim().eq_ignore_ascii_case("iceberg"))
}

/// Verifies that the schema and properties of a table meet the active requirements.
///
/// Protocol: *Writer Requirements for IcebergCompatV1*, *Writer Requirements for IcebergCompatV2*, *Writer Requirements for
/// IcebergCompatV3*.
///
/// # Errors
///
/// Returns `SchemaMismatch` with the `field` that violates a requirement.
pub fn ensure_kept(table: &TableConfiguration) -> Result<()> {
    let (protocol, metadata, schema) = (table.protocol(), table.metadata(), table.schema()?);
    let active = IcebergCompat::active(table)?;
    if active.is_empty() && has_iceberg_metadata(metadata) {
        return broken(
            "delta.universalFormat.enabledFormats",
            "no version of the requirements is enabled",
            "set delta.enableIcebergCompatV2 to true first",
        );
    }
    let Some(first) = active.first() else {
        return Ok(());
    };
    if let [.., last] = active.as_slice()
        && last != first
    {
        let names: Vec<&str> = active.iter().map(|version| version.property()).collect();
        return broken(
            last.property(),
            &format!(
                "only one version of the requirements can be enabled, not {}",
                names.join(" and ")
            ),
            "set the others to false",
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
    if *first == IcebergCompat::V3 && !matches!(RowTracking::of(table)?, RowTracking::Enabled(_)) {
        return broken(
            "delta.enableRowTracking",
            "it requires row tracking",
            "set delta.enableRowTracking to true first",
        );
    }
    ensure_types(*first, &schema)?;
    if *first != IcebergCompat::V1 {
        ensure_nested_ids(&schema)?;
    }
    if *first == IcebergCompat::V3 {
        ensure_literal_defaults(&schema)?;
    }
    Ok(())
}

/// Verifies that the types, and their recorded changes, are those that Iceberg has.
fn ensure_types(version: IcebergCompat, schema: &StructType) -> Result<()> {
    let mut lacking = None;
    schema.for_each_part(&mut |path, part| {
        if !version.allows(part) && lacking.is_none() {
            lacking = Some((path.to_owned(), part.to_string()));
        }
    });
    if let Some((path, data_type)) = lacking {
        return broken(
            &path,
            &format!("it excludes the type {data_type} of {path}"),
            "omit the column, or disable Iceberg compatibility",
        );
    }
    let mut found = Ok(());
    each_field(schema, &mut |field| {
        if found.is_ok() {
            found = field.type_changes().and_then(|changes| {
                let mut changes = changes.iter();
                changes.try_for_each(|change| ensure_iceberg_has(&field.name, change.from, change.to))
            });
        }
    });
    found
}

/// Verifies that elements, keys and values have ids.
fn ensure_nested_ids(schema: &StructType) -> Result<()> {
    let mut lacking = None;
    each_field(schema, &mut |field| {
        if lacking.is_none() && lacks_nested_ids(field) {
            lacking = Some(field.name.clone());
        }
    });
    match lacking {
        None => Ok(()),
        Some(name) => broken(
            &name,
            &format!("it requires ids of the elements, keys and values of {name}"),
            "set Iceberg compatibility to false and to true again, which assigns them",
        ),
    }
}

/// Verifies that the default of every column is a literal.
fn ensure_literal_defaults(schema: &StructType) -> Result<()> {
    for field in &schema.fields {
        let Some(default) = field.current_default() else {
            continue;
        };
        if !is_literal(default) {
            return broken(
                &field.name,
                &format!("the default of {} must be a literal and is {default}", field.name),
                "set the default to a literal, or drop it",
            );
        }
    }
    Ok(())
}

/// Whether SQL text has no function, cast or operator.
fn is_literal(text: &str) -> bool {
    // Every second part is within quotes.
    let parts = text.trim().trim_start_matches('-').split('\'').step_by(2);
    parts
        .into_iter()
        .all(|part| !part.contains(['(', '+', '-', '*', '/', '%', '|']))
}

fn broken(field: &str, message: &str, hint: &str) -> Result<()> {
    Err(Error::new(
        ErrorKind::SchemaMismatch,
        format!("Iceberg compatibility is enabled: {message}"),
    )
    .with("field", field)
    .hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::Metadata;
    use crate::samples::{metadata, protocol};

    #[test]
    fn a_promise_rules_out_what_iceberg_has_not() -> Result<()> {
        let of = |data_type: &str, more: &str| {
            format!(
                r#"{{"type":"struct","fields":[{{"name":"a","type":{data_type},"nullable":true,
                    "metadata":{{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"a"{more}}}}}]}}"#
            )
        };
        let list = r#"{"type":"array","elementType":"long","containsNull":true}"#;
        let ids = r#","parquet.field.nested.ids":{"a.element":2}"#;
        let mode = ("delta.columnMapping.mode", "name");
        let one = ("delta.enableIcebergCompatV1", "true");
        let two = ("delta.enableIcebergCompatV2", "true");
        let three = ("delta.enableIcebergCompatV3", "true");
        let tracked = ("delta.enableRowTracking", "true");
        let id = ("delta.rowTracking.materializedRowIdColumnName", "_id");
        let version = (
            "delta.rowTracking.materializedRowCommitVersionColumnName",
            "_version",
        );
        let vectors = ("delta.enableDeletionVectors", "true");
        let iceberg = ("delta.universalFormat.enabledFormats", "hudi, Iceberg");
        for (features, properties, data_type, kept) in [
            (
                &["icebergCompatV3", "rowTracking"][..],
                &[three, mode, tracked, id, version][..],
                r#""variant""#,
                true,
            ),
            (
                &["icebergCompatV3", "rowTracking", "deletionVectors"],
                &[three, mode, tracked, id, version, vectors],
                list,
                true,
            ),
            (
                &["icebergCompatV3", "rowTracking"],
                &[three, mode, tracked, id, version],
                r#""void""#,
                false,
            ),
            (
                &["icebergCompatV3", "rowTracking"],
                &[three, tracked, id, version],
                r#""long""#,
                false,
            ),
            (
                &["icebergCompatV3", "rowTracking"],
                &[three, mode],
                r#""long""#,
                false,
            ),
            (
                &["icebergCompatV2", "icebergCompatV3", "rowTracking"],
                &[two, three, mode, tracked, id, version],
                r#""long""#,
                false,
            ),
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
                    schema_string: of(data_type, if data_type == list { ids } else { "" }),
                    ..metadata(properties)
                },
            ));
            assert_eq!(found.is_ok(), kept, "{features:?} {properties:?} {data_type}");
        }
        Ok(())
    }

    /// protocol: writer-requirements-for-icebergcompatv2.2, beyond:iceberg-compat-v3.1, beyond:type-widening.6
    #[test]
    fn columns_have_nested_ids_literal_defaults_and_changes_that_iceberg_has() {
        for (version, data_type, more, kept) in [
            (
                2,
                r#"{"type":"array","elementType":"long","containsNull":true}"#,
                "",
                false,
            ),
            (
                2,
                r#"{"type":"map","keyType":"long","valueType":"long","valueContainsNull":true}"#,
                r#","delta.columnMapping.nested.ids":{"a.key":2}"#,
                false,
            ),
            (
                2,
                r#"{"type":"map","keyType":"long","valueType":"long","valueContainsNull":true}"#,
                r#","delta.columnMapping.nested.ids":{"a.key":2,"a.value":3}"#,
                true,
            ),
            (2, r#""long""#, r#","CURRENT_DEFAULT":"1 + 1""#, true),
            (3, r#""long""#, r#","CURRENT_DEFAULT":"1 + 1""#, false),
            (3, r#""long""#, r#","CURRENT_DEFAULT":"-1""#, true),
            (3, r#""string""#, r#","CURRENT_DEFAULT":"'a (b)'""#, true),
            (3, r#""date""#, r#","CURRENT_DEFAULT":"current_date()""#, false),
            (
                2,
                r#""double""#,
                r#","delta.typeChanges":[{"fromType":"integer","toType":"double"}]"#,
                false,
            ),
            (
                3,
                r#""double""#,
                r#","delta.typeChanges":[{"fromType":"float","toType":"double"}]"#,
                true,
            ),
        ] {
            let schema = format!(
                r#"{{"type":"struct","fields":[{{"name":"a","type":{data_type},"nullable":true,
                    "metadata":{{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"a"{more}}}}}]}}"#
            );
            let (feature, property) = match version {
                2 => ("icebergCompatV2", "delta.enableIcebergCompatV2"),
                _ => ("icebergCompatV3", "delta.enableIcebergCompatV3"),
            };
            let found = ensure_kept(&TableConfiguration::new(
                protocol(2, 7, &["columnMapping", "rowTracking", "domainMetadata", feature]),
                Metadata {
                    schema_string: schema,
                    ..metadata(&[
                        (property, "true"),
                        ("delta.columnMapping.mode", "name"),
                        ("delta.enableRowTracking", "true"),
                        ("delta.rowTracking.materializedRowIdColumnName", "_id"),
                        (
                            "delta.rowTracking.materializedRowCommitVersionColumnName",
                            "_version",
                        ),
                    ])
                },
            ));
            assert_eq!(found.is_ok(), kept, "{version} {data_type} {more}");
        }
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
