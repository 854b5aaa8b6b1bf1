//! Checks incoming data against the table's schema: compatible data are converted without loss, everything else is
//! rejected.

mod convert;
mod fits;

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use deltaic_protocol::error::nearest;
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::pandas_index::{ensure_no_index_lost, is_index_without_name};
use super::pieces::least_bytes;
use super::storable::without_void;
use convert::convert_field;
use fits::fits;

/// The schema of a stream, checked against the schema of a table.
#[derive(Debug)]
pub struct Incoming {
    /// The columns of data files.
    table: StructType,
    arrow: SchemaRef,
    /// For each of these columns, its index in the incoming data.
    sources: Vec<Option<usize>>,
}

impl Incoming {
    /// Verifies that data of a schema can be appended: every column is one of the table's and has a type that converts
    /// without loss, and no NOT NULL column is missing. Otherwise a `SchemaMismatch` with the column.
    pub fn try_new(incoming: &Schema, table: &Arc<StructType>, partition_columns: &[String]) -> Result<Self> {
        ensure_no_index_lost(incoming, table)?;
        let mut sources = vec![None; table.fields.len()];
        for (index, field) in incoming.fields().iter().enumerate() {
            let target = table
                .fields
                .iter()
                .position(|column| column.name == *field.name())
                .or_else(|| {
                    table
                        .fields
                        .iter()
                        .position(|column| column.name.to_lowercase() == field.name().to_lowercase())
                });
            let Some((target, column)) = target.and_then(|target| Some((target, table.fields.get(target)?)))
            else {
                let hint = match nearest(field.name(), table.names()) {
                    _ if is_index_without_name(field.name()) => {
                        "it is the index of a pandas frame: call df.reset_index(drop=True) first".to_owned()
                    }
                    Some(near) => format!("did you mean {near}? Drop or rename the column"),
                    None => format!(
                        "drop it; the table's columns are: {}",
                        table.names().collect::<Vec<_>>().join(", ")
                    ),
                };
                return Err(mismatch(
                    field.name(),
                    format!("the table has no column {:?}", field.name()),
                )
                .hint(hint));
            };
            fits(field.data_type(), &column.data_type, &column.name)?;
            match sources.get_mut(target) {
                Some(slot @ None) => *slot = Some(index),
                _ => {
                    return Err(mismatch(
                        field.name(),
                        format!(
                            "two columns of the data are the table's {:?}: {:?} is the second",
                            column.name,
                            field.name()
                        ),
                    )
                    .hint("drop or rename one of them"));
                }
            }
        }
        for (column, source) in table.fields.iter().zip(&sources) {
            if source.is_none() && !column.nullable {
                return Err(mismatch(
                    &column.name,
                    format!("the column {:?} is missing and may not be NULL", column.name),
                )
                .hint("add the column to the data"));
            }
        }
        let stored = without_void(table, partition_columns);
        let is_stored = |column: &StructField| stored.fields.iter().any(|field| field.name == column.name);
        let sources = table.fields.iter().zip(sources);
        let sources = sources
            .filter(|(column, _)| is_stored(column))
            .map(|(_, source)| source)
            .collect();
        let table = stored;
        Ok(Self {
            arrow: Arc::new(table.to_arrow()?),
            table,
            sources,
        })
    }

    /// The minimum size in bytes of a row of these columns.
    pub(super) fn row_bytes(&self) -> usize {
        let columns = self.arrow.fields().iter();
        columns.fold(1, |sum, field| sum.saturating_add(least_bytes(field.data_type())))
    }

    /// Converts a batch to the columns of data files, in the table's types; a column that the data do not have is NULL.
    ///
    /// A NULL in a NOT NULL column is a `ConstraintViolation`.
    pub fn conform(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self
            .table
            .fields
            .iter()
            .zip(&self.sources)
            .map(|(column, source)| match source {
                Some(index) => convert_field(batch.column(*index), column, &column.name),
                None => Ok(new_null_array(&column.data_type.to_arrow()?, batch.num_rows())),
            })
            .collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.arrow), columns, &options)
            .map_err(|error| failed(&error, ""))
    }
}

fn mismatch(path: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::SchemaMismatch, message).with("field", path)
}

fn failed(error: &ArrowError, path: &str) -> Error {
    let text = error.to_string();
    let text = text
        .split_once("error: ")
        .map_or(text.as_str(), |(_, what)| what)
        .to_owned();
    mismatch(path, format!("the data does not fit the table's schema: {text}"))
}

#[cfg(test)]
mod tests;
