//! The new values of an update, as columns of the table.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use deltaic_log::Snapshot;
use deltaic_protocol::error::nearest;
use deltaic_protocol::expr::{BoundValue, ValueExpr};
use deltaic_protocol::features::supports_for_writers;
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

use crate::write::{default_of, generated_names};

/// A new value for a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The column.
    pub column: String,
    /// The value, which may use the columns of the row before the update.
    pub value: ValueExpr,
}

/// The assignments of an update, bound to a table.
pub(crate) struct Assignments {
    /// The columns of the rows that are read: those of the table, then the row ids if rows have them, under their names in
    /// files.
    read: SchemaRef,
    /// The rows with new values: without the generated columns that are not set, which the writer computes.
    pub(crate) written: SchemaRef,
    /// For each column that is read, whether it is left out.
    left_out: Vec<bool>,
    /// For each written column, the expression of its new value.
    values: Vec<Option<BoundValue>>,
    /// The number of columns of the table.
    columns: usize,
}

/// Binds the new values of columns: for each column of the table, its value if it is set. `DEFAULT` is the default of its
/// column.
///
/// # Errors
///
/// `ValueError` for an unknown column; `SchemaMismatch` for an identity column or a value of another type; those of `bind`
/// and `assign`.
pub(crate) fn bound_to_columns(
    snapshot: &Snapshot,
    assignments: &[Assignment],
    bind: impl Fn(&ValueExpr) -> Result<BoundValue>,
    assign: impl Fn(BoundValue, &StructField) -> Result<BoundValue>,
) -> Result<Vec<Option<BoundValue>>> {
    let table: &StructType = snapshot.schema();
    let has_defaults = supports_for_writers(snapshot.protocol(), "allowColumnDefaults");
    let mut values: Vec<Option<BoundValue>> = vec![None; table.fields.len()];
    for Assignment { column, value } in assignments {
        let index = table.fields.iter().position(|field| field.name == *column);
        let index = index.or_else(|| {
            let same = |field: &StructField| field.name.to_lowercase() == column.to_lowercase();
            table.fields.iter().position(same)
        });
        let slot = index.and_then(|index| values.get_mut(index));
        let slot = slot.ok_or_else(|| unknown(table, column))?;
        if slot.is_some() {
            return Err(invalid(column, format!("the column {column:?} is set twice")));
        }
        let located = |error: Error| error.with("column_to_set", column.as_str());
        let field = index.and_then(|index| table.fields.get(index));
        let field = field.ok_or_else(|| unknown(table, column))?;
        // A column of this name is one.
        *slot = Some(match bind(value) {
            Err(_) if value.is_default() => default_or_null(field, has_defaults).map_err(located)?,
            bound => assign(bound.map_err(located)?, field)?,
        });
    }
    Ok(values)
}

/// The default of a column, NULL without one.
///
/// Protocol: *Default Columns*.
fn default_or_null(column: &StructField, has_defaults: bool) -> Result<BoundValue> {
    let default = if has_defaults { default_of(column)? } else { None };
    match default {
        Some(default) => Ok(default),
        None => {
            let null = ValueExpr::parse("NULL")?.bind(&StructType::default())?;
            null.assigned_to(&column.name, &column.data_type)
        }
    }
}

/// Verifies that no identity column is set: its values are generated.
pub(crate) fn ensure_no_identity(table: &StructType, values: &[Option<BoundValue>]) -> Result<()> {
    for (field, value) in table.fields.iter().zip(values) {
        if value.is_some() && field.identity()?.is_some() {
            let what = format!(
                "the identity column {} cannot be updated: its values are generated",
                field.name
            );
            return Err(Error::new(ErrorKind::SchemaMismatch, what)
                .with("field", field.name.as_str())
                .hint("leave the column out of the values to set"));
        }
    }
    Ok(())
}

impl Assignments {
    /// Prepares new values, which are bound to the rows that are read, or to rows beside these.
    pub(crate) fn try_new(
        snapshot: &Snapshot,
        values: Vec<Option<BoundValue>>,
        scan: &StructType,
        own: &[StructField],
    ) -> Result<Self> {
        let table = snapshot.schema();
        ensure_no_identity(table, &values)?;
        let arrow = scan.to_arrow()?;
        let generated = generated_names(snapshot.configuration(), table)?;
        let mut fields: Vec<Arc<Field>> = Vec::with_capacity(arrow.fields().len());
        let mut left_out = vec![false; arrow.fields().len()];
        for (index, field) in arrow.fields().iter().take(table.fields.len()).enumerate() {
            let is_set = values.get(index).is_some_and(Option::is_some);
            if !is_set && generated.contains(field.name()) {
                if let Some(slot) = left_out.get_mut(index) {
                    *slot = true;
                }
                continue;
            }
            fields.push(match values.get(index).and_then(Option::as_ref) {
                None => Arc::clone(field),
                Some(value) => Arc::new(Field::new(field.name(), value.data_type().to_arrow()?, true)),
            });
        }
        let own = StructType { fields: own.to_vec() }.to_arrow()?;
        fields.extend(own.fields().iter().cloned());
        let of_table = arrow.fields().iter().take(table.fields.len());
        let read: Vec<Arc<Field>> = of_table.chain(own.fields()).cloned().collect();
        Ok(Self {
            read: Arc::new(Schema::new(read)),
            written: Arc::new(Schema::new(fields)),
            left_out,
            values,
            columns: table.fields.len(),
        })
    }

    /// Returns the rows with their new values, which are computed from `over`; their row commit versions are NULL: readers
    /// derive the commit's.
    pub(crate) fn apply(&self, rows: &RecordBatch, over: &RecordBatch) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.written.fields().len());
        for (index, column) in rows.columns().iter().enumerate() {
            if self.left_out.get(index) == Some(&true) {
                continue;
            }
            columns.push(match self.values.get(index).and_then(Option::as_ref) {
                Some(value) => value.evaluate(over)?,
                None if index == self.columns + 1 => new_null_array(column.data_type(), rows.num_rows()),
                None => Arc::clone(column),
            });
        }
        RecordBatch::try_new(Arc::clone(&self.written), columns).map_err(|error| unfit(&error))
    }

    /// Whether the new version of a row has the value that the row has in a column.
    pub(crate) fn keeps(&self, column: &str) -> bool {
        let columns = self.read.fields().iter().take(self.columns);
        let mut columns = columns.zip(self.values.iter().zip(&self.left_out));
        columns.any(|(field, (value, is_left_out))| field.name() == column && value.is_none() && !is_left_out)
    }

    /// Whether the new version of a row needs the value that the row has in a column: it keeps it, or an expression uses
    /// it, as the column of this side if there is one.
    pub(crate) fn needs(&self, side: Option<&str>, column: &str) -> bool {
        let mut is_used = false;
        for value in self.values.iter().flatten() {
            value.for_each_path(&mut |path| {
                is_used |= match (side, path.as_slice()) {
                    (Some(side), [of, name, ..]) => of == side && name == column,
                    (None, [name, ..]) => name == column,
                    _ => false,
                }
            });
        }
        is_used || self.keeps(column)
    }
}

pub(crate) fn unfit(error: &ArrowError) -> Error {
    Error::internal(format!("updated rows do not fit their columns: {error}"))
}

/// The error for a column that the table does not have.
pub(crate) fn unknown(table: &StructType, column: &str) -> Error {
    let error = invalid(column, format!("there is no column {column:?} to set"));
    match nearest(column, table.names()) {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error.hint("set columns by name, or fields of structs as column.field"),
    }
}

fn invalid(column: &str, what: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, what).with("field", column)
}
