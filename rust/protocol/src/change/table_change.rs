//! The changes of the configuration of a table.

use std::collections::BTreeMap;

use crate::features::Traces;
use crate::if_absent::IfAbsent;
use crate::schema::{ColumnName, PrimitiveType, StructField, StructType};
use crate::schema_evolution::Place;

/// A change of the configuration of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableChange {
    /// Sets properties. `delta.feature.<name>` adds the feature; `delta.minReaderVersion` and
    /// `delta.minWriterVersion` request versions; these are not stored as properties.
    SetProperties(BTreeMap<String, String>),
    /// Unsets properties: their defaults apply.
    UnsetProperties(Vec<String>, IfAbsent),
    /// Sets or removes the name of the table.
    SetName(Option<String>),
    /// Sets or removes the description of the table.
    SetDescription(Option<String>),
    /// Adds a feature and the features that it requires, without enabling any.
    AddFeature(String),
    /// Drops a feature that is no longer used.
    DropFeature(String, Traces),
    /// Requests a protocol of at least these reader and writer versions.
    Upgrade(i32, i32),
    /// Adds a column, or a field to the struct at `within`, at a position.
    AddColumn {
        /// The column; existing rows are NULL in it.
        field: StructField,
        /// The struct; `None` for the table itself.
        within: Option<ColumnName>,
        /// Position among its siblings.
        place: Place,
    },
    /// Renames a column or field.
    RenameColumn(ColumnName, String),
    /// Drops a column or field.
    DropColumn(ColumnName),
    /// Moves a column or field among its siblings.
    MoveColumn(ColumnName, Place),
    /// Widens the type of a column, field, element, key or value.
    ChangeType(ColumnName, PrimitiveType),
    /// Makes a column, field, element or value nullable.
    DropNotNull(ColumnName),
    /// Sets or removes the default expression of a column.
    SetDefault(ColumnName, Option<String>),
    /// Sets or removes the comment of a column or field.
    SetComment(ColumnName, Option<String>),
    /// Adds a CHECK constraint.
    AddConstraint {
        /// Its name.
        name: String,
        /// The SQL condition that every row must satisfy.
        expression: String,
    },
    /// Drops a CHECK constraint.
    DropConstraint(String, IfAbsent),
    /// Sets the clustering columns; an empty list removes them.
    SetClustering(Vec<ColumnName>),
    /// Sets the configuration of a user-defined domain.
    SetDomain {
        /// Name of the domain.
        domain: String,
        /// Its configuration, which only the user interprets.
        configuration: String,
    },
    /// Removes a user-defined domain.
    RemoveDomain(String),
    /// Merges the columns of data that is to be written: adds new columns and widens types if the table
    /// allows it.
    MergeSchema(StructType),
}
