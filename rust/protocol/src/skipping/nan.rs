//! Which columns are not NaN in a row with a result.
//!
//! NaN is greater than every other number, and many writers exclude it from bounds: any file may contain
//! NaN.

use super::expected::{Expected, asked};
use super::ranges::double;
use crate::expr::{BoundPredicate, Comparison, Operand, Scalar};

/// Adds the columns that are not NaN in a row with this result of the predicate. Columns of other types
/// are irrelevant.
pub(super) fn ruled_out<'a>(
    predicate: &'a BoundPredicate,
    answer: Expected,
    columns: &mut Vec<&'a [String]>,
) {
    match (predicate, answer) {
        (BoundPredicate::Not(inner), _) => ruled_out(inner, answer.opposite(), columns),
        (BoundPredicate::And(parts), Expected::True) | (BoundPredicate::Or(parts), Expected::False) => {
            parts.iter().for_each(|part| ruled_out(part, answer, columns));
        }
        (BoundPredicate::Is(inner, Some(truth)), Expected::True) => {
            let answer = if *truth { Expected::True } else { Expected::False };
            ruled_out(inner, answer, columns);
        }
        (BoundPredicate::IsNan(path), Expected::False) => columns.push(path),
        (BoundPredicate::In { path, values, .. }, Expected::True)
            if values.values().iter().all(is_number) =>
        {
            columns.push(path);
        }
        (BoundPredicate::Compare { op, left, right, .. }, _) => {
            let Some(op) = asked(*op, answer, left, right) else {
                return;
            };
            let is_number = |side: &Operand| matches!(side, Operand::Scalar(value) if is_number(value));
            let (below, above) = match op {
                Comparison::Less => (true, false),
                Comparison::Greater => (false, true),
                Comparison::LessOrEqual => (is_number(right), false),
                Comparison::GreaterOrEqual => (false, is_number(left)),
                Comparison::Equal | Comparison::NullSafeEqual => (is_number(right), is_number(left)),
                Comparison::NotEqual => (false, false),
            };
            for (side, _) in [(left, below), (right, above)]
                .into_iter()
                .filter(|(_, is_number)| *is_number)
            {
                if let Operand::Column(path) = side {
                    columns.push(path);
                }
            }
        }
        _ => {}
    }
}

fn is_number(value: &Scalar) -> bool {
    double(value).is_some_and(|value| !value.is_nan())
}
