//! The schema of a table whose rows are all replaced by others.
//!
//! Protocol: *Change Metadata*, *Column Mapping*, *Iceberg Compatibility V1* and *V2*.

use super::columns::store;
use super::finished::finished;
use super::replaced::ensure_partitions_stay;
use crate::change_context::ChangeContext;
use crate::column_mapping::{COLUMN_ID, ColumnMappingMode, PHYSICAL_NAME, logical_path};
use crate::features::ensure_changeable;
use crate::schema::{ColumnName, DataType, StructField, StructType};
use crate::schema_evolution::ensure_names;
use crate::{Error, ErrorKind, Result, TableConfiguration, clustering};

/// Returns the configuration of a table with another schema, for a commit that replaces all rows. Properties, features
/// and domains remain. With column mapping, columns of the same name and type keep their ids and physical names; all
/// others get new ones, which are never reused.
///
/// # Errors
///
/// Those of [`super::change`]; `SchemaMismatch` with the `field` if a partition or clustering column is not in the new
/// schema.
pub fn with_schema(
    table: &TableConfiguration,
    schema: StructType,
    partition_columns: Option<&[String]>,
    context: &mut ChangeContext<'_>,
) -> Result<TableConfiguration> {
    ensure_changeable(table)?;
    let mode = table.column_mapping()?;
    ensure_names(&schema, mode)?;
    let before = table.schema()?;
    let mut schema = schema;
    for field in &mut schema.fields {
        let known = before.field_ignoring_case(&field.name);
        if let Some(known) = known.filter(|known| unmarked(&known.data_type) == unmarked(&field.data_type)) {
            keep_ids(field, known);
        }
    }
    let mut after = table.clone();
    let wanted = partition_columns.unwrap_or(&table.metadata().partition_columns);
    let columns = wanted
        .iter()
        .map(|name| partition_column(&schema, name, partition_columns.is_some()));
    let columns = columns.collect::<Result<_>>()?;
    store(&mut after, schema, mode, context)?;
    after.metadata_mut().partition_columns = columns;
    ensure_clustering_stays(&before, &after, mode)?;
    let after = finished(table, after, context)?;
    ensure_partitions_stay(table, &after)?;
    Ok(after)
}

/// Verifies that the new schema has the columns by which the table is clustered.
fn ensure_clustering_stays(
    before: &StructType,
    after: &TableConfiguration,
    mode: ColumnMappingMode,
) -> Result<()> {
    let Some(domain) = after.domain(clustering::DOMAIN) else {
        return Ok(());
    };
    let schema = after.schema()?;
    let paths = clustering::columns_in_log(domain)?;
    let Some(gone) = paths
        .iter()
        .find(|path| logical_path(&schema, path, mode).is_none())
    else {
        return Ok(());
    };
    let known = logical_path(before, gone, mode);
    let name = known.map_or_else(
        || gone.clone(),
        |names| names.into_iter().map(str::to_owned).collect(),
    );
    let name = ColumnName::from_parts(name).to_string();
    let what = format!("the new rows have no column {name} of its type, by which the table is clustered");
    Err(Error::new(ErrorKind::SchemaMismatch, what)
        .with("field", name)
        .hint("add the column, or change the clustering first: table.alter(deltaic.alter.ClusterBy())"))
}

/// A column keeps its id, its physical name and its type with the ids of its parts.
fn keep_ids(field: &mut StructField, known: &StructField) {
    field.data_type = known.data_type.clone();
    for (key, value) in &known.metadata {
        if key == COLUMN_ID || key == PHYSICAL_NAME || key.ends_with("nested.ids") {
            field.metadata.insert(key.clone(), value.clone());
        }
    }
}

/// A type without metadata, in which every part may be NULL.
fn unmarked(data_type: &DataType) -> DataType {
    let mut plain = data_type.clone();
    unmark(&mut plain);
    plain
}

fn unmark(data_type: &mut DataType) {
    match data_type {
        DataType::Struct(fields) => {
            for field in &mut fields.fields {
                field.metadata.clear();
                field.nullable = true;
                unmark(&mut field.data_type);
            }
        }
        DataType::Array(array) => {
            array.contains_null = true;
            unmark(&mut array.element_type);
        }
        DataType::Map(map) => {
            map.value_contains_null = true;
            unmark(&mut map.key_type);
            unmark(&mut map.value_type);
        }
        DataType::Primitive(_) | DataType::Unknown(_) => {}
    }
}

fn partition_column(schema: &StructType, name: &str, is_given: bool) -> Result<String> {
    let Some(field) = schema.field_ignoring_case(name) else {
        let error = Error::new(
            ErrorKind::SchemaMismatch,
            format!("the partition column {name} is not in the new schema"),
        );
        return Err(error.with("field", name).hint(match is_given {
            true => "partition by columns of the data",
            false => "add the column to the data, or pass other partition columns: partition_by=[…]",
        }));
    };
    if field.data_type.as_primitive().is_none() {
        let what = format!(
            "a table cannot be partitioned by {name} of type {}",
            field.data_type
        );
        return Err(Error::new(ErrorKind::SchemaMismatch, what).with("field", name));
    }
    Ok(field.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Version;
    use crate::column_mapping::{MAX_COLUMN_ID, field_id, physical_name};
    use crate::samples::{metadata, protocol};
    use crate::schema::PrimitiveType;

    fn column(name: &str, data_type: PrimitiveType) -> StructField {
        StructField::new(name, data_type.into(), true)
    }

    fn replaced(
        table: &TableConfiguration,
        fields: Vec<StructField>,
        partitions: Option<&[String]>,
    ) -> Result<TableConfiguration> {
        let mut names = 0;
        let mut new_id = || {
            names += 1;
            format!("new-{names}")
        };
        let mut context = ChangeContext {
            version: Version::try_new(3)?,
            timestamp_ms: 0,
            new_id: &mut new_id,
        };
        with_schema(table, StructType { fields }, partitions, &mut context)
    }

    fn mapped() -> TableConfiguration {
        let mut metadata = metadata(&[
            ("delta.columnMapping.mode", "name"),
            (MAX_COLUMN_ID, "9"),
            ("mine", "1"),
        ]);
        metadata.schema_string = r#"{"type":"struct","fields":[
            {"name":"a","type":"long","nullable":false,"metadata":{"comment":"c","delta.columnMapping.id":1,"delta.columnMapping.physicalName":"col-a"}},
            {"name":"b","type":"long","nullable":true,"metadata":{"delta.columnMapping.id":2,"delta.columnMapping.physicalName":"col-b"}}]}"#.to_owned();
        TableConfiguration::new(protocol(2, 5, &[]), metadata)
    }

    /// protocol: writer-requirements-for-column-mapping.3
    #[test]
    fn columns_that_stay_keep_their_ids_and_ids_are_never_reused() -> Result<()> {
        let fields = vec![
            column("A", PrimitiveType::Long),
            column("b", PrimitiveType::String),
            column("c", PrimitiveType::TimestampNtz),
        ];
        let after = replaced(&mapped(), fields, None)?;
        let schema = after.schema()?;
        let ids: Vec<_> = schema
            .fields
            .iter()
            .map(|field| (field_id(field), physical_name(field)))
            .collect();
        assert_eq!(
            ids,
            [
                (Some(1), Some("col-a")),
                (Some(10), Some("col-new-1")),
                (Some(11), Some("col-new-2"))
            ]
        );
        assert!(schema.fields[0].nullable && !schema.fields[0].metadata.contains_key("comment"));
        assert_eq!(after.metadata().property(MAX_COLUMN_ID), Some("11"));
        assert_eq!(after.metadata().property("mine"), Some("1"));
        // A new type is a new feature.
        assert!(
            after
                .protocol()
                .reader_features
                .iter()
                .flatten()
                .any(|name| name == "timestampNtz")
        );
        Ok(())
    }

    #[test]
    fn partitioning_stays_unless_it_is_changed() -> Result<()> {
        let mut table = mapped();
        table.metadata_mut().partition_columns = vec!["b".to_owned()];
        let fields = || vec![column("x", PrimitiveType::Long), column("B", PrimitiveType::Date)];
        assert_eq!(
            replaced(&table, fields(), None)?.metadata().partition_columns,
            ["B"]
        );
        assert!(
            replaced(&table, fields(), Some(&[]))?
                .metadata()
                .partition_columns
                .is_empty()
        );
        let missing = replaced(&table, vec![column("x", PrimitiveType::Long)], None).err();
        assert_eq!(missing.map(|error| error.kind()), Some(ErrorKind::SchemaMismatch));
        let all = replaced(&table, fields(), Some(&["x".to_owned(), "B".to_owned()])).err();
        assert_eq!(all.map(|error| error.kind()), Some(ErrorKind::SchemaMismatch));
        Ok(())
    }
}
