//! Checks incoming data against the table's schema: compatible data are converted without loss, everything else is
//! rejected.

mod convert;
mod fits;
mod mismatch;
mod pandas_index;
mod variant;

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{Field, Schema, SchemaRef};
use deltaic_protocol::Result;
use deltaic_protocol::error::nearest;
use deltaic_protocol::expr::{BoundValue, Subject, ValueExpr};
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::shown_row::shown_row;
use deltaic_storage::clock::now_ms;

use crate::write::pieces::least_bytes;
use crate::write::storable::without_void;
use convert::convert_field;
use fits::fits;
use mismatch::{failed, mismatch};
use pandas_index::ensure_no_index_lost;
pub(crate) use pandas_index::is_index_without_name;

/// The schema of a stream, checked against the schema of a table.
#[derive(Debug)]
pub struct Incoming {
    /// The columns of data files.
    table: StructType,
    arrow: SchemaRef,
    /// The same, with NULL in the columns that are computed from the others.
    conformed: SchemaRef,
    /// For each of these columns, where its values come from.
    sources: Vec<Source>,
}

/// Where the values of a column come from.
#[derive(Clone, Debug)]
enum Source {
    /// The column at this index of the incoming data.
    Column(usize),
    /// The default of the column, which the data do not have.
    Default(BoundValue),
    /// The data do not have the column: it is NULL.
    Null,
    /// The data do not have the column, whose values are generated: placeholders.
    Identity,
    /// The data do not have the column, which is computed from the others: NULL until then.
    Generated,
}

/// Whether columns that the data do not have get their default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::write) enum Defaults {
    Applied,
    Ignored,
}

/// Where the values of columns can come from that the data do not have.
#[derive(Clone, Debug)]
pub(in crate::write) struct Missing {
    pub(in crate::write) defaults: Defaults,
    /// The names of the columns that are computed from the others.
    pub(in crate::write) generated: BTreeSet<String>,
}

impl Incoming {
    /// Verifies that data of a schema can be appended: every column is one of the table's and has a type that converts
    /// without loss, and no NOT NULL column is missing. Otherwise a `SchemaMismatch` with the column.
    pub fn try_new(incoming: &Schema, table: &Arc<StructType>, partition_columns: &[String]) -> Result<Self> {
        let missing = Missing {
            defaults: Defaults::Ignored,
            generated: BTreeSet::new(),
        };
        Self::with_missing(incoming, table, partition_columns, &missing)
    }

    /// The same; a column that the data do not have gets its default, if the table has the feature, or is computed later.
    ///
    /// Protocol: *Default Columns*, *Generated Columns*.
    pub(in crate::write) fn with_missing(
        incoming: &Schema,
        table: &Arc<StructType>,
        partition_columns: &[String],
        missing: &Missing,
    ) -> Result<Self> {
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
                    Some(near) => {
                        format!(
                            "did you mean {near}? Rename or drop the column, or pass schema_mode=\"merge\" to add it"
                        )
                    }
                    None => format!(
                        "pass schema_mode=\"merge\" to add it, or drop it; the table's columns are: {}",
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
        let mut found = Vec::with_capacity(sources.len());
        for (column, source) in table.fields.iter().zip(&sources) {
            let is_generated = missing.generated.contains(&column.name);
            let default = match (source, missing.defaults) {
                (None, Defaults::Applied) if !is_generated => default_of(column)?,
                _ => None,
            };
            found.push(match (source, default) {
                (Some(index), _) => Source::Column(*index),
                (None, None) if is_generated => Source::Generated,
                (None, Some(default)) => Source::Default(default),
                (None, None) if column.identity()?.is_some() => Source::Identity,
                (None, None) => Source::Null,
            });
            if matches!(found.last(), Some(Source::Null)) && !column.nullable {
                return Err(mismatch(
                    &column.name,
                    format!("the column {:?} is missing and may not be NULL", column.name),
                )
                .hint("add the column to the data"));
            }
        }
        let stored = without_void(table, partition_columns);
        let is_stored = |column: &StructField| stored.fields.iter().any(|field| field.name == column.name);
        let sources = table.fields.iter().zip(found);
        let sources: Vec<Source> = sources
            .filter(|(column, _)| is_stored(column))
            .map(|(_, source)| source)
            .collect();
        let table = stored;
        let arrow = table.to_arrow()?;
        let conformed = arrow
            .fields()
            .iter()
            .zip(&sources)
            .map(|(field, source)| match source {
                Source::Generated => Arc::new(Field::clone(field).with_nullable(true)),
                _ => Arc::clone(field),
            });
        Ok(Self {
            conformed: Arc::new(Schema::new(conformed.collect::<Vec<_>>())),
            arrow: Arc::new(arrow),
            table,
            sources,
        })
    }

    /// The schema of the rows that are written: of conformed batches with all values.
    pub(in crate::write) fn arrow(&self) -> &SchemaRef {
        &self.arrow
    }

    /// Whether the data have a column of the table.
    pub(in crate::write) fn has(&self, name: &str) -> bool {
        let columns = self.table.fields.iter().zip(&self.sources);
        columns
            .filter(|(column, _)| column.name == name)
            .any(|(_, source)| matches!(source, Source::Column(_)))
    }

    /// Returns conformed rows with the values of computed columns, which are given with their positions.
    ///
    /// # Errors
    ///
    /// `ConstraintViolation` with the `row` for a NULL in a NOT NULL column.
    pub(in crate::write) fn with_computed(
        &self,
        rows: &RecordBatch,
        computed: Vec<(usize, ArrayRef)>,
    ) -> Result<RecordBatch> {
        let mut columns = rows.columns().to_vec();
        for (index, values) in computed {
            if let (Some(column), Some(field)) = (columns.get_mut(index), self.table.fields.get(index)) {
                *column = converted_rows(&values, field, rows)?;
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.arrow), columns, &options)
            .map_err(|error| failed(&error, ""))
    }

    /// The minimum size in bytes of a row of these columns.
    pub(in crate::write) fn row_bytes(&self) -> usize {
        let columns = self.arrow.fields().iter();
        columns.fold(1, |sum, field| sum.saturating_add(least_bytes(field.data_type())))
    }

    /// Converts a batch to the columns of data files, in the table's types; a column that the data do not have is NULL.
    ///
    /// A NULL in a NOT NULL column is a `ConstraintViolation`, a number that the type of its column cannot hold a
    /// `SchemaMismatch`; both have the `row`.
    pub fn conform(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self
            .table
            .fields
            .iter()
            .zip(&self.sources)
            .map(|(column, source)| match source {
                Source::Column(index) => converted_rows(batch.column(*index), column, batch),
                Source::Default(value) => convert_field(&value.evaluate(batch)?, column, &column.name),
                Source::Identity => Ok(Arc::new(Int64Array::from(vec![0; batch.num_rows()])) as ArrayRef),
                Source::Null | Source::Generated => {
                    Ok(new_null_array(&column.data_type.to_arrow()?, batch.num_rows()))
                }
            })
            .collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.conformed), columns, &options)
            .map_err(|error| failed(&error, ""))
    }
}

/// Converts the values of a column of some rows; the error shows the first row whose value is refused.
fn converted_rows(values: &ArrayRef, column: &StructField, rows: &RecordBatch) -> Result<ArrayRef> {
    let convert = |values: &ArrayRef| convert_field(values, column, &column.name);
    convert(values).map_err(|error| {
        // Half of the rows at a time: those before `accepted` are, and one of those up to `refused` is not.
        let (mut accepted, mut refused) = (0, values.len());
        if refused == 0 || convert(&values.slice(0, 0)).is_err() {
            return error;
        }
        while refused - accepted > 1 {
            let middle = accepted.midpoint(refused);
            match convert(&values.slice(accepted, middle - accepted)) {
                Ok(_) => accepted = middle,
                Err(_) => refused = middle,
            }
        }
        match shown_row(rows, accepted) {
            Some(row) => error.with("row", row),
            None => error,
        }
    })
}

/// Returns the default of a column, with the column's type; `None` if it has none.
pub(crate) fn default_of(column: &StructField) -> Result<Option<BoundValue>> {
    let Some(text) = column.current_default() else {
        return Ok(None);
    };
    let now = now_ms().saturating_mul(1_000);
    let value = ValueExpr::parse_as(text, Subject::Default)
        .and_then(|value| value.at(now))
        .and_then(|value| value.bind(&StructType::default()));
    let value = value.and_then(|value| value.assigned_as_default(&column.name, &column.data_type));
    value
        .map(Some)
        .map_err(|error| error.with("default_of", column.name.as_str()))
}

#[cfg(test)]
mod tests;
