//! Evaluates bound expressions: TRUE, FALSE or NULL for each row of a batch, and values, by Spark's rules.
//!
//! NaN equals NaN and is above every other number; -0.0 equals 0.0; text and bytes compare byte by byte.

mod branches;
mod columns;
mod compare;
mod is_in;
mod lazy;
mod padded;
#[cfg(test)]
mod pairs;
#[cfg(test)]
mod tests;
mod value;

use arrow_arith::boolean::{and_kleene, is_null, not, or_kleene};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;

use super::bound::{BoundPredicate, Test};
use crate::schema::PrimitiveType;
use crate::{Error, ErrorKind, Result};
use columns::{column, column_of};

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
    Ok(match predicate {
        BoundPredicate::Constant(value) => constant(*value, batch.num_rows()),
        BoundPredicate::Column(path) => column(batch, path)?
            .as_boolean_opt()
            .ok_or_else(|| Error::new(ErrorKind::InvalidPredicate, "a condition is not boolean"))?
            .clone(),
        BoundPredicate::IsNull(path) => is_null(column(batch, path)?.as_ref()).map_err(failed)?,
        BoundPredicate::IsNan(path) => is_nan(&column(batch, path)?)?,
        BoundPredicate::StartsWith(path, text) => {
            of_texts(batch, path, |own| own.starts_with(text.as_str()))?
        }
        BoundPredicate::EndsWith(path, text) => of_texts(batch, path, |own| own.ends_with(text.as_str()))?,
        BoundPredicate::Contains(path, text) => {
            let finder = memchr::memmem::Finder::new(text.as_bytes());
            of_texts(batch, path, |own| finder.find(own.as_bytes()).is_some())?
        }
        BoundPredicate::Like(path, pattern) => of_texts(batch, path, |own| pattern.matches(own))?,
        BoundPredicate::And(parts) => fold(parts, batch, true, and_kleene)?,
        BoundPredicate::Or(parts) => fold(parts, batch, false, or_kleene)?,
        BoundPredicate::Computed(computed) => match computed.test() {
            Test::Operands {
                text,
                operands,
                condition,
            } => evaluate(condition, &value::with_operands(batch, operands, text.source())?)?,
            Test::Padded(comparison) => padded::compare_padded(comparison, batch)?,
        },
        BoundPredicate::Not(inner) => not(&evaluate(inner, batch)?).map_err(failed)?,
        BoundPredicate::Is(inner, truth) => is(&evaluate(inner, batch)?, *truth),
        BoundPredicate::In {
            path,
            values,
            has_null,
        } => is_in::is_in(batch, path, values, *has_null)?,
        BoundPredicate::Compare {
            op,
            left,
            right,
            common,
        } => compare::compare(*op, left, right, *common, batch)?,
    })
}

fn constant(value: Option<bool>, rows: usize) -> BooleanArray {
    match value {
        Some(true) => BooleanArray::new(BooleanBuffer::new_set(rows), None),
        Some(false) => BooleanArray::new(BooleanBuffer::new_unset(rows), None),
        None => BooleanArray::new_null(rows),
    }
}

/// Combines the results of the parts; `of_none` is the result without parts.
fn fold(
    parts: &[BoundPredicate],
    batch: &RecordBatch,
    of_none: bool,
    join: fn(&BooleanArray, &BooleanArray) -> Result<BooleanArray, ArrowError>,
) -> Result<BooleanArray> {
    let mut parts = parts.iter();
    let Some(first) = parts.next() else {
        return Ok(constant(Some(of_none), batch.num_rows()));
    };
    let mut joined = evaluate(first, batch)?;
    for part in parts {
        // The remaining parts cannot change the result of any row.
        let decided = if of_none {
            joined.false_count()
        } else {
            joined.true_count()
        };
        if decided == joined.len() {
            break;
        }
        // A part is computed only for the rows that the previous ones did not decide: it raises only their errors.
        let more = match part.can_fail() && decided > 0 {
            true => on_rows(part, batch, &!is(&joined, Some(!of_none)).values())?,
            false => evaluate(part, batch)?,
        };
        joined = join(&joined, &more).map_err(failed)?;
    }
    Ok(joined)
}

/// The results of a predicate for some of the rows of a batch; FALSE for the others.
pub(super) fn on_rows(
    predicate: &BoundPredicate,
    batch: &RecordBatch,
    rows: &BooleanBuffer,
) -> Result<BooleanArray> {
    let selected = filter_record_batch(batch, &BooleanArray::new(rows.clone(), None)).map_err(failed)?;
    let found = evaluate(predicate, &selected)?;
    let mut results = vec![Some(false); batch.num_rows()];
    for (position, row) in rows.set_indices().enumerate() {
        if let Some(slot) = results.get_mut(row) {
            *slot = found.is_valid(position).then(|| found.value(position));
        }
    }
    Ok(BooleanArray::from(results))
}

fn failed(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::InvalidPredicate,
        format!("the expression cannot be evaluated: {error}"),
    )
}

fn of_texts(batch: &RecordBatch, path: &[String], holds: impl Fn(&str) -> bool) -> Result<BooleanArray> {
    let texts = column_of(batch, path, PrimitiveType::String)?;
    let texts: &StringArray = texts
        .as_string_opt()
        .ok_or_else(|| Error::new(ErrorKind::InvalidPredicate, "a string is expected"))?;
    Ok(BooleanArray::from_unary(texts, holds))
}

/// Whether each value is NaN; FALSE for NULL.
fn is_nan(values: &ArrayRef) -> Result<BooleanArray> {
    let answers = if let Some(floats) = values.as_primitive_opt::<Float32Type>() {
        BooleanArray::from_unary(floats, f32::is_nan)
    } else if let Some(doubles) = values.as_primitive_opt::<Float64Type>() {
        BooleanArray::from_unary(doubles, f64::is_nan)
    } else {
        return Err(Error::new(
            ErrorKind::InvalidPredicate,
            "isnan needs a floating point number",
        ));
    };
    Ok(is(&answers, Some(true)))
}

/// TRUE values that are not NULL.
fn known_and(answers: BooleanBuffer, nulls: Option<&NullBuffer>) -> BooleanBuffer {
    match nulls {
        Some(nulls) => &answers & nulls.inner(),
        None => answers,
    }
}

/// Whether each result is TRUE, FALSE, or NULL.
fn is(answers: &BooleanArray, truth: Option<bool>) -> BooleanArray {
    let found = match (truth, answers.nulls()) {
        (Some(true), nulls) => known_and(answers.values().clone(), nulls),
        (Some(false), nulls) => known_and(!answers.values(), nulls),
        (None, Some(nulls)) => !nulls.inner(),
        (None, None) => BooleanBuffer::new_unset(answers.len()),
    };
    BooleanArray::new(found, None)
}
