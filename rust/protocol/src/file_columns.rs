//! What features and properties require of the columns of data files.
//!
//! Protocol: *Writer Requirements for Clustered Table*, *Materialize Partition Columns*, *Iceberg Compatibility V1* and
//! *V2*, *Variant Shredding*, *Per-file Statistics*.

use crate::clustering::{DOMAIN, columns};
use crate::features::supports_for_writers;
use crate::iceberg_compat::IcebergCompat;
use crate::properties::{IndexedColumns, boolean, indexed_columns};
use crate::{Result, TableConfiguration};

/// The columns of which a writer of the table writes statistics: those of its properties, and its clustering columns.
///
/// # Errors
///
/// Returns `CorruptLog` with the property or domain as `field` if it is invalid.
pub fn statistics_columns(table: &TableConfiguration) -> Result<IndexedColumns> {
    let indexed = indexed_columns(table.metadata())?;
    let is_clustered = supports_for_writers(table.protocol(), "clustering");
    let Some(domain) = table.domain(DOMAIN).filter(|_| is_clustered) else {
        return Ok(indexed);
    };
    let clustered = columns(domain, &*table.schema()?, table.column_mapping()?)?;
    Ok(match clustered.is_empty() {
        true => indexed,
        false => IndexedColumns::Also(Box::new(indexed), clustered),
    })
}

/// Whether data files of the table contain its partition columns, after the others. Readers use the values in the log.
///
/// # Errors
///
/// Returns `CorruptLog` with the property as `field` if it is neither true nor false.
pub fn has_partition_columns_in_files(table: &TableConfiguration) -> Result<bool> {
    Ok(
        supports_for_writers(table.protocol(), "materializePartitionColumns")
            || !IcebergCompat::active(table)?.is_empty()
            || boolean(table.metadata(), "delta.writePartitionColumnsToParquet")?,
    )
}

/// Whether a writer shreds variants.
///
/// Protocol: *Variant Shredding*.
///
/// # Errors
///
/// Returns `CorruptLog` with the property as `field` if it is neither true nor false.
pub fn shreds_variants(table: &TableConfiguration) -> Result<bool> {
    let has = |feature| supports_for_writers(table.protocol(), feature);
    Ok(has("variantType")
        && has("variantShredding")
        && boolean(table.metadata(), "delta.enableVariantShredding")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::DomainMetadata;
    use crate::samples::{metadata, protocol};

    const SCHEMA: &str = r#"{"type":"struct","fields":[
        {"name":"a","type":"long","nullable":true,"metadata":{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"p-a"}},
        {"name":"b","type":"long","nullable":true,"metadata":{"delta.columnMapping.id":2,"delta.columnMapping.physicalName":"p-b"}}]}"#;

    /// protocol: writer-requirements-for-clustered-table.3
    #[test]
    fn clustering_columns_have_statistics_whatever_the_properties_say() -> Result<()> {
        let names = |features: &[&str], mode: &str, clustered: &str| -> Result<Vec<String>> {
            let mut metadata = metadata(&[
                ("delta.dataSkippingNumIndexedCols", "0"),
                ("delta.columnMapping.mode", mode),
            ]);
            metadata.schema_string = SCHEMA.to_owned();
            let domain = DomainMetadata {
                domain: DOMAIN.to_owned(),
                configuration: clustered.to_owned(),
                removed: false,
            };
            let table = TableConfiguration::new(protocol(2, 7, features), metadata).with_domains([domain]);
            let schema = table.schema()?;
            let leaves = statistics_columns(&table)?;
            let leaves = leaves.leaves(&schema);
            Ok(leaves.iter().flatten().map(|field| field.name.clone()).collect())
        };
        let clustered = ["clustering", "columnMapping", "domainMetadata"];
        let by = r#"{"clusteringColumns":[["b"]]}"#;
        assert_eq!(names(&clustered, "none", by)?, ["b"]);
        assert_eq!(
            names(&clustered, "name", r#"{"clusteringColumns":["p-a"]}"#)?,
            ["a"]
        );
        assert!(names(&clustered, "none", r#"{"clusteringColumns":[]}"#)?.is_empty());
        assert!(names(&["domainMetadata"], "none", by)?.is_empty());
        assert!(names(&clustered, "none", r#"{"clusteringColumns":["gone"]}"#).is_err());
        Ok(())
    }

    /// protocol: beyond:materialized-partitions.1, beyond:iceberg-compat-v3.1
    #[test]
    fn a_feature_decides_before_the_property_whether_files_have_partition_columns() -> Result<()> {
        let key = "delta.writePartitionColumnsToParquet";
        let (one, two, three) = (
            ("delta.enableIcebergCompatV1", "true"),
            ("delta.enableIcebergCompatV2", "true"),
            ("delta.enableIcebergCompatV3", "true"),
        );
        for (features, properties, expected) in [
            (&[][..], &[][..], false),
            (&[], &[(key, "true")], true),
            (&[], &[(key, "false")], false),
            (&["materializePartitionColumns"], &[], true),
            (&["materializePartitionColumns"], &[(key, "false")], true),
            (&["icebergCompatV1"], &[one, (key, "false")], true),
            (&["icebergCompatV2"], &[two], true),
            (&["icebergCompatV3"], &[three], true),
            (
                &["icebergCompatV2"],
                &[("delta.enableIcebergCompatV2", "false")],
                false,
            ),
        ] {
            let table = TableConfiguration::new(protocol(2, 7, features), metadata(properties));
            assert_eq!(
                has_partition_columns_in_files(&table)?,
                expected,
                "{features:?} {properties:?}"
            );
        }
        Ok(())
    }
}
