//! Changes of columns and of everything in a table that depends on them.
//!
//! Protocol: *Column Mapping*, *Type Widening*, *Schema Serialization Format*.

use super::ChangeContext;
use super::depends::{Change, ensure_free};
use crate::TableConfiguration;
use crate::column_mapping::{ColumnMappingMode, MAX_COLUMN_ID, Names, assign};
use crate::iceberg_compat::IcebergCompat;
use crate::properties::boolean;
use crate::schema::{ColumnName, DataType, PrimitiveType, StructField, StructType, is_widening};
use crate::schema_evolution::{
    Found, Place, Widening, ensure_iceberg_has, ensure_new_field, fields_mut, find, insert,
    rename as renamed, widen,
};
use crate::{Error, ErrorKind, Result, properties};

/// Changes only the schema.
pub(super) fn edit(
    table: &mut TableConfiguration,
    edit: impl FnOnce(&mut StructType) -> Result<()>,
) -> Result<()> {
    let mut schema = table.schema_copy()?;
    edit(&mut schema)?;
    table.set_schema(&schema)
}

/// Adds a column, or a field to the struct at `within`.
pub(super) fn add(
    table: &mut TableConfiguration,
    field: &StructField,
    within: Option<&ColumnName>,
    place: &Place,
    context: &mut ChangeContext<'_>,
) -> Result<()> {
    let mut schema = table.schema_copy()?;
    let mode = table.column_mapping()?;
    let parents = match within {
        None => Vec::new(),
        Some(column) => {
            let found = find(&schema, column)?;
            if !matches!(found.data_type, DataType::Struct(_)) {
                return Err(Error::new(
                    ErrorKind::InvalidArgument,
                    format!("{column} has the type {}, which has no fields", found.data_type),
                )
                .with("field", column.to_string())
                .hint("write column.element for the structs of an array, column.value for those of a map"));
            }
            found.path()
        }
    };
    let fields = fields_mut(&mut schema, &parents)
        .ok_or_else(|| Error::internal("a struct that was found no longer exists"))?;
    ensure_new_field(field, fields, mode)?;
    insert(fields, field.clone(), place)?;
    store(table, schema, mode, context)
}

/// Replaces the schema with a merged one that extends it.
pub(super) fn merge_schema(
    table: &mut TableConfiguration,
    merged: StructType,
    context: &mut ChangeContext<'_>,
) -> Result<()> {
    let mode = table.column_mapping()?;
    let before = table.schema()?;
    ensure_new_ones(&before, &merged, mode)?;
    ensure_unasked(table, &before, &merged)?;
    store(table, merged, mode, context)
}

/// Verifies that each field that is only in the new schema can be added.
fn ensure_new_ones(before: &StructType, after: &StructType, mode: ColumnMappingMode) -> Result<()> {
    for field in &after.fields {
        match before.field(&field.name) {
            None => ensure_new_field(field, &before.fields, mode)?,
            Some(known) => ensure_new_parts(&known.data_type, &field.data_type, mode)?,
        }
    }
    Ok(())
}

fn ensure_new_parts(before: &DataType, after: &DataType, mode: ColumnMappingMode) -> Result<()> {
    match (before, after) {
        (DataType::Struct(before), DataType::Struct(after)) => ensure_new_ones(before, after, mode),
        (DataType::Array(before), DataType::Array(after)) => {
            ensure_new_parts(&before.element_type, &after.element_type, mode)
        }
        (DataType::Map(before), DataType::Map(after)) => {
            ensure_new_parts(&before.key_type, &after.key_type, mode)?;
            ensure_new_parts(&before.value_type, &after.value_type, mode)
        }
        _ => Ok(()),
    }
}

/// Verifies that nothing depends on the columns whose types change.
fn ensure_unasked(table: &TableConfiguration, before: &StructType, after: &StructType) -> Result<()> {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    before.for_each_part(&mut |path, part| old.push((path.to_owned(), part.as_primitive())));
    after.for_each_part(&mut |path, part| new.push((path.to_owned(), part.as_primitive())));
    for (path, was) in old.iter().filter(|(_, was)| was.is_some()) {
        if new.iter().any(|(other, is)| other == path && is != was) {
            // Dots between the parts of a path cannot be distinguished from dots in names, so the whole
            // column is checked.
            let column = before.names().find(|name| {
                path.strip_prefix(*name)
                    .is_some_and(|below| below.is_empty() || below.starts_with('.'))
            });
            if let Some(column) = column {
                if table
                    .metadata()
                    .partition_columns
                    .iter()
                    .any(|name| name == column)
                {
                    let what = format!(
                        "the type of the partition column {column} changes only when it is asked for"
                    );
                    return Err(Error::new(ErrorKind::SchemaMismatch, what)
                        .with("field", column)
                        .hint("change the column's type by name first"));
                }
                ensure_free(table, before, &[column.to_owned()], Change::Type)?;
            }
        }
    }
    Ok(())
}

/// Sets a schema with new columns, which get ids and physical names if columns are mapped.
pub(super) fn store(
    table: &mut TableConfiguration,
    mut schema: StructType,
    mode: ColumnMappingMode,
    context: &mut ChangeContext<'_>,
) -> Result<()> {
    if mode.is_mapped() {
        let mut highest = table.highest_column_id()?;
        let nested = IcebergCompat::needs_nested_ids(table)?;
        assign(
            &mut schema,
            &mut highest,
            &mut Names::New(&mut *context.new_id),
            nested,
        );
        table.set_property(MAX_COLUMN_ID, highest.to_string());
    }
    table.set_schema(&schema)
}

/// Renames a column or field. The physical name does not change, so data files are not affected.
pub(super) fn rename(table: &mut TableConfiguration, column: &ColumnName, to: &str) -> Result<()> {
    let mut schema = table.schema_copy()?;
    let found = find(&schema, column)?;
    let mode = ensure_mapped(table, &found, "renamed")?;
    if found.field.last().is_some_and(|name| name == to) {
        return Ok(());
    }
    ensure_free(table, &schema, &found.field, Change::Name)?;
    renamed(&mut schema, &found, to, mode)?;
    if let [name] = found.field.as_slice() {
        for partition in table
            .metadata_mut()
            .partition_columns
            .iter_mut()
            .filter(|column| *column == name)
        {
            to.clone_into(partition);
        }
    }
    let mut path = found.field.clone();
    if let Some(last) = path.last_mut() {
        to.clone_into(last);
    }
    properties::follow_column(table.metadata_mut(), &found.field, Some(&path))?;
    table.set_schema(&schema)
}

/// Drops a column or field. Its values remain in the files, under a physical name that is never reused.
pub(super) fn drop(table: &mut TableConfiguration, column: &ColumnName) -> Result<()> {
    let mut schema = table.schema_copy()?;
    let found = find(&schema, column)?;
    ensure_mapped(table, &found, "dropped")?;
    ensure_free(table, &schema, &found.field, Change::Drop)?;
    let (name, parents) = found.split()?;
    let partitions = table.metadata().partition_columns.len();
    let fields = fields_mut(&mut schema, parents)
        .ok_or_else(|| Error::internal("a struct that was found no longer exists"))?;
    let needed = if parents.is_empty() { partitions + 1 } else { 1 };
    if fields.len() <= needed {
        let holder = if parents.is_empty() {
            "the table".to_owned()
        } else {
            parents.join(".")
        };
        return Err(Error::new(
            ErrorKind::SchemaMismatch,
            format!("{column} is the last column of {holder} with data"),
        )
        .with("field", column.to_string())
        .hint("add another one first, or drop the parent"));
    }
    fields.retain(|field| field.name != name);
    // The highest id is retained: ids of dropped columns are never reused.
    let highest = table.highest_column_id()?;
    table.set_property(MAX_COLUMN_ID, highest.to_string());
    properties::follow_column(table.metadata_mut(), &found.field, None)?;
    table.set_schema(&schema)
}

/// Widens the type of a part of the schema.
pub(super) fn change_type(
    table: &mut TableConfiguration,
    column: &ColumnName,
    to: PrimitiveType,
) -> Result<()> {
    let mut schema = table.schema_copy()?;
    let found = find(&schema, column)?;
    let from = found.data_type.as_primitive();
    if from == Some(to) {
        return Ok(());
    }
    ensure_free(table, &schema, &found.path(), Change::Type)?;
    widen(&mut schema, &found, to)?;
    let path = found.path().join(".");
    if let Some(from) = from.filter(|from| *from != PrimitiveType::Void) {
        match widening_of(table)? {
            Widening::Allowed => {}
            Widening::AsIceberg => ensure_iceberg_has(&path, from, to)?,
            Widening::Forbidden => {
                return Err(Error::new(
                    ErrorKind::SchemaMismatch,
                    format!("the type of {path} cannot change: type widening is not enabled"),
                )
                .with("field", path)
                .hint("set the property delta.enableTypeWidening to true first"));
            }
        }
    }
    table.set_schema(&schema)
}

/// Whether writes to a table may widen the type of a column.
///
/// # Errors
///
/// Returns `InvalidArgument` or `CorruptLog` if the properties of the table are invalid.
pub fn may_widen(table: &TableConfiguration, from: PrimitiveType, to: PrimitiveType) -> Result<bool> {
    let widening = widening_of(table)?;
    Ok(is_widening(from, to)
        && match widening {
            Widening::Forbidden => false,
            Widening::Allowed => true,
            Widening::AsIceberg => ensure_iceberg_has("", from, to).is_ok(),
        })
}

/// Whether the types of a table may be widened.
pub(super) fn widening_of(table: &TableConfiguration) -> Result<Widening> {
    if !boolean(table.metadata(), "delta.enableTypeWidening")? {
        return Ok(Widening::Forbidden);
    }
    let promises = IcebergCompat::active(table)?;
    Ok(if promises.is_empty() {
        Widening::Allowed
    } else {
        Widening::AsIceberg
    })
}

/// Verifies that columns are mapped, so that their logical names can change.
fn ensure_mapped(table: &TableConfiguration, found: &Found, verb: &str) -> Result<ColumnMappingMode> {
    found.ensure_field(verb)?;
    let mode = table.column_mapping()?;
    if mode.is_mapped() {
        return Ok(mode);
    }
    let column = ColumnName::from_parts(found.field.clone()).to_string();
    Err(Error::new(
        ErrorKind::SchemaMismatch,
        format!("{column} cannot be {verb}: the data files of the table contain it under this name"),
    )
    .with("field", column)
    .hint("set the property delta.columnMapping.mode to name first"))
}
