//! Evaluates an expression over rows, for tests.
//!
//! Only in builds with the feature `provoke`, never in a release.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, new_null_array};
use arrow_schema::{DataType, Field, Schema};
use deltaic_protocol::expr::ValueExpr;
use deltaic_protocol::schema::schema_from_arrow;
use deltaic_protocol::{Error, Result};
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::calls::fault::guarded;
use crate::capsule::BatchesIn;
use crate::reading::arrow_table::ArrowTable;

/// Returns a table with the columns `value`, the value of an expression for each row, and `error`, the message of a row
/// that raises. `micros` is the current time.
#[pyfunction]
pub(crate) fn evaluate_expression(rows: BatchesIn, expression: &str, micros: i64) -> CallResult<ArrowTable> {
    guarded(|| Ok(evaluate(rows, expression, micros)?))
}

fn evaluate(rows: BatchesIn, expression: &str, micros: i64) -> Result<ArrowTable> {
    let failed = |error| Error::internal(format!("the rows cannot be read: {error}"));
    let reader = rows.rows;
    let schema = schema_from_arrow(&reader.schema())?;
    let value = ValueExpr::parse(expression)?.at(micros)?.bind(&schema)?;
    let data_type = value.data_type().to_arrow()?;
    let arrow = Arc::new(Schema::new(vec![
        Field::new("value", data_type.clone(), true),
        Field::new("error", DataType::Utf8, true),
    ]));
    let mut batches = Vec::new();
    for batch in reader {
        let batch = batch.map_err(failed)?;
        let mut push = |values: ArrayRef, errors: Vec<Option<String>>| {
            let columns = vec![values, Arc::new(StringArray::from(errors)) as ArrayRef];
            RecordBatch::try_new(Arc::clone(&arrow), columns).map(|made| batches.push(made))
        };
        if let Ok(values) = value.evaluate(&batch) {
            push(values, vec![None; batch.num_rows()]).map_err(failed)?;
            continue;
        }
        for row in 0..batch.num_rows() {
            let (values, error) = match value.evaluate(&batch.slice(row, 1)) {
                Ok(values) => (values, None),
                Err(error) => (new_null_array(&data_type, 1), Some(error.to_string())),
            };
            push(values, vec![error]).map_err(failed)?;
        }
    }
    Ok(ArrowTable {
        schema: arrow,
        batches,
    })
}
