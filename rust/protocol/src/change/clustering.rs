//! Sets the clustering columns of a table.
//!
//! Protocol: *Clustered Table*, *Writer Requirements for Clustered Table*.

use serde_json::json;

use crate::TableConfiguration;
use crate::clustering::{DOMAIN, columns, columns_in_log};
use crate::column_mapping::{ColumnMappingMode, name_in_log};
use crate::features::supports_for_writers;
use crate::properties::indexed_columns;
use crate::schema::{ColumnName, DataType, PrimitiveType, StructField, StructType};
use crate::schema_evolution::find;
use crate::{Error, ErrorKind, Result};

/// Maximum number of clustering columns. More do not improve clustering, and other writers do not accept
/// more.
const MOST: usize = 4;

/// Sets or clears the clustering columns. The domain contains the names used in the log; it remains if
/// there are no clustering columns, because the feature remains too.
pub(crate) fn set(table: &mut TableConfiguration, schema: &StructType, names: &[ColumnName]) -> Result<()> {
    let wrong = |message: String, hint: &str| Err(Error::new(ErrorKind::InvalidArgument, message).hint(hint));
    if names.len() > MOST {
        return wrong(
            format!("{} clustering columns are more than {MOST}", names.len()),
            "choose those that queries filter by most",
        );
    }
    if names.is_empty() && table.domain(DOMAIN).is_none() {
        return Ok(());
    }
    let mode = table.column_mapping()?;
    let mut paths: Vec<Vec<String>> = Vec::new();
    for name in names {
        let found = find(schema, name)?;
        found.ensure_field("a clustering column")?;
        let path = path_in_log(schema, &found.field, mode)
            .ok_or_else(|| in_the_way(name, "it is in an array or a map, which have no statistics"))?;
        if paths.contains(&path) {
            return wrong(
                format!("the clustering column {name} is given twice"),
                "name it once",
            );
        }
        paths.push(path);
    }
    table.require(&["clustering"])?;
    // The protocol specifies a list of names, which cannot represent a nested field; writers store lists
    // of paths.
    let configuration = json!({"clusteringColumns": paths, "domainName": DOMAIN});
    table.put_domain(DOMAIN, configuration.to_string());
    Ok(())
}

/// Verifies that a table can be clustered as its domain specifies: by columns with bounds that are not
/// partition columns.
pub(crate) fn ensure_consistent(
    table: &TableConfiguration,
    schema: &StructType,
    mode: ColumnMappingMode,
) -> Result<()> {
    let Some(domain) = table
        .domain(DOMAIN)
        .filter(|_| supports_for_writers(table.protocol(), "clustering"))
    else {
        return Ok(());
    };
    if columns_in_log(domain)?.is_empty() {
        return Ok(());
    }
    if !table.metadata().partition_columns.is_empty() {
        return Err(Error::new(
            ErrorKind::SchemaMismatch,
            "a table cannot be clustered and partitioned at once",
        )
        .with("field", "partitionColumns")
        .hint("rewrite the table without partition columns, then cluster it"));
    }
    let leaves = indexed_columns(table.metadata())?.leaves(schema);
    for column in columns(domain, schema, mode)? {
        let found = find(schema, &column)?;
        if !has_bounds(&found.data_type) {
            let message = format!("it is of the type {}, which has no bounds", found.data_type);
            return Err(in_the_way(&column, &message));
        }
        let is_it = |leaf: &Vec<&StructField>| leaf.iter().map(|field| &field.name).eq(column.parts());
        if !leaves.iter().any(is_it) {
            return Err(in_the_way(&column, "it gets no statistics")
                .hint("name it in delta.dataSkippingStatsColumns, or move it to the front"));
        }
    }
    Ok(())
}

fn in_the_way(column: &ColumnName, why: &str) -> Error {
    Error::new(
        ErrorKind::SchemaMismatch,
        format!("the table cannot be clustered by {column}: {why}"),
    )
    .with("field", column.to_string())
    .hint("choose a column of numbers, dates, timestamps or strings")
}

/// The names in the log of a path of nested struct fields.
fn path_in_log(schema: &StructType, path: &[String], mode: ColumnMappingMode) -> Option<Vec<String>> {
    let mut fields = Some(schema);
    let mut names = Vec::with_capacity(path.len());
    for part in path {
        let field = fields?.field(part)?;
        names.push(name_in_log(field, mode).to_owned());
        fields = match &field.data_type {
            DataType::Struct(below) => Some(below),
            _ => None,
        };
    }
    Some(names)
}

fn has_bounds(data_type: &DataType) -> bool {
    data_type.as_primitive().is_some_and(|primitive| {
        !matches!(
            primitive,
            PrimitiveType::Boolean | PrimitiveType::Binary | PrimitiveType::Void | PrimitiveType::Variant
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{metadata, protocol};

    const SCHEMA: &str = r#"{"type":"struct","fields":[
        {"name":"a","type":"long","nullable":true,"metadata":{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"p-a"}},
        {"name":"b","type":"boolean","nullable":true,"metadata":{"delta.columnMapping.id":2,"delta.columnMapping.physicalName":"p-b"}},
        {"name":"s","nullable":true,"metadata":{"delta.columnMapping.id":3,"delta.columnMapping.physicalName":"p-s"},"type":{"type":"struct","fields":[
            {"name":"x","type":"string","nullable":true,"metadata":{"delta.columnMapping.id":4,"delta.columnMapping.physicalName":"p-x"}}]}},
        {"name":"l","nullable":true,"metadata":{"delta.columnMapping.id":5,"delta.columnMapping.physicalName":"p-l"},"type":{"type":"array","containsNull":true,"elementType":
            {"type":"struct","fields":[{"name":"y","type":"long","nullable":true,"metadata":{"delta.columnMapping.id":6,"delta.columnMapping.physicalName":"p-y"}}]}}}]}"#;

    fn table(properties: &[(&str, &str)]) -> TableConfiguration {
        let mut table = TableConfiguration::new(protocol(2, 5, &[]), metadata(properties));
        table.metadata_mut().schema_string = SCHEMA.to_owned();
        table
    }

    fn clustered(table: &TableConfiguration, names: &[&str]) -> Result<TableConfiguration> {
        let mut after = table.clone();
        let schema = after.schema()?;
        let columns: Result<Vec<ColumnName>> = names.iter().map(|name| ColumnName::parse(name)).collect();
        set(&mut after, &schema, &columns?)?;
        ensure_consistent(&after, &schema, after.column_mapping()?)?;
        Ok(after)
    }

    /// protocol: clustered-table.1, clustered-table.2, clustered-table.3, writer-requirements-for-clustered-table.1,
    /// writer-requirements-for-clustered-table.2
    #[test]
    fn the_domain_has_the_names_of_the_log_and_the_table_the_features() -> Result<()> {
        for (mode, expected) in [
            (
                "none",
                r#"{"clusteringColumns":[["s","x"],["a"]],"domainName":"delta.clustering"}"#,
            ),
            (
                "name",
                r#"{"clusteringColumns":[["p-s","p-x"],["p-a"]],"domainName":"delta.clustering"}"#,
            ),
        ] {
            let after = clustered(&table(&[("delta.columnMapping.mode", mode)]), &["S.x", "a"])?;
            let domain = after.domain(DOMAIN).map(|domain| domain.configuration.as_str());
            assert_eq!(domain, Some(expected));
            assert_eq!(after.protocol().min_writer_version, 7);
            for name in ["clustering", "domainMetadata"] {
                assert!(supports_for_writers(after.protocol(), name), "{name}");
            }
            let none = clustered(&after, &[])?;
            assert_eq!(
                none.domain(DOMAIN).map(columns_in_log).transpose()?,
                Some(Vec::new())
            );
        }
        let plain = table(&[]);
        assert_eq!(clustered(&plain, &[])?, plain);
        Ok(())
    }

    /// protocol: writer-requirements-for-clustered-table.3, writer-requirements-for-clustered-table.8
    #[test]
    fn a_table_is_clustered_by_columns_with_statistics_and_not_partitioned() {
        let mut partitioned = table(&[]);
        partitioned.metadata_mut().partition_columns = vec!["b".to_owned()];
        let few = table(&[("delta.dataSkippingNumIndexedCols", "2")]);
        let named = table(&[("delta.dataSkippingStatsColumns", "S")]);
        for (table, names, sound) in [
            (&table(&[]), &["a"][..], true),
            (&table(&[]), &["b"], false),
            (&table(&[]), &["s"], false),
            (&table(&[]), &["l"], false),
            (&table(&[]), &["l.element.y"], false),
            (&table(&[]), &["a", "A"], false),
            (&table(&[]), &["zzz"], false),
            (&table(&[]), &["a", "s.x", "b", "l", "s"], false),
            (&partitioned, &["a"], false),
            (&few, &["a"], true),
            (&few, &["s.x"], false),
            (&named, &["s.x"], true),
            (&named, &["a"], false),
        ] {
            assert_eq!(clustered(table, names).is_ok(), sound, "{names:?}");
        }
    }
}
