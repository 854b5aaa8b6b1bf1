//! Converts a literal to the type of a column, so that the column does not have to be cast row by row.

use crate::expr::literal::integers::{integer, is_integral, whole};
use crate::expr::{BoundPredicate, Comparison, Operand, Scalar};
use crate::schema::PrimitiveType;

const DAY: i64 = 86_400_000_000;

/// The position of a value relative to the values of the type of a column.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::expr) enum LiteralPosition {
    /// Equal to this value.
    Exact(Scalar),
    /// Above this value and below the next.
    After(Scalar),
    /// Below all values.
    Below,
    /// Above all values.
    Above,
}

/// The position of a value relative to those of the type of a column. `None` if the column must be cast
/// for the comparison: 64-bit integers and decimals compared with floating point numbers.
pub(in crate::expr) fn fit(value: &Scalar, column: PrimitiveType) -> Option<LiteralPosition> {
    if value.data_type() == column {
        return Some(LiteralPosition::Exact(value.clone()));
    }
    if is_integral(column) {
        let (floor, exact) = match value {
            Scalar::Decimal { unscaled, scale, .. } => {
                let unit = 10i128.checked_pow(u32::from(*scale))?;
                (unscaled.div_euclid(unit), unscaled.rem_euclid(unit) == 0)
            }
            Scalar::Double(_) if column == PrimitiveType::Long => return None,
            Scalar::Double(double) if double.is_nan() => return Some(LiteralPosition::Above),
            // Any such value is outside of the 32-bit range.
            #[expect(clippy::cast_possible_truncation, reason = "it is clamped before")]
            Scalar::Double(double) => (
                double.clamp(-1e15, 1e15).floor() as i128,
                double.floor() == *double,
            ),
            other => (i128::from(integer(other)?), true),
        };
        return Some(match whole(floor, column) {
            Some(value) if exact => LiteralPosition::Exact(value),
            Some(value) => LiteralPosition::After(value),
            None if floor < 0 => LiteralPosition::Below,
            None => LiteralPosition::Above,
        });
    }
    match (column, value) {
        (PrimitiveType::Float, Scalar::Double(double)) => Some(of_float(*double)),
        (
            PrimitiveType::Decimal { precision, scale },
            Scalar::Decimal {
                unscaled, scale: own, ..
            },
        ) => Some(of_decimal(*unscaled, *own, precision, scale)),
        (PrimitiveType::Date, Scalar::Timestamp(micros) | Scalar::TimestampNtz(micros)) => {
            let days = micros.div_euclid(DAY);
            Some(match i32::try_from(days) {
                Ok(days) if micros.rem_euclid(DAY) == 0 => LiteralPosition::Exact(Scalar::Date(days)),
                Ok(days) => LiteralPosition::After(Scalar::Date(days)),
                Err(_) if days < 0 => LiteralPosition::Below,
                Err(_) => LiteralPosition::Above,
            })
        }
        // The time zone of the session is UTC.
        (PrimitiveType::TimestampNtz, Scalar::Timestamp(micros)) => {
            Some(LiteralPosition::Exact(Scalar::TimestampNtz(*micros)))
        }
        (PrimitiveType::Timestamp, Scalar::TimestampNtz(micros)) => {
            Some(LiteralPosition::Exact(Scalar::Timestamp(*micros)))
        }
        _ => None,
    }
}

fn of_float(double: f64) -> LiteralPosition {
    #[expect(clippy::cast_possible_truncation, reason = "the nearest is looked at")]
    let nearest = double as f32;
    if double.is_nan() || f64::from(nearest) == double {
        LiteralPosition::Exact(Scalar::Float(nearest))
    } else if f64::from(nearest) < double {
        LiteralPosition::After(Scalar::Float(nearest))
    } else {
        LiteralPosition::After(Scalar::Float(nearest.next_down()))
    }
}

fn of_decimal(unscaled: i128, own: u8, precision: u8, scale: u8) -> LiteralPosition {
    let outside = if unscaled < 0 {
        LiteralPosition::Below
    } else {
        LiteralPosition::Above
    };
    let unit = |difference: u8| 10i128.checked_pow(u32::from(difference));
    let (moved, exact) = if own <= scale {
        match unit(scale - own).and_then(|unit| unscaled.checked_mul(unit)) {
            Some(moved) => (moved, true),
            None => return outside,
        }
    } else {
        match unit(own - scale) {
            Some(unit) => (unscaled.div_euclid(unit), unscaled.rem_euclid(unit) == 0),
            None => return outside,
        }
    };
    let limit = unit(precision).unwrap_or(i128::MAX);
    let value = Scalar::Decimal {
        unscaled: moved,
        precision,
        scale,
    };
    if moved <= -limit {
        LiteralPosition::Below
    } else if moved >= limit {
        LiteralPosition::Above
    } else if exact {
        LiteralPosition::Exact(value)
    } else {
        LiteralPosition::After(value)
    }
}

/// `column op value`.
pub(in crate::expr) fn compare(
    op: Comparison,
    path: Vec<String>,
    column: PrimitiveType,
    fit: LiteralPosition,
) -> BoundPredicate {
    let with = |op, path, value| BoundPredicate::Compare {
        op,
        left: Operand::Column(path),
        right: Operand::Scalar(value),
        common: column,
    };
    let up = matches!(op, Comparison::Less | Comparison::LessOrEqual);
    let down = matches!(op, Comparison::Greater | Comparison::GreaterOrEqual);
    match fit {
        LiteralPosition::Exact(value) => with(op, path, value),
        LiteralPosition::After(value) if up => with(Comparison::LessOrEqual, path, value),
        LiteralPosition::After(value) if down => with(Comparison::Greater, path, value),
        LiteralPosition::Above if up => unless_null(path, true),
        LiteralPosition::Above if down => unless_null(path, false),
        LiteralPosition::Below if up => unless_null(path, false),
        LiteralPosition::Below if down => unless_null(path, true),
        _ => match op {
            Comparison::NullSafeEqual => BoundPredicate::Constant(Some(false)),
            _ => unless_null(path, op == Comparison::NotEqual),
        },
    }
}

/// One result for every value, NULL for NULL.
pub(in crate::expr) fn unless_null(path: Vec<String>, answer: bool) -> BoundPredicate {
    let (null, unknown) = (BoundPredicate::IsNull(path), BoundPredicate::Constant(None));
    if answer {
        BoundPredicate::Or(vec![BoundPredicate::Not(Box::new(null)), unknown])
    } else {
        BoundPredicate::And(vec![null, unknown])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(unscaled: i128, precision: u8, scale: u8) -> Scalar {
        Scalar::Decimal {
            unscaled,
            precision,
            scale,
        }
    }

    #[test]
    fn a_value_finds_its_place_in_a_columns_type() {
        let money = PrimitiveType::Decimal {
            precision: 4,
            scale: 2,
        };
        for (value, column, expected) in [
            (
                Scalar::Integer(5),
                PrimitiveType::Byte,
                Some(LiteralPosition::Exact(Scalar::Byte(5))),
            ),
            (
                Scalar::Integer(128),
                PrimitiveType::Byte,
                Some(LiteralPosition::Above),
            ),
            (
                Scalar::Long(-129),
                PrimitiveType::Byte,
                Some(LiteralPosition::Below),
            ),
            (
                decimal(-15, 2, 1),
                PrimitiveType::Integer,
                Some(LiteralPosition::After(Scalar::Integer(-2))),
            ),
            (
                decimal(1275, 4, 1),
                PrimitiveType::Byte,
                Some(LiteralPosition::After(Scalar::Byte(127))),
            ),
            (
                decimal(-1285, 4, 1),
                PrimitiveType::Byte,
                Some(LiteralPosition::Below),
            ),
            (
                Scalar::Double(1.5),
                PrimitiveType::Short,
                Some(LiteralPosition::After(Scalar::Short(1))),
            ),
            (
                Scalar::Double(f64::NAN),
                PrimitiveType::Integer,
                Some(LiteralPosition::Above),
            ),
            (
                Scalar::Double(f64::NEG_INFINITY),
                PrimitiveType::Integer,
                Some(LiteralPosition::Below),
            ),
            (Scalar::Double(1.0), PrimitiveType::Long, None),
            (
                Scalar::Double(0.5),
                PrimitiveType::Float,
                Some(LiteralPosition::Exact(Scalar::Float(0.5))),
            ),
            (
                Scalar::Double(0.1),
                PrimitiveType::Float,
                Some(LiteralPosition::After(Scalar::Float(0.1f32.next_down()))),
            ),
            (
                Scalar::Double(1e300),
                PrimitiveType::Float,
                Some(LiteralPosition::After(Scalar::Float(f32::MAX))),
            ),
            (
                Scalar::Double(-1e300),
                PrimitiveType::Float,
                Some(LiteralPosition::After(Scalar::Float(f32::NEG_INFINITY))),
            ),
            (
                decimal(5, 1, 0),
                money,
                Some(LiteralPosition::Exact(decimal(500, 4, 2))),
            ),
            (
                decimal(5005, 4, 3),
                money,
                Some(LiteralPosition::After(decimal(500, 4, 2))),
            ),
            (
                decimal(-5005, 4, 3),
                money,
                Some(LiteralPosition::After(decimal(-501, 4, 2))),
            ),
            (decimal(100, 3, 0), money, Some(LiteralPosition::Above)),
            (decimal(i128::MIN + 1, 38, 0), money, Some(LiteralPosition::Below)),
            (
                Scalar::Timestamp(-1),
                PrimitiveType::Date,
                Some(LiteralPosition::After(Scalar::Date(-1))),
            ),
            (
                Scalar::Timestamp(DAY),
                PrimitiveType::Date,
                Some(LiteralPosition::Exact(Scalar::Date(1))),
            ),
            (
                Scalar::Timestamp(7),
                PrimitiveType::TimestampNtz,
                Some(LiteralPosition::Exact(Scalar::TimestampNtz(7))),
            ),
            (Scalar::Double(1.0), money, None),
        ] {
            assert_eq!(fit(&value, column), expected, "{value:?} in {column}");
        }
    }
}
