//! Changes of a table that touch no row: each makes a new form of a table's form, or says why it cannot.
//!
//! Protocol: *Change Metadata*, *Protocol Evolution*, *Domain Metadata*. Nothing here reads a file: what a change asks
//! of the files that are there, [`duties`] tells.

mod columns;
mod created;
mod depends;
mod domains;
mod duties;
mod form;
mod from_json;
mod replaced;
mod sound;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use created::created;
pub use duties::{Duty, duties};
pub use form::{Form, FormActions};
pub use from_json::changes_from_json;
pub use replaced::replaced;

use crate::features::{Traces, drop_feature, ensure_changeable, needed_features, upgraded};
use crate::schema::evolution::{Place, merged};
use crate::schema::{ColumnName, PrimitiveType, StructField, StructType};
use crate::{Result, Version, clustering, constraints, properties};

/// What a change may not make up.
pub struct Moment<'a> {
    /// The version that the change makes.
    pub version: Version,
    /// The in-commit timestamp of that version, in milliseconds since the epoch.
    pub timestamp_ms: i64,
    /// Ids that nobody has had before, such as UUIDs.
    pub new_id: &'a mut dyn FnMut() -> String,
}

/// What to do where something that shall go is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfAbsent {
    /// Say so.
    Error,
    /// Leave it at that.
    Ignore,
}

/// A change of a table's form.
#[derive(Clone, Debug, PartialEq)]
pub enum TableChange {
    /// Gives properties values. `delta.feature.<name>` adds the feature, `delta.minReaderVersion` and
    /// `delta.minWriterVersion` ask for versions; none of these is kept as a property.
    SetProperties(BTreeMap<String, String>),
    /// Takes properties away: their defaults hold.
    UnsetProperties(Vec<String>, IfAbsent),
    /// Names the table, or takes its name.
    SetName(Option<String>),
    /// Describes the table, or takes its description.
    SetDescription(Option<String>),
    /// Adds a feature, and those that it needs, without turning anything on.
    AddFeature(String),
    /// Drops a feature that nothing uses any more.
    DropFeature(String, Traces),
    /// Asks for a protocol of at least these versions, for readers and writers.
    Upgrade(i32, i32),
    /// Adds a column, or a field to the struct at `within`, at a place.
    AddColumn {
        /// The column; its values are NULL in the rows that are there.
        field: StructField,
        /// The struct; the table itself where none is told.
        within: Option<ColumnName>,
        /// Where among its siblings.
        place: Place,
    },
    /// Gives a column or field another name.
    RenameColumn(ColumnName, String),
    /// Drops a column or field.
    DropColumn(ColumnName),
    /// Moves a column or field among its siblings.
    MoveColumn(ColumnName, Place),
    /// Gives a column, field, element, key or value a wider type.
    ChangeType(ColumnName, PrimitiveType),
    /// Lets a column, field, element or value be NULL.
    DropNotNull(ColumnName),
    /// Gives a column the SQL expression of its default, or takes it.
    SetDefault(ColumnName, Option<String>),
    /// Gives a column or field a comment, or takes it.
    SetComment(ColumnName, Option<String>),
    /// Adds a CHECK constraint.
    AddConstraint {
        /// Its name.
        name: String,
        /// What must be true in each row, in SQL.
        expression: String,
    },
    /// Drops a CHECK constraint.
    DropConstraint(String, IfAbsent),
    /// Arranges files by these columns from now on; by none where none are told.
    SetClustering(Vec<ColumnName>),
    /// Sets the configuration of a domain of the user's.
    SetDomain {
        /// The domain.
        domain: String,
        /// Its configuration, which only the user understands.
        configuration: String,
    },
    /// Removes a domain of the user's.
    RemoveDomain(String),
    /// Takes in the columns of data that is to be written: new ones are added, narrower ones widened where the table
    /// lets them.
    MergeSchema(StructType),
}

/// The form of a table after a change. The form before is left as it is.
///
/// A change that changes nothing gives the same form.
///
/// # Errors
///
/// `InvalidArgument` for what the change names and the table has not, and for names and values that cannot be;
/// `SchemaMismatch` with the `field` or `feature` where the table's own rules stand in the way; `UnsupportedFeature`
/// for a table or a change that needs what is not implemented; `InvalidPredicate` and `UnsupportedExpression` for an
/// expression; `CorruptLog` for a form that is damaged already.
///
/// ```
/// use deltaic_protocol::Version;
/// use deltaic_protocol::change::{Form, Moment, TableChange, change};
/// let before = Form {
///     protocol: serde_json::from_str(r#"{"minReaderVersion":1,"minWriterVersion":2}"#)?,
///     metadata: serde_json::from_str(
///         r#"{"id":"t","format":{"provider":"parquet"},"partitionColumns":[],"configuration":{},
///             "schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}"}"#,
///     )?,
///     domains: Vec::new(),
/// };
/// let positive = TableChange::AddConstraint { name: "positive".to_owned(), expression: "id > 0".to_owned() };
/// let moment = &mut Moment { version: Version::try_new(3)?, timestamp_ms: 0, new_id: &mut || String::new() };
/// let after = change(&before, &positive, moment)?;
/// assert_eq!(after.metadata.property("delta.constraints.positive"), Some("id > 0"));
/// assert_eq!((after.protocol.min_reader_version, after.protocol.min_writer_version), (1, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn change(form: &Form, change: &TableChange, moment: &mut Moment<'_>) -> Result<Form> {
    let schema = form.schema()?;
    ensure_changeable(&form.protocol, &form.metadata, &schema)?;
    let mut after = form.clone();
    match change {
        TableChange::SetProperties(values) => properties::set(&mut after, values)?,
        TableChange::UnsetProperties(names, if_absent) => properties::unset(&mut after, names, *if_absent)?,
        TableChange::SetName(name) => after.metadata.name.clone_from(name),
        TableChange::SetDescription(text) => after.metadata.description.clone_from(text),
        TableChange::AddFeature(name) => properties::add_feature(&mut after, name)?,
        TableChange::DropFeature(name, traces) => after = drop_feature(form, name, *traces, moment)?,
        TableChange::Upgrade(reader, writer) => after.protocol = upgraded(&form.protocol, *reader, *writer)?,
        TableChange::AddColumn { field, within, place } => {
            columns::add(&mut after, field, within.as_ref(), place, moment)?;
        }
        TableChange::RenameColumn(column, to) => columns::rename(&mut after, column, to)?,
        TableChange::DropColumn(column) => columns::drop(&mut after, column)?,
        TableChange::MoveColumn(column, place) => columns::edit(&mut after, |schema| {
            crate::schema::evolution::move_column(schema, column, place)
        })?,
        TableChange::ChangeType(column, to) => columns::change_type(&mut after, column, *to)?,
        TableChange::DropNotNull(column) => columns::edit(&mut after, |schema| {
            crate::schema::evolution::drop_not_null(schema, column)
        })?,
        TableChange::SetDefault(column, expression) => columns::edit(&mut after, |schema| {
            crate::schema::evolution::set_default(schema, column, expression.as_deref())
        })?,
        TableChange::SetComment(column, comment) => columns::edit(&mut after, |schema| {
            crate::schema::evolution::set_comment(schema, column, comment.as_deref())
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
            let wider = columns::widening_of(form)?;
            columns::take_in(&mut after, merged(&schema, data, wider)?, moment)?;
        }
    }
    // What is used from now on is asked of the protocol from now on; what was used before is left as it was.
    let before = needed_features(&form.metadata, &schema);
    let mut new = needed_features(&after.metadata, &after.schema()?);
    new.retain(|name| !before.contains(name));
    after.require(&new)?;
    properties::follow(form, &mut after, moment)?;
    sound::ensure_sound(&after, form)?;
    Ok(after)
}
