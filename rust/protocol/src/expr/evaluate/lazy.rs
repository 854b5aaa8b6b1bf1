//! Operands of which later ones are not evaluated for rows in which an earlier one is NULL, as in Spark.

use arrow_array::{RecordBatch, new_null_array};
use arrow_buffer::BooleanBuffer;

use super::branches::Choice;
use crate::expr::bound::{Computed, Node};
use crate::expr::functions::Laziness;
use crate::expr::kernels::Values;
use crate::expr::span::Source;
use crate::{Error, Result};

/// The values of two operands, which are evaluated in this order.
pub(super) fn pair(
    parts: [&Computed; 2],
    order: [usize; 2],
    batch: &RecordBatch,
    source: Source<'_>,
) -> Result<[Values; 2]> {
    in_order(&parts, &order, &|_, _, _| true, batch, source)?
        .try_into()
        .map_err(|_| Error::internal("two operands have no two values"))
}

/// The values of the arguments of a function.
pub(super) fn arguments(
    laziness: Laziness,
    parts: &[Computed],
    batch: &RecordBatch,
    source: Source<'_>,
) -> Result<Vec<Values>> {
    let parts: Vec<&Computed> = parts.iter().collect();
    match laziness {
        Laziness::Eager => parts.iter().map(|part| part.values(batch, source)).collect(),
        Laziness::UntilNull => {
            let order: Vec<usize> = (0..parts.len()).collect();
            in_order(&parts, &order, &|_, _, _| true, batch, source)
        }
        Laziness::AfterWord(word, is_known) => {
            let is_needed = |index: usize, values: &Values, row: usize| {
                index != word || values.text(row).is_some_and(is_known)
            };
            in_order(&parts, &[word, 1 - word], &is_needed, batch, source)
        }
    }
}

/// The values of parts. If one of them raises, they are evaluated in an order: each for the rows in which all parts before
/// it are not NULL, and needed. A NULL literal comes first.
fn in_order(
    parts: &[&Computed],
    order: &[usize],
    is_needed: &dyn Fn(usize, &Values, usize) -> bool,
    batch: &RecordBatch,
    source: Source<'_>,
) -> Result<Vec<Values>> {
    let all: Result<Vec<Values>> = parts.iter().map(|part| part.values(batch, source)).collect();
    if all.is_ok() || parts.len() < 2 {
        return all;
    }
    let is_null = |part: &Computed| match &part.node {
        Node::Known(known) => known.value.is_none(),
        node => *node == Node::Null,
    };
    let rows = batch.num_rows();
    let mut reached = match parts.iter().any(|part| is_null(part)) {
        true => BooleanBuffer::new_unset(rows),
        false => BooleanBuffer::new_set(rows),
    };
    let mut found: Vec<Option<Values>> = vec![None; parts.len()];
    for index in order {
        let Some(part) = parts.get(*index) else {
            continue;
        };
        let values = on_rows(part, &reached, batch, source)?;
        reached = BooleanBuffer::collect_bool(rows, |row| {
            reached.value(row) && !values.is_null(row) && is_needed(*index, &values, row)
        });
        if let Some(place) = found.get_mut(*index) {
            *place = Some(values);
        }
    }
    let found: Option<Vec<Values>> = found.into_iter().collect();
    found.ok_or_else(|| Error::internal("an operand has no place in the order of evaluation"))
}

/// The values of some rows; NULL for the others.
fn on_rows(
    part: &Computed,
    reached: &BooleanBuffer,
    batch: &RecordBatch,
    source: Source<'_>,
) -> Result<Values> {
    let mut choice = Choice::new(batch.num_rows(), &part.data_type)?;
    if reached.count_set_bits() > 0 {
        choice.take_from(part, reached, batch, source)?;
    }
    let others = choice.others();
    let null = Values::constant(new_null_array(&part.data_type.to_arrow()?, 1));
    choice.take(&null, &others, |_| true)?;
    choice.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};

    use crate::expr::ValueExpr;
    use crate::schema::schema_from_arrow;
    use crate::{Error, Result};

    /// Whether an expression raises for the row with these values of `i` and `text`.
    fn raises(expression: &str, i: Option<i32>, text: Option<&str>) -> Result<bool> {
        let columns: [(&str, ArrayRef); 2] = [
            ("i", Arc::new(Int32Array::from(vec![i, Some(1)]))),
            ("text", Arc::new(StringArray::from(vec![text, Some("2")]))),
        ];
        let batch =
            RecordBatch::try_from_iter(columns).map_err(|error| Error::internal(error.to_string()))?;
        let schema = schema_from_arrow(&batch.schema())?;
        let found = ValueExpr::parse(expression)?.bind(&schema)?.evaluate(&batch);
        Ok(found.is_err())
    }

    #[test]
    fn later_operands_of_null_are_not_evaluated() -> Result<()> {
        for (expression, i, text, expected) in [
            ("i + text", None, Some("x"), false),
            ("text + i", None, Some("x"), true),
            ("i + CAST(text AS INT)", None, Some("x"), false),
            ("i + CAST(text AS INT)", Some(1), Some("x"), true),
            ("CAST(text AS INT) + i", None, Some("x"), true),
            // The divisor comes first.
            ("i / CAST(text AS INT)", None, Some("x"), true),
            ("CAST(text AS INT) / i", None, Some("x"), false),
            ("NULL + CAST(text AS INT)", Some(1), Some("x"), false),
            (
                "date_add(DATE '2026-01-01', i + CAST(text AS INT))",
                None,
                Some("x"),
                false,
            ),
            ("substring('abc', i, CAST(text AS INT))", None, Some("x"), false),
            ("concat(i, CAST(text AS INT))", None, Some("x"), true),
            ("trunc(text, 'nothing')", Some(1), Some("x"), false),
            ("trunc(text, 'year')", Some(1), Some("x"), true),
        ] {
            assert_eq!(raises(expression, i, text)?, expected, "{expression}");
        }
        Ok(())
    }
}
