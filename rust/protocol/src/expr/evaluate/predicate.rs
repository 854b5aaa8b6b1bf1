//! The results of predicates.

use arrow_arith::boolean::{and_kleene, is_null, not, or_kleene};
use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, RecordBatch, StringArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;

use super::columns::{column, column_of};
use super::failed::failed;
use super::truth::{is, is_nan};
use super::{compare, is_in, padded, value};
use crate::expr::bound::{BoundPredicate, Test};
use crate::schema::PrimitiveType;
use crate::{Error, ErrorKind, Result};

impl BoundPredicate {
    /// The result for each row of a batch.
    pub(super) fn results(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        Ok(match self {
            Self::Constant(value) => constant(*value, batch.num_rows()),
            Self::Column(path) => column(batch, path)?
                .as_boolean_opt()
                .ok_or_else(|| Error::new(ErrorKind::InvalidPredicate, "a condition is not boolean"))?
                .clone(),
            Self::IsNull(path) => is_null(column(batch, path)?.as_ref()).map_err(failed)?,
            Self::IsNan(path) => is_nan(&column(batch, path)?)?,
            Self::StartsWith(path, text) => of_texts(batch, path, |own| own.starts_with(text.as_str()))?,
            Self::EndsWith(path, text) => of_texts(batch, path, |own| own.ends_with(text.as_str()))?,
            Self::Contains(path, text) => {
                let finder = memchr::memmem::Finder::new(text.as_bytes());
                of_texts(batch, path, |own| finder.find(own.as_bytes()).is_some())?
            }
            Self::Like(path, pattern) => of_texts(batch, path, |own| pattern.matches(own))?,
            Self::And(parts) => fold(parts, batch, true, and_kleene)?,
            Self::Or(parts) => fold(parts, batch, false, or_kleene)?,
            Self::Computed(computed) => match computed.test() {
                Test::Operands {
                    text,
                    operands,
                    condition,
                } => condition.results(&value::with_operands(batch, operands, text.source())?)?,
                Test::Padded(comparison) => padded::compare_padded(comparison, batch)?,
            },
            Self::Not(inner) => not(&inner.results(batch)?).map_err(failed)?,
            Self::Is(inner, truth) => is(&inner.results(batch)?, *truth),
            Self::In {
                path,
                values,
                has_null,
            } => is_in::is_in(batch, path, values, *has_null)?,
            Self::Compare {
                op,
                left,
                right,
                common,
            } => compare::compare(*op, left, right, *common, batch)?,
        })
    }

    /// The results for some of the rows of a batch; FALSE for the others.
    pub(super) fn results_for(&self, batch: &RecordBatch, rows: &BooleanBuffer) -> Result<BooleanArray> {
        let selected = filter_record_batch(batch, &BooleanArray::new(rows.clone(), None)).map_err(failed)?;
        let found = self.results(&selected)?;
        let mut results = vec![Some(false); batch.num_rows()];
        for (position, row) in rows.set_indices().enumerate() {
            if let Some(slot) = results.get_mut(row) {
                *slot = found.is_valid(position).then(|| found.value(position));
            }
        }
        Ok(BooleanArray::from(results))
    }
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
    let mut joined = first.results(batch)?;
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
            true => part.results_for(batch, &!is(&joined, Some(!of_none)).values())?,
            false => part.results(batch)?,
        };
        joined = join(&joined, &more).map_err(failed)?;
    }
    Ok(joined)
}

fn of_texts(batch: &RecordBatch, path: &[String], holds: impl Fn(&str) -> bool) -> Result<BooleanArray> {
    let texts = column_of(batch, path, PrimitiveType::String)?;
    let texts: &StringArray = texts
        .as_string_opt()
        .ok_or_else(|| Error::new(ErrorKind::InvalidPredicate, "a string is expected"))?;
    Ok(BooleanArray::from_unary(texts, holds))
}
