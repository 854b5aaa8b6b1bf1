//! Binds comparisons.

use super::binder::{Binder, Value};
use super::literal_position;
use super::truth::{is, not};
use crate::Result;
use crate::expr::cast::coercion::wider;
use crate::expr::cast::known::Known;
use crate::expr::literal::integers;
use crate::expr::literal::order::compare_values;
use crate::expr::span::Span;
use crate::expr::{BoundPredicate, Comparison, Operand, Scalar};
use crate::schema::PrimitiveType;

/// An operand and its position.
type Placed = (Span, Value);

impl Binder<'_> {
    pub(super) fn compare(
        &self,
        op: Comparison,
        left: Placed,
        right: Placed,
        at: Span,
    ) -> Result<BoundPredicate> {
        match (left, right) {
            ((_, Value::Known(left)), (_, Value::Known(right))) => self.fold(op, &left, &right, at),
            ((_, Value::Known(known)), other) => self.beside_known(op.mirrored(), other, &known, at),
            (other, (_, Value::Known(known))) => self.beside_known(op, other, &known, at),
            ((_, Value::Column(left)), (_, Value::Column(right))) => {
                let (left_type, right_type) = (self.comparable(at, &left)?, self.comparable(at, &right)?);
                let apart = (left_type == PrimitiveType::String) != (right_type == PrimitiveType::String);
                match wider(left_type, right_type) {
                    Some(_) if apart => self.source.unsupported(
                        at,
                        format!(
                            "{} ({left_type}) and {} ({right_type}) cannot be compared: the string needs a cast",
                            left.name(),
                            right.name()
                        ),
                        "",
                    ),
                    // Both operands are NULL literals.
                    Some(PrimitiveType::Void) => {
                        let same = op == Comparison::NullSafeEqual;
                        Ok(BoundPredicate::Constant(same.then_some(true)))
                    }
                    Some(common) => Ok(BoundPredicate::Compare {
                        op,
                        left: Operand::Column(left.path),
                        right: Operand::Column(right.path),
                        common,
                    }),
                    None => self.apart(at, left_type, right_type),
                }
            }
            ((left_at, left @ Value::Condition(_)), right) => {
                let column = self.lifted(self.typed(left_at, left)?);
                self.compare(op, (left_at, Value::Column(column)), right, at)
            }
            (left, (right_at, right @ Value::Condition(_))) => {
                let column = self.lifted(self.typed(right_at, right)?);
                self.compare(op, left, (right_at, Value::Column(column)), at)
            }
            _ => self.only_of_columns(at),
        }
    }

    /// The error for two types without a common type.
    pub(super) fn apart<T>(&self, at: Span, left: PrimitiveType, right: PrimitiveType) -> Result<T> {
        let both_numbers = integers::is_numeric(left) && integers::is_numeric(right);
        let why = if both_numbers {
            "have too many digits to be compared exactly"
        } else {
            "cannot be compared"
        };
        let hint =
            "write the literal as the column's type, for example DATE '2026-11-01', 9.5, 'text' or X'00FF'";
        self.source
            .invalid(at, format!("the types {left} and {right} {why}"), hint)
    }

    /// Folds the comparison of two constants.
    fn fold(&self, op: Comparison, left: &Known, right: &Known, at: Span) -> Result<BoundPredicate> {
        let Some(common) = wider(left.data_type, right.data_type) else {
            return self.apart(at, left.data_type, right.data_type);
        };
        let beyond = beyond_long(op, left.data_type, right);
        if let Some(answer) = beyond.or_else(|| beyond_long(op.mirrored(), right.data_type, left)) {
            return Ok(BoundPredicate::Constant(Some(answer)));
        }
        let (left, right) = (
            left.cast(common).map_err(self.failed(at))?,
            right.cast(common).map_err(self.failed(at))?,
        );
        let answer = match (left.value, right.value) {
            (Some(left), Some(right)) => Some(compare_values(op, &left, &right)),
            (left, right) => (op == Comparison::NullSafeEqual).then_some(left.is_none() && right.is_none()),
        };
        Ok(BoundPredicate::Constant(answer))
    }

    /// Binds the comparison of a column or a condition with a constant.
    fn beside_known(&self, op: Comparison, side: Placed, known: &Known, at: Span) -> Result<BoundPredicate> {
        match side {
            (_, Value::Condition(condition)) => match wider(PrimitiveType::Boolean, known.data_type) {
                Some(PrimitiveType::Boolean) => {
                    let known = known.cast(PrimitiveType::Boolean).map_err(self.failed(at))?;
                    Ok(with_truth(op, condition, known.value.as_ref()))
                }
                _ => self.apart(at, PrimitiveType::Boolean, known.data_type),
            },
            (side_at, Value::Column(column)) => {
                // An untyped NULL can be compared with any type.
                if known.data_type == PrimitiveType::Void && known.value.is_none() {
                    return Ok(match op {
                        Comparison::NullSafeEqual => BoundPredicate::IsNull(column.path),
                        _ => BoundPredicate::Constant(None),
                    });
                }
                let column_type = self.comparable(side_at, &column)?;
                if let Some(answer) = beyond_long(op, column_type, known) {
                    return Ok(BoundPredicate::Constant(Some(answer)));
                }
                let Some(common) = wider(column_type, known.data_type) else {
                    return self.apart(at, column_type, known.data_type);
                };
                if column_type == PrimitiveType::String && common != PrimitiveType::String {
                    return self.of_texts(at, &column.name(), known.data_type);
                }
                let value = match known.cast(common) {
                    Ok(known) => known.value,
                    Err(failure) => {
                        let error = failure.at(self.source, at);
                        return Err(error.with("field", column.name()));
                    }
                };
                let Some(value) = value else {
                    return Ok(match op {
                        Comparison::NullSafeEqual => BoundPredicate::IsNull(column.path),
                        _ => BoundPredicate::Constant(None),
                    });
                };
                if column_type == PrimitiveType::Boolean {
                    return Ok(with_truth(op, BoundPredicate::Column(column.path), Some(&value)));
                }
                Ok(beside_value(op, column.path, column_type, value, common))
            }
            _ => self.only_of_columns(at),
        }
    }

    pub(super) fn of_texts<T>(&self, at: Span, name: &str, other: PrimitiveType) -> Result<T> {
        self.source.unsupported(
            at,
            format!("{name} is a string: comparing it with the type {other} needs a cast"),
            "write the literal as text, for example 'x'",
        )
    }
}

/// Spark's result for every row, including NULL, if an integer is compared with a literal outside of the
/// 64-bit range.
fn beyond_long(op: Comparison, side: PrimitiveType, known: &Known) -> Option<bool> {
    let (true, true, Some(Scalar::Decimal { unscaled, scale, .. })) =
        (integers::is_integral(side), known.is_literal, &known.value)
    else {
        return None;
    };
    let unit = 10i128.checked_pow(u32::from(*scale))?;
    let below = *unscaled < i128::from(i64::MIN).checked_mul(unit)?;
    let above = *unscaled > i128::from(i64::MAX).checked_mul(unit)?;
    match op {
        Comparison::Greater | Comparison::GreaterOrEqual if below || above => Some(below),
        Comparison::Less | Comparison::LessOrEqual if below || above => Some(above),
        _ => None,
    }
}

/// A column compared with a value of the common type.
pub(super) fn beside_value(
    op: Comparison,
    path: Vec<String>,
    column: PrimitiveType,
    value: Scalar,
    common: PrimitiveType,
) -> BoundPredicate {
    match literal_position::fit(&value, column) {
        Some(fit) => literal_position::compare(op, path, column, fit),
        None => BoundPredicate::Compare {
            op,
            left: Operand::Column(path),
            right: Operand::Scalar(value),
            common,
        },
    }
}

/// A condition compared with TRUE, FALSE or NULL. FALSE is less than TRUE.
pub(super) fn with_truth(
    op: Comparison,
    condition: BoundPredicate,
    value: Option<&Scalar>,
) -> BoundPredicate {
    let Some(Scalar::Boolean(value)) = value else {
        return match op {
            Comparison::NullSafeEqual => is(condition, None),
            _ => BoundPredicate::Constant(None),
        };
    };
    if let BoundPredicate::Constant(known) = condition {
        let answer = match known {
            Some(known) => Some(compare_values(
                op,
                &Scalar::Boolean(known),
                &Scalar::Boolean(*value),
            )),
            None => (op == Comparison::NullSafeEqual).then_some(false),
        };
        return BoundPredicate::Constant(answer);
    }
    if op == Comparison::NullSafeEqual {
        return is(condition, Some(*value));
    }
    let answer = |own: bool| compare_values(op, &Scalar::Boolean(own), &Scalar::Boolean(*value));
    match (answer(true), answer(false)) {
        (true, false) => condition,
        (false, true) => not(condition),
        // The same result for TRUE and FALSE, but NULL for NULL.
        (true, true) => BoundPredicate::Or(vec![not(is(condition, None)), BoundPredicate::Constant(None)]),
        (false, false) => BoundPredicate::And(vec![is(condition, None), BoundPredicate::Constant(None)]),
    }
}
