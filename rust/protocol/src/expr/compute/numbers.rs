//! Functions of numbers.

use std::sync::Arc;

use arrow_array::Float64Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;

use super::decimals;
use super::values::{Values, by_row, scalars};
use crate::expr::Scalar;
use crate::expr::cast::cast;
use crate::expr::cast::texts::rounded;
use crate::expr::failure::{Failure, invalid};
use crate::expr::function::Function;
use crate::expr::literal::decimal_text::format_decimal;
use crate::expr::literal::integers::{integer, whole};
use crate::schema::PrimitiveType;

/// Calls a function of a number of the type `from`, and for ROUND and POWER another number.
pub(super) fn call(
    function: Function,
    (values, from): (&Values, PrimitiveType),
    other: Option<&Values>,
    to: PrimitiveType,
    rows: usize,
) -> Result<Values, Failure> {
    match (function, other) {
        (Function::SquareRoot, _) => doubles(values, rows, |value, _| value.sqrt(), None),
        (Function::Power, Some(exponent)) => doubles(values, rows, power, Some(exponent)),
        _ => {
            let places = other.map(|other| other.int(0).unwrap_or_default());
            scalars(&[values], rows, to, |row| {
                let Some(value) = values.scalar(row, from) else {
                    return Ok(None);
                };
                match function {
                    Function::Abs => absolute(&value, to),
                    Function::Floor | Function::Ceil => whole_part(&value, function == Function::Ceil, to),
                    Function::Round => round(&value, places.unwrap_or_default(), to),
                    _ => invalid("a function is not one of numbers"),
                }
                .map(Some)
            })
        }
    }
}

fn doubles(
    values: &Values,
    rows: usize,
    compute: impl Fn(f64, f64) -> f64,
    other: Option<&Values>,
) -> Result<Values, Failure> {
    let of = |values: &Values, row: usize| match values.scalar(row, PrimitiveType::Double) {
        Some(Scalar::Double(value)) => Some(value),
        _ => None,
    };
    match other {
        Some(other) => by_row::<_, Float64Array>(&[values, other], rows, |row| {
            Ok(of(values, row).zip(of(other, row)).map(|(a, b)| compute(a, b)))
        }),
        None => match values.array.as_primitive_opt::<Float64Type>() {
            Some(array) => {
                let computed: Float64Array = array.unary(|value| compute(value, 0.0));
                Ok(values.with(Arc::new(computed)))
            }
            None => invalid("a double is expected"),
        },
    }
}

/// The power as Java computes it: C has a number for powers of 1 and -1 that Java has not.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent.is_nan() || (base.abs() == 1.0 && exponent.is_infinite()) {
        return f64::NAN;
    }
    libm::pow(base, exponent)
}

fn overflow(to: PrimitiveType) -> Failure {
    Failure::Invalid(format!("the result is out of the range of the type {to}"))
}

fn absolute(value: &Scalar, to: PrimitiveType) -> Result<Scalar, Failure> {
    Ok(match value {
        Scalar::Float(value) => Scalar::Float(value.abs()),
        Scalar::Double(value) => Scalar::Double(value.abs()),
        Scalar::Decimal {
            unscaled,
            precision,
            scale,
        } => Scalar::Decimal {
            unscaled: match *unscaled < 0 {
                true => decimals::negated(*unscaled, to)?,
                false => *unscaled,
            },
            precision: *precision,
            scale: *scale,
        },
        other => {
            let number = i128::from(integer(other).unwrap_or_default());
            whole(number.abs(), to).ok_or_else(|| overflow(to))?
        }
    })
}

/// FLOOR and CEIL.
fn whole_part(value: &Scalar, is_up: bool, to: PrimitiveType) -> Result<Scalar, Failure> {
    Ok(match value {
        Scalar::Double(value) => {
            let value = if is_up { value.ceil() } else { value.floor() };
            // Only the comparison with the range raises in Spark.
            let value = if value.is_nan() { 0.0 } else { value };
            cast(&Scalar::Double(value), PrimitiveType::Long)?
        }
        Scalar::Decimal { unscaled, scale, .. } => {
            let unit = 10i128.pow(u32::from(*scale));
            let floor = unscaled.div_euclid(unit);
            let is_more = is_up && unscaled.rem_euclid(unit) != 0;
            let PrimitiveType::Decimal { precision, scale } = to else {
                return Err(overflow(to));
            };
            let unscaled = floor + i128::from(is_more);
            if unscaled.unsigned_abs() >= 10u128.pow(u32::from(precision)) {
                return Err(overflow(to));
            }
            Scalar::Decimal {
                unscaled,
                precision,
                scale,
            }
        }
        other => cast(other, to)?,
    })
}

/// Rounds half away from zero to places after the point, or before it if negative.
fn round(value: &Scalar, places: i64, to: PrimitiveType) -> Result<Scalar, Failure> {
    match value {
        Scalar::Float(value) if !value.is_finite() => Ok(Scalar::Float(*value)),
        Scalar::Double(value) if !value.is_finite() => Ok(Scalar::Double(*value)),
        Scalar::Float(value) => {
            let text = round_text(&f64::from(*value).to_string(), places);
            let rounded: f32 = text.parse().map_err(|_| overflow(to))?;
            // Decimals, by which Spark rounds, have no negative zero.
            Ok(Scalar::Float(rounded + 0.0))
        }
        Scalar::Double(value) => {
            let text = round_text(&value.to_string(), places);
            let rounded: f64 = text.parse().map_err(|_| overflow(to))?;
            Ok(Scalar::Double(rounded + 0.0))
        }
        Scalar::Decimal { unscaled, scale, .. } => {
            let text = round_text(&format_decimal(*unscaled, *scale), places);
            let PrimitiveType::Decimal { precision, scale } = to else {
                return Err(overflow(to));
            };
            rounded(&text, precision, scale).ok_or_else(|| overflow(to))
        }
        other => {
            let text = round_text(&integer(other).unwrap_or_default().to_string(), places);
            whole(text.parse().map_err(|_| overflow(to))?, to).ok_or_else(|| overflow(to))
        }
    }
}

/// Rounds a number in plain notation.
fn round_text(text: &str, places: i64) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let kept = i64::try_from(before.len())
        .unwrap_or(i64::MAX)
        .saturating_add(places);
    let all = format!("{before}{after}");
    if kept >= i64::try_from(all.len()).unwrap_or(i64::MAX) {
        return text.to_owned();
    }
    let Ok(kept) = usize::try_from(kept) else {
        return format!("{sign}0");
    };
    let (head, rest) = all.split_at_checked(kept).unwrap_or((&all, ""));
    let is_up = rest.starts_with(|digit: char| digit >= '5');
    // One digit more, for a carry.
    let mut head: Vec<u8> = std::iter::once(b'0').chain(head.bytes()).collect();
    if is_up {
        for digit in head.iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                break;
            }
            *digit = b'0';
        }
    }
    let head = String::from_utf8(head).unwrap_or_default();
    let whole = before.len() + 1;
    match head.split_at_checked(whole) {
        Some((before, after)) if !after.is_empty() => format!("{sign}{before}.{after}"),
        _ => format!("{sign}{head:0<whole$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{power, round, round_text};
    use crate::expr::Scalar;
    use crate::schema::PrimitiveType;

    #[test]
    fn powers_are_those_of_java() {
        for (base, exponent) in [(1.0, f64::NAN), (1.0, f64::INFINITY), (-1.0, f64::NEG_INFINITY)] {
            assert!(power(base, exponent).is_nan(), "{base} {exponent}");
        }
        assert_eq!(power(f64::NAN, 0.0).to_bits(), 1.0f64.to_bits());
    }

    #[test]
    fn no_negative_number_is_rounded_to_negative_zero() {
        for value in [-0.0, -0.1] {
            let rounded = round(&Scalar::Double(value), 0, PrimitiveType::Double);
            assert!(
                matches!(rounded, Ok(Scalar::Double(zero)) if zero.to_bits() == 0),
                "{value}"
            );
        }
    }

    #[test]
    fn numbers_are_rounded_half_away_from_zero() {
        for (text, places, expected) in [
            ("1.25", 1, "01.3"),
            ("-1.25", 1, "-01.3"),
            ("0.5", 0, "01"),
            ("9.99", 1, "10.0"),
            ("125", -1, "0130"),
            ("950", -3, "1000"),
            ("5", -1, "10"),
            ("4", -1, "00"),
            ("4", -2, "0"),
            ("1.5", 3, "1.5"),
        ] {
            assert_eq!(round_text(text, places), expected, "{text} {places}");
        }
    }
}
