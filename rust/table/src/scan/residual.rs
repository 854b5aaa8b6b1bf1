//! The residual predicate on the rows of a file, given its partition values.

use arrow_array::{Array, RecordBatch};
use deltaic_protocol::Result;
use deltaic_protocol::expr::{BoundPredicate, evaluate};

/// Replaces every part of the predicate that uses only these columns by its result; `values` has one row.
///
/// For any values of the file's other columns, the result is TRUE for the same rows as the predicate.
pub(crate) fn residual(predicate: &BoundPredicate, values: &RecordBatch) -> Result<BoundPredicate> {
    Ok(match predicate {
        BoundPredicate::And(parts) => joined(parts, values, true)?,
        BoundPredicate::Or(parts) => joined(parts, values, false)?,
        BoundPredicate::Not(inner) => match residual(inner, values)? {
            BoundPredicate::Constant(value) => BoundPredicate::Constant(value.map(|value| !value)),
            inner => BoundPredicate::Not(Box::new(inner)),
        },
        BoundPredicate::Constant(_) => predicate.clone(),
        question => {
            let columns = question.columns();
            let is_known = |column: &&str| values.column_by_name(column).is_some();
            if columns.is_empty() || !columns.iter().all(is_known) {
                return Ok(question.clone());
            }
            let answer = evaluate(question, values)?;
            let answer = (answer.len() == 1 && answer.is_valid(0)).then(|| answer.value(0));
            BoundPredicate::Constant(answer)
        }
    })
}

/// Simplifies the parts of an AND, for which `neutral` is true, or of an OR.
fn joined(parts: &[BoundPredicate], values: &RecordBatch, neutral: bool) -> Result<BoundPredicate> {
    let mut left = Vec::with_capacity(parts.len());
    for part in parts {
        match residual(part, values)? {
            BoundPredicate::Constant(Some(value)) if value == neutral => {}
            BoundPredicate::Constant(Some(value)) => return Ok(BoundPredicate::Constant(Some(value))),
            part => left.push(part),
        }
    }
    let only = if left.len() == 1 { left.pop() } else { None };
    Ok(match only {
        Some(only) => only,
        None if left.is_empty() => BoundPredicate::Constant(Some(neutral)),
        None if left.iter().all(|part| *part == BoundPredicate::Constant(None)) => {
            BoundPredicate::Constant(None)
        }
        None if neutral => BoundPredicate::And(left),
        None => BoundPredicate::Or(left),
    })
}
