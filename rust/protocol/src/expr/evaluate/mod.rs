//! Evaluates bound expressions: TRUE, FALSE or NULL for each row of a batch, and values, by Spark's rules.
//!
//! NaN equals NaN and is above every other number; -0.0 equals 0.0; text and bytes compare byte by byte.

mod branches;
mod columns;
mod compare;
mod failed;
mod is_in;
mod lazy;
mod padded;
#[cfg(test)]
mod pairs;
mod predicate;
#[cfg(test)]
mod tests;
mod truth;
mod value;

use arrow_array::{BooleanArray, RecordBatch};

use super::bound::BoundPredicate;
use crate::Result;

/// Evaluates a predicate for each row; the batch contains the columns under the names of the schema.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{BooleanArray, Int64Array, RecordBatch};
/// use deltaic_protocol::{expr::{evaluate, parse_predicate}, schema::schema_from_arrow};
/// let batch = RecordBatch::try_from_iter([("a", Arc::new(Int64Array::from(vec![Some(1), None, Some(3)])) as _)])?;
/// let predicate = parse_predicate("a > 1")?.bind(&schema_from_arrow(&batch.schema())?)?;
/// assert_eq!(evaluate(&predicate, &batch)?, BooleanArray::from(vec![Some(false), None, Some(true)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate(predicate: &BoundPredicate, batch: &RecordBatch) -> Result<BooleanArray> {
    predicate.results(batch)
}
