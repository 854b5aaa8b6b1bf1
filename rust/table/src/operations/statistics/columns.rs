//! The columns whose statistics are computed.

use std::collections::BTreeSet;

use deltaic_log::Snapshot;
use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
use deltaic_protocol::file_columns::statistics_columns;
use deltaic_protocol::properties::IndexedColumns;
use deltaic_protocol::schema::{ColumnName, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};
use serde_json::Value;

use crate::write::without_void;

/// The columns of data files, and those of them that get statistics.
pub(super) struct StatisticsColumns {
    /// The columns of data files, without those that have no values.
    pub(super) data: StructType,
    chosen: Vec<ColumnName>,
    /// Whether columns that already have statistics get them, too.
    extends: bool,
    mode: ColumnMappingMode,
}

impl StatisticsColumns {
    /// The columns with these names; without names, those that the table's properties select.
    ///
    /// # Errors
    ///
    /// `ValueError` for a column that the table does not have, that is a partition column or that has no values;
    /// `CorruptLog` if the properties are invalid.
    pub(super) fn try_new(snapshot: &Snapshot, names: Option<&[String]>) -> Result<Self> {
        let partition_columns = &snapshot.metadata().partition_columns;
        let mut data = without_void(snapshot.schema(), partition_columns);
        data.fields
            .retain(|field| !partition_columns.contains(&field.name));
        let chosen = match names {
            None => names_of(&statistics_columns(snapshot.configuration())?.leaves(&data)),
            Some(names) => {
                let found = names.iter().map(|name| named(snapshot, &data, name));
                found.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect()
            }
        };
        Ok(Self {
            data,
            chosen,
            extends: names.is_some(),
            mode: snapshot.column_mapping(),
        })
    }

    /// The columns for a file with these statistics, in the order of the schema.
    pub(super) fn of_file(&self, stats: Option<&str>) -> Vec<ColumnName> {
        let described = stats.filter(|_| self.extends);
        let described: Option<Value> = described.and_then(|stats| serde_json::from_str(stats).ok());
        let leaves = IndexedColumns::All.leaves(&self.data);
        let chosen: BTreeSet<&[String]> = self.chosen.iter().map(ColumnName::parts).collect();
        let wanted = leaves.into_iter().filter(|leaf| {
            let names: Vec<String> = leaf.iter().map(|field| field.name.clone()).collect();
            let is_described = |stats: &Value| self.has_statistics(stats, leaf);
            chosen.contains(names.as_slice()) || described.as_ref().is_some_and(is_described)
        });
        names_of(&wanted.collect::<Vec<_>>())
    }

    fn has_statistics(&self, stats: &Value, leaf: &[&StructField]) -> bool {
        ["minValues", "maxValues", "nullCount"].iter().any(|kind| {
            let mut value = stats.get(kind);
            for field in leaf {
                value = value.and_then(|level| level.get(name_in_log(field, self.mode)));
            }
            value.is_some()
        })
    }
}

/// Returns the leaves of a column or field that a user named.
fn named(snapshot: &Snapshot, data: &StructType, name: &str) -> Result<Vec<ColumnName>> {
    let wrong = |why: &str| {
        let what = format!("columns may not have {name:?}: {why}");
        Error::new(ErrorKind::InvalidArgument, what).with("field", name)
    };
    let parsed = ColumnName::parse(name)?;
    let leaves = IndexedColumns::Named(vec![parsed.clone()]).leaves(data);
    if !leaves.is_empty() {
        return Ok(names_of(&leaves));
    }
    let column = snapshot.schema().field_ignoring_case(parsed.column());
    let is_partition = |field: &&StructField| snapshot.metadata().partition_columns.contains(&field.name);
    if column.filter(is_partition).is_some() {
        return Err(wrong("it is a partition column, whose values the log has"));
    }
    Err(wrong("the table has no such column with values"))
}

fn names_of(leaves: &[Vec<&StructField>]) -> Vec<ColumnName> {
    let name = |leaf: &Vec<&StructField>| {
        ColumnName::from_parts(leaf.iter().map(|field| field.name.clone()).collect())
    };
    leaves.iter().map(name).collect()
}

/// Returns the columns of a table that contain these, whole.
pub(super) fn containing(schema: &StructType, columns: &[ColumnName]) -> StructType {
    let contains = |field: &&StructField| columns.iter().any(|column| column.column() == field.name);
    StructType {
        fields: schema.fields.iter().filter(contains).cloned().collect(),
    }
}
