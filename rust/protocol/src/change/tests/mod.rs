//! Properties of changes.

mod chains;
mod columns;
mod features;
mod types;

use super::{ChangeContext, TableChange, change};
use crate::TableConfiguration;
use crate::samples::{metadata, protocol};
use crate::schema::{ColumnName, DataType, PrimitiveType, StructField};
use crate::schema_evolution::Place;
use crate::{Result, Version};

const SCHEMA: &str = r#"{"type":"struct","fields":[
    {"name":"id","type":"integer","nullable":false,"metadata":{}},
    {"name":"p","type":"integer","nullable":true,"metadata":{}},
    {"name":"s","nullable":true,"metadata":{},"type":{"type":"struct","fields":[
        {"name":"x","type":"float","nullable":true,"metadata":{}},
        {"name":"y","type":"date","nullable":true,"metadata":{}}]}},
    {"name":"l","nullable":true,"metadata":{},"type":{"type":"array","containsNull":true,"elementType":
        {"type":"struct","fields":[{"name":"z","type":"byte","nullable":true,"metadata":{}}]}}}]}"#;

/// A table of protocol (1, 2) that is partitioned by `p`.
fn plain() -> TableConfiguration {
    let mut table = TableConfiguration::new(protocol(1, 2, &[]), metadata(&[]));
    table.metadata_mut().schema_string = SCHEMA.to_owned();
    table.metadata_mut().partition_columns = vec!["p".to_owned()];
    table
}

fn set(pairs: &[(&str, &str)]) -> TableChange {
    TableChange::SetProperties(
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
    )
}

/// Applies the changes in order, from version 5 on.
fn changed(table: &TableConfiguration, changes: &[TableChange]) -> Result<TableConfiguration> {
    let mut ids = 0;
    let mut new_id = || {
        ids += 1;
        format!("u{ids}")
    };
    let mut table = table.clone();
    for (index, one) in (5..).zip(changes) {
        let mut context = ChangeContext {
            version: Version::try_new(index)?,
            timestamp_ms: 1_000 + index,
            new_id: &mut new_id,
        };
        table = change(&table, one, &mut context)?;
    }
    Ok(table)
}

fn mapped() -> Result<TableConfiguration> {
    changed(&plain(), &[set(&[("delta.columnMapping.mode", "name")])])
}

fn column(name: &str) -> ColumnName {
    ColumnName::parse(name).unwrap()
}

fn new(name: &str, data_type: impl Into<DataType>) -> StructField {
    StructField::new(name, data_type.into(), true)
}

fn add(name: &str, data_type: impl Into<DataType>) -> TableChange {
    TableChange::AddColumn {
        field: new(name, data_type),
        within: None,
        place: Place::Last,
    }
}

fn rename(name: &str, to: &str) -> TableChange {
    TableChange::RenameColumn(column(name), to.to_owned())
}

fn drop(name: &str) -> TableChange {
    TableChange::DropColumn(column(name))
}

fn widen(name: &str, to: PrimitiveType) -> TableChange {
    TableChange::ChangeType(column(name), to)
}

fn constraint(expression: &str) -> TableChange {
    TableChange::AddConstraint {
        name: "c".to_owned(),
        expression: expression.to_owned(),
    }
}
