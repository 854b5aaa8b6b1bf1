//! Changes of a table that affect no rows: each returns a new configuration or an error.
//!
//! Protocol: *Change Metadata*, *Protocol Evolution*, *Domain Metadata*. This module reads no files;
//! [`preconditions`] returns the preconditions of a change on existing files.

mod cloned;
mod clustering;
mod columns;
mod created;
mod depends;
mod domains;
mod finished;
mod from_json;
mod generated;
mod high_water_marks;
mod invariants;
mod json_type;
mod new_columns;
mod new_schema;
mod preconditions;
mod replaced;
mod restored;
mod table_change;
#[cfg(test)]
mod tests;

pub use crate::change_context::ChangeContext;
pub use crate::if_absent::IfAbsent;
pub use cloned::cloned;
pub use columns::may_widen;
pub use created::created;
pub use from_json::changes_from_json;
pub use high_water_marks::with_high_water_marks;
pub use new_columns::columns_from_json;
pub use new_schema::with_schema;
pub use preconditions::{Precondition, preconditions};
pub use replaced::replaced;
pub use restored::restored;
pub use table_change::TableChange;

use crate::TableConfiguration;
use crate::features::{drop_feature, ensure_changeable, upgraded};
use crate::property_change;
use crate::schema_evolution::merged;
use crate::{Result, constraints};
use finished::finished;

/// Returns the configuration of a table after a change. The given configuration is not modified.
///
/// A change without effect returns an equal configuration.
///
/// # Errors
///
/// Returns `InvalidArgument` if the change refers to something that the table does not have or contains
/// an invalid name or value; `SchemaMismatch` with the `field` or `feature` if the table forbids the
/// change; `UnsupportedFeature` if the table or the change needs something that is not implemented;
/// `InvalidPredicate` or `UnsupportedExpression` for an expression; `CorruptLog` if the configuration is
/// already invalid.
///
/// ```
/// use deltaic_protocol::Version;
/// use deltaic_protocol::TableConfiguration;
/// use deltaic_protocol::actions::{Metadata, Protocol};
/// use deltaic_protocol::change::{ChangeContext, TableChange, change};
/// let protocol: Protocol = serde_json::from_str(r#"{"minReaderVersion":1,"minWriterVersion":2}"#)?;
/// let metadata: Metadata = serde_json::from_str(
///     r#"{"id":"t","format":{"provider":"parquet"},"partitionColumns":[],"configuration":{},
///         "schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}"}"#,
/// )?;
/// let before = TableConfiguration::new(protocol, metadata);
/// let positive = TableChange::AddConstraint { name: "positive".to_owned(), expression: "id > 0".to_owned() };
/// let context = &mut ChangeContext { version: Version::try_new(3)?, timestamp_ms: 0, new_id: &mut || String::new() };
/// let after = change(&before, &positive, context)?;
/// assert_eq!(after.metadata().property("delta.constraints.positive"), Some("id > 0"));
/// assert_eq!((after.protocol().min_reader_version, after.protocol().min_writer_version), (1, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn change(
    table: &TableConfiguration,
    change: &TableChange,
    context: &mut ChangeContext<'_>,
) -> Result<TableConfiguration> {
    let schema = table.schema()?;
    ensure_changeable(table)?;
    let mut after = table.clone();
    match change {
        TableChange::SetProperties(values) => property_change::set(&mut after, values)?,
        TableChange::UnsetProperties(names, if_absent) => {
            property_change::unset(&mut after, names, *if_absent)?
        }
        TableChange::SetName(name) => after.metadata_mut().name.clone_from(name),
        TableChange::SetDescription(text) => after.metadata_mut().description.clone_from(text),
        TableChange::AddFeature(name) => property_change::add_feature(&mut after, name)?,
        TableChange::DropFeature(name, traces) => after = drop_feature(table, name, *traces, context)?,
        TableChange::Upgrade(reader, writer) => {
            after.set_protocol(upgraded(table.protocol(), *reader, *writer)?)
        }
        TableChange::AddColumn { field, within, place } => {
            columns::add(&mut after, field, within.as_ref(), place, context)?;
        }
        TableChange::RenameColumn(column, to) => columns::rename(&mut after, column, to)?,
        TableChange::DropColumn(column) => columns::drop(&mut after, column)?,
        TableChange::MoveColumn(column, place) => columns::edit(&mut after, |schema| {
            crate::schema_evolution::move_column(schema, column, place)
        })?,
        TableChange::ChangeType(column, to) => columns::change_type(&mut after, column, *to)?,
        TableChange::DropNotNull(column) => columns::edit(&mut after, |schema| {
            crate::schema_evolution::drop_not_null(schema, column)
        })?,
        TableChange::SetDefault(column, expression) => columns::edit(&mut after, |schema| {
            crate::schema_evolution::set_default(schema, column, expression.as_deref())
        })?,
        TableChange::SetComment(column, comment) => columns::edit(&mut after, |schema| {
            crate::schema_evolution::set_comment(schema, column, comment.as_deref())
        })?,
        TableChange::AddConstraint { name, expression } => {
            constraints::add(&mut after, &schema, name, expression)?;
        }
        TableChange::DropConstraint(name, if_absent) => constraints::drop(&mut after, name, *if_absent)?,
        TableChange::SetClustering(columns) => clustering::set(&mut after, &schema, columns)?,
        TableChange::SetDomain {
            domain,
            configuration,
        } => {
            domains::set(&mut after, domain, configuration)?;
        }
        TableChange::RemoveDomain(domain) => domains::remove(&mut after, domain)?,
        TableChange::MergeSchema(data) => {
            let wider = columns::widening_of(table)?;
            columns::merge_schema(&mut after, merged(&schema, data, wider)?, context)?;
        }
    }
    finished(table, after, context)
}
