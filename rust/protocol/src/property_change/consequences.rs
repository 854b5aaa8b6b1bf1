//! Applies the consequences of property changes: physical names and ids, row tracking columns,
//! timestamps, required features.
//!
//! Protocol: *Column Mapping*, *Row Tracking*, *In-Commit Timestamps*, *Iceberg Compatibility V2*.

use crate::TableConfiguration;
use crate::change_context::ChangeContext;
use crate::column_mapping::{ColumnMappingMode, MAX_COLUMN_ID, MODE, Names, assign, is_unused, strip};
use crate::iceberg_compat::IcebergCompat;
use crate::in_commit_timestamp::{ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION, InCommitTimestamps};
use crate::properties::boolean;
use crate::row_tracking::{ROW_COMMIT_VERSION_COLUMN, ROW_ID_COLUMN};
use crate::{Error, ErrorKind, Result, Version};

/// Makes a configuration consistent with its changed properties and features.
///
/// # Errors
///
/// Returns `SchemaMismatch` with the property as `field` if the value cannot replace the current one.
pub(crate) fn follow(
    before: &TableConfiguration,
    after: &mut TableConfiguration,
    context: &mut ChangeContext<'_>,
) -> Result<()> {
    map_columns(before, after, context)?;
    name_row_tracking(after, context)?;
    date_timestamps(before, after, context)?;
    number_nested(before, after, context)
}

fn map_columns(
    before: &TableConfiguration,
    after: &mut TableConfiguration,
    context: &mut ChangeContext<'_>,
) -> Result<()> {
    let refused = |message: &str, hint: &str| {
        Err(Error::new(ErrorKind::SchemaMismatch, message)
            .with("field", MODE)
            .hint(hint))
    };
    match (before.column_mapping()?, after.column_mapping()?) {
        (old, new) if old == new => Ok(()),
        (ColumnMappingMode::None, new) => {
            if new == ColumnMappingMode::Id && context.version > Version::ZERO {
                return refused(
                    "the data files of the table have no field ids",
                    "set it to name, which assigns ids too",
                );
            }
            let mut schema = after.schema_copy()?;
            let mut highest = after.highest_column_id()?;
            // Existing files use the logical names. A new table has no files.
            let mut names = if context.version > Version::ZERO {
                Names::Logical
            } else {
                Names::New(&mut *context.new_id)
            };
            let nested = IcebergCompat::needs_nested_ids(after)?;
            assign(&mut schema, &mut highest, &mut names, nested);
            after.set_property(MAX_COLUMN_ID, highest.to_string());
            after.set_schema(&schema)
        }
        (_, ColumnMappingMode::None) => {
            let mut schema = after.schema_copy()?;
            if !is_unused(&schema, after.highest_column_id()?) {
                return refused(
                    "columns of the table were added, renamed or dropped, and its data files contain them under other names",
                    "write the table's rows into a new table that is not mapped",
                );
            }
            strip(&mut schema);
            after.metadata_mut().configuration.remove(MAX_COLUMN_ID);
            after.set_schema(&schema)
        }
        _ => refused(
            "the column mapping mode cannot change between name and id",
            "leave the mode as it is",
        ),
    }
}

/// Names the columns that preserve row ids and row commit versions of copied rows. Existing names are
/// retained.
fn name_row_tracking(after: &mut TableConfiguration, context: &mut ChangeContext<'_>) -> Result<()> {
    if !boolean(after.metadata(), "delta.enableRowTracking")? {
        return Ok(());
    }
    for (key, prefix) in [
        (ROW_ID_COLUMN, "_row-id-col"),
        (ROW_COMMIT_VERSION_COLUMN, "_row-commit-version-col"),
    ] {
        if after.metadata().property(key).is_none_or(str::is_empty) {
            let name = format!("{prefix}-{}", (context.new_id)());
            after.set_property(key, name);
        }
    }
    Ok(())
}

/// Records the version from which commits have in-commit timestamps, if earlier ones do not.
fn date_timestamps(
    before: &TableConfiguration,
    after: &mut TableConfiguration,
    context: &ChangeContext<'_>,
) -> Result<()> {
    let enabled =
        |table: &TableConfiguration| Ok(InCommitTimestamps::of(table)? != InCommitTimestamps::Disabled);
    // A value that cannot be parsed can only be corrected by this change.
    match (enabled(before).unwrap_or(false), enabled(after)?) {
        (false, true) if context.version > Version::ZERO => {
            after.set_property(ENABLEMENT_VERSION, context.version.as_i64().to_string());
            after.set_property(ENABLEMENT_TIMESTAMP, context.timestamp_ms.to_string());
        }
        (_, false) => {
            for key in [ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP] {
                after.metadata_mut().configuration.remove(key);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Assigns ids to elements, keys and values if Iceberg must find them by id.
fn number_nested(
    before: &TableConfiguration,
    after: &mut TableConfiguration,
    context: &mut ChangeContext<'_>,
) -> Result<()> {
    let (was, is) = (
        IcebergCompat::needs_nested_ids(before)?,
        IcebergCompat::needs_nested_ids(after)?,
    );
    if was || !is || !after.column_mapping()?.is_mapped() {
        return Ok(());
    }
    let mut schema = after.schema_copy()?;
    let mut highest = after.highest_column_id()?;
    assign(
        &mut schema,
        &mut highest,
        &mut Names::New(&mut *context.new_id),
        true,
    );
    after.set_property(MAX_COLUMN_ID, highest.to_string());
    after.set_schema(&schema)
}
