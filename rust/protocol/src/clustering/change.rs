//! Sets the clustering columns of a table.
//!
//! Protocol: *Clustered Table*, *Writer Requirements for Clustered Table*.

use serde_json::json;

use super::{DOMAIN, columns, columns_in_log};
use crate::change::Form;
use crate::column_mapping::{ColumnMappingMode, name_in_log};
use crate::features::supports_for_writers;
use crate::properties::indexed_columns;
use crate::schema::evolution::find;
use crate::schema::{ColumnName, DataType, PrimitiveType, StructField, StructType};
use crate::{Error, ErrorKind, Result};

/// Maximum number of clustering columns. More do not improve clustering, and other writers do not accept
/// more.
const MOST: usize = 4;

/// Sets or clears the clustering columns. The domain contains the names used in the log; it remains if
/// there are no clustering columns, because the feature remains too.
pub(crate) fn set(form: &mut Form, schema: &StructType, names: &[ColumnName]) -> Result<()> {
    let wrong = |message: String, hint: &str| Err(Error::new(ErrorKind::InvalidArgument, message).hint(hint));
    if names.len() > MOST {
        return wrong(
            format!("{} clustering columns are more than {MOST}", names.len()),
            "choose those that queries ask about most",
        );
    }
    if names.is_empty() && form.domain(DOMAIN).is_none() {
        return Ok(());
    }
    let mode = form.mapping()?;
    let mut paths: Vec<Vec<String>> = Vec::new();
    for name in names {
        let found = find(schema, name)?;
        found.ensure_field("a clustering column")?;
        let path = path_in_log(schema, &found.field, mode)
            .ok_or_else(|| in_the_way(name, "it lies in an array or a map, which have no bounds"))?;
        if paths.contains(&path) {
            return wrong(
                format!("the clustering column {name} is given twice"),
                "name it once",
            );
        }
        paths.push(path);
    }
    form.require(&["clustering"])?;
    // The protocol specifies a list of names, which cannot represent a nested field; writers store lists
    // of paths.
    let configuration = json!({"clusteringColumns": paths, "domainName": DOMAIN});
    form.put_domain(DOMAIN, configuration.to_string());
    Ok(())
}

/// Verifies that a table can be clustered as its domain specifies: by columns with bounds that are not
/// partition columns.
pub(crate) fn ensure_sound(form: &Form, schema: &StructType, mode: ColumnMappingMode) -> Result<()> {
    let Some(domain) = form
        .domain(DOMAIN)
        .filter(|_| supports_for_writers(&form.protocol, "clustering"))
    else {
        return Ok(());
    };
    if columns_in_log(domain)?.is_empty() {
        return Ok(());
    }
    if !form.metadata.partition_columns.is_empty() {
        return Err(Error::new(
            ErrorKind::SchemaMismatch,
            "a table cannot be clustered and partitioned at once",
        )
        .with("field", "partitionColumns")
        .hint("write the table anew without partition columns, then cluster it"));
    }
    let leaves = indexed_columns(&form.metadata)?.leaves(schema);
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
    .hint("choose a column of numbers, dates, times or texts")
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

    fn form(properties: &[(&str, &str)]) -> Form {
        let mut form = Form {
            protocol: protocol(2, 5, &[]),
            metadata: metadata(properties),
            domains: Vec::new(),
        };
        form.metadata.schema_string = SCHEMA.to_owned();
        form
    }

    fn clustered(form: &Form, names: &[&str]) -> Result<Form> {
        let mut after = form.clone();
        let schema = after.schema()?;
        let columns: Result<Vec<ColumnName>> = names.iter().map(|name| ColumnName::parse(name)).collect();
        set(&mut after, &schema, &columns?)?;
        ensure_sound(&after, &schema, after.mapping()?)?;
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
            let after = clustered(&form(&[("delta.columnMapping.mode", mode)]), &["S.x", "a"])?;
            let domain = after.domain(DOMAIN).map(|domain| domain.configuration.as_str());
            assert_eq!(domain, Some(expected));
            assert_eq!(after.protocol.min_writer_version, 7);
            for name in ["clustering", "domainMetadata"] {
                assert!(supports_for_writers(&after.protocol, name), "{name}");
            }
            let none = clustered(&after, &[])?;
            assert_eq!(
                none.domain(DOMAIN).map(columns_in_log).transpose()?,
                Some(Vec::new())
            );
        }
        let plain = form(&[]);
        assert_eq!(clustered(&plain, &[])?, plain);
        Ok(())
    }

    /// protocol: writer-requirements-for-clustered-table.3, writer-requirements-for-clustered-table.8
    #[test]
    fn a_table_is_clustered_by_columns_with_statistics_and_not_partitioned() {
        let mut partitioned = form(&[]);
        partitioned.metadata.partition_columns = vec!["b".to_owned()];
        let few = form(&[("delta.dataSkippingNumIndexedCols", "2")]);
        let named = form(&[("delta.dataSkippingStatsColumns", "S")]);
        for (form, names, sound) in [
            (&form(&[]), &["a"][..], true),
            (&form(&[]), &["b"], false),
            (&form(&[]), &["s"], false),
            (&form(&[]), &["l"], false),
            (&form(&[]), &["l.element.y"], false),
            (&form(&[]), &["a", "A"], false),
            (&form(&[]), &["zzz"], false),
            (&form(&[]), &["a", "s.x", "b", "l", "s"], false),
            (&partitioned, &["a"], false),
            (&few, &["a"], true),
            (&few, &["s.x"], false),
            (&named, &["s.x"], true),
            (&named, &["a"], false),
        ] {
            assert_eq!(clustered(form, names).is_ok(), sound, "{names:?}");
        }
    }
}
