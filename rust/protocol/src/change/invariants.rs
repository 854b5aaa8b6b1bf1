//! Invariants of every configuration that a change returns.
//!
//! Protocol: *Supported Features*, *Column Mapping*, *Row Tracking*, *Clustered Table*, *Iceberg
//! Compatibility V1* and *V2*.

use crate::TableConfiguration;
use crate::features::{contradictions, supports_for_writers};
use crate::in_commit_timestamp::InCommitTimestamps;
use crate::properties::boolean;
use crate::row_tracking::RowTracking;
use crate::schema::{PrimitiveType, StructType};
use crate::{Error, ErrorKind, Result, column_mapping, iceberg_compat, properties};

/// The columns that the change data feed adds.
const CHANGE_COLUMNS: &[&str] = &["_change_type", "_commit_version", "_commit_timestamp"];

/// Verifies that a configuration is consistent. Contradictions between features that existed before the
/// change are ignored.
pub(super) fn ensure_consistent(table: &TableConfiguration, before: &TableConfiguration) -> Result<()> {
    table.protocol().validate()?;
    let known = contradictions(before.protocol());
    if let Some(new) = contradictions(table.protocol())
        .into_iter()
        .find(|new| !known.contains(new))
    {
        return Err(Error::new(ErrorKind::SchemaMismatch, new.to_string())
            .with("feature", new.feature())
            .hint("add or drop features so that they agree"));
    }
    let schema = table.schema()?;
    let mode = table.column_mapping()?;
    column_mapping::validate(&schema, table.metadata(), mode)?;
    let enabled = boolean(table.metadata(), "delta.enableRowTracking")?;
    if enabled && boolean(table.metadata(), "delta.rowTrackingSuspended")? {
        return Err(Error::new(
            ErrorKind::SchemaMismatch,
            "row tracking cannot be enabled and suspended at once",
        )
        .with("field", "delta.rowTrackingSuspended")
        .hint("set delta.enableRowTracking to false, or delta.rowTrackingSuspended"));
    }
    if let RowTracking::Enabled(columns) = RowTracking::of(table)? {
        columns.validate(&schema, mode)?;
    }
    InCommitTimestamps::of(table)?;
    iceberg_compat::ensure_kept(table)?;
    super::clustering::ensure_consistent(table, &schema, mode)?;
    ensure_free_of_change_columns(table, &schema)?;
    ensure_columns(table, &schema)?;
    properties::indexed_columns(table.metadata())?;
    Ok(())
}

fn ensure_free_of_change_columns(table: &TableConfiguration, schema: &StructType) -> Result<()> {
    // Without the feature, the property does not bind writers.
    let is_supported = supports_for_writers(table.protocol(), "changeDataFeed");
    if !(boolean(table.metadata(), "delta.enableChangeDataFeed")? && is_supported) {
        return Ok(());
    }
    let taken = |name: &&&str| schema.field_ignoring_case(name).is_some();
    match CHANGE_COLUMNS.iter().find(taken) {
        None => Ok(()),
        Some(name) => Err(Error::new(
            ErrorKind::SchemaMismatch,
            format!("the table has a column {name}, which the change data feed adds"),
        )
        .with("field", *name)
        .hint("rename the column, or leave delta.enableChangeDataFeed false")),
    }
}

/// Verifies that there is a column that is not a partition column, and that partition columns can have
/// values.
fn ensure_columns(table: &TableConfiguration, schema: &StructType) -> Result<()> {
    let partitions = &table.metadata().partition_columns;
    if !schema.fields.is_empty() && schema.fields.len() <= partitions.len() {
        return Err(Error::new(
            ErrorKind::SchemaMismatch,
            "a table needs a column that it is not partitioned by",
        )
        .with("field", "partitionColumns"));
    }
    for field in schema
        .fields
        .iter()
        .filter(|field| partitions.contains(&field.name))
    {
        if field.data_type.as_primitive() == Some(PrimitiveType::Variant) {
            return Err(Error::new(
                ErrorKind::SchemaMismatch,
                format!("a table cannot be partitioned by the variant {}", field.name),
            )
            .with("field", field.name.as_str()));
        }
    }
    Ok(())
}
