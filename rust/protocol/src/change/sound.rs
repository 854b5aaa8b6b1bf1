//! Invariants of every configuration that a change returns.
//!
//! Protocol: *Supported Features*, *Column Mapping*, *Row Tracking*, *Clustered Table*, *Iceberg
//! Compatibility V1* and *V2*.

use super::Form;
use crate::features::{contradictions, supports_for_writers};
use crate::in_commit_timestamp::InCommitTimestamps;
use crate::properties::boolean;
use crate::row_tracking::RowTracking;
use crate::schema::{PrimitiveType, StructType};
use crate::{Error, ErrorKind, Result, clustering, column_mapping, iceberg_compat, properties};

/// The columns that the change data feed adds.
const CHANGE_COLUMNS: &[&str] = &["_change_type", "_commit_version", "_commit_timestamp"];

/// Verifies that a configuration is consistent. Contradictions between features that existed before the
/// change are ignored.
pub(super) fn ensure_sound(form: &Form, before: &Form) -> Result<()> {
    form.protocol.validate()?;
    let known = contradictions(&before.protocol);
    if let Some(new) = contradictions(&form.protocol)
        .into_iter()
        .find(|new| !known.contains(new))
    {
        return Err(Error::new(ErrorKind::SchemaMismatch, new.to_string())
            .with("feature", new.feature())
            .hint("add or drop features so that they agree"));
    }
    let schema = form.schema()?;
    let mode = form.mapping()?;
    column_mapping::validate(&schema, &form.metadata, mode)?;
    let enabled = boolean(&form.metadata, "delta.enableRowTracking")?;
    if enabled && boolean(&form.metadata, "delta.rowTrackingSuspended")? {
        return Err(Error::new(
            ErrorKind::SchemaMismatch,
            "row tracking cannot be enabled and suspended at once",
        )
        .with("field", "delta.rowTrackingSuspended")
        .hint("set delta.enableRowTracking to false, or delta.rowTrackingSuspended"));
    }
    if let RowTracking::Enabled(columns) = RowTracking::of(&form.protocol, &form.metadata)? {
        columns.validate(&schema, mode)?;
    }
    InCommitTimestamps::of(&form.protocol, &form.metadata)?;
    iceberg_compat::ensure_kept(&form.protocol, &form.metadata, &schema)?;
    clustering::ensure_sound(form, &schema, mode)?;
    ensure_free_of_change_columns(form, &schema)?;
    ensure_columns(form, &schema)?;
    properties::indexed_columns(&form.metadata)?;
    Ok(())
}

fn ensure_free_of_change_columns(form: &Form, schema: &StructType) -> Result<()> {
    // Without the feature, the property does not bind writers.
    let is_supported = supports_for_writers(&form.protocol, "changeDataFeed");
    if !(boolean(&form.metadata, "delta.enableChangeDataFeed")? && is_supported) {
        return Ok(());
    }
    let taken = |name: &&&str| schema.field_ignoring_case(name).is_some();
    match CHANGE_COLUMNS.iter().find(taken) {
        None => Ok(()),
        Some(name) => Err(Error::new(
            ErrorKind::SchemaMismatch,
            format!("the change feed has a column {name} of its own, and so has the table"),
        )
        .with("field", *name)
        .hint("rename the column, or leave delta.enableChangeDataFeed false")),
    }
}

/// Verifies that there is a column that is not a partition column, and that partition columns can have
/// values.
fn ensure_columns(form: &Form, schema: &StructType) -> Result<()> {
    let partitions = &form.metadata.partition_columns;
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
