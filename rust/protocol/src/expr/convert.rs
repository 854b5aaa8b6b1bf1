//! Casts between types as in Spark's ANSI mode: with the same result, or an error.

use super::Scalar;
use super::failure::Failure;
use super::failure::invalid;
use super::failure::unsupported;
use super::integers::integer;
use super::integers::is_integral;
use super::integers::is_numeric;
use super::integers::whole;
use super::scalar::format_decimal;
use super::texts::{from_text, rounded, to_text};
use super::time_reader::trimmed;
use crate::schema::PrimitiveType;

const DAY: i64 = 86_400_000_000;
const SECOND: i64 = 1_000_000;

/// `DATE '…'`, `TIMESTAMP '…'`, `TIMESTAMP_NTZ '…'`.
pub(super) fn typed_literal(text: &str, to: PrimitiveType) -> Result<Scalar, Failure> {
    let special = trimmed(text).to_ascii_lowercase();
    match special.as_str() {
        "epoch" => {
            return Ok(match to {
                PrimitiveType::Date => Scalar::Date(0),
                PrimitiveType::TimestampNtz => Scalar::TimestampNtz(0),
                _ => Scalar::Timestamp(0),
            });
        }
        "now" | "today" | "tomorrow" | "yesterday" => {
            return unsupported(format!("the {to} {special:?} depends on the current time and"));
        }
        _ => {}
    }
    from_text(text, to)
}

/// Casts a value to another type.
pub(super) fn cast(value: &Scalar, to: PrimitiveType) -> Result<Scalar, Failure> {
    let from = value.data_type();
    if from == to {
        return Ok(value.clone());
    }
    let never = || invalid(format!("the type {from} is not cast to the type {to}"));
    match (value, to) {
        (_, PrimitiveType::Void | PrimitiveType::Variant) => never(),
        (Scalar::String(text), _) => from_text(text, to),
        (_, PrimitiveType::String) => to_text(value),
        (Scalar::Binary(_), _) | (_, PrimitiveType::Binary) => never(),
        (Scalar::Boolean(value), _) if is_numeric(to) => number_of(&Scalar::Integer(i32::from(*value)), to),
        (_, PrimitiveType::Boolean) if is_numeric(from) => Ok(Scalar::Boolean(!is_zero(value))),
        _ if is_numeric(from) && is_numeric(to) => number_of(value, to),
        (Scalar::Date(days), PrimitiveType::Timestamp) => micros_of(*days).map(Scalar::Timestamp),
        (Scalar::Date(days), PrimitiveType::TimestampNtz) => micros_of(*days).map(Scalar::TimestampNtz),
        (Scalar::Timestamp(micros) | Scalar::TimestampNtz(micros), PrimitiveType::Date) => {
            match i32::try_from(micros.div_euclid(DAY)) {
                Ok(days) => Ok(Scalar::Date(days)),
                Err(_) => never(),
            }
        }
        (Scalar::Timestamp(micros), _) if is_integral(to) => {
            let seconds = i128::from(micros.div_euclid(SECOND));
            whole(seconds, to)
                .ok_or_else(|| Failure::Invalid(format!("the value is out of the range of the type {to}")))
        }
        (_, PrimitiveType::Timestamp) if is_integral(from) => {
            match integer(value).and_then(|seconds| seconds.checked_mul(SECOND)) {
                Some(micros) => Ok(Scalar::Timestamp(micros)),
                None => invalid("the value is out of the range of a timestamp"),
            }
        }
        (Scalar::Timestamp(micros), PrimitiveType::TimestampNtz) => Ok(Scalar::TimestampNtz(*micros)),
        (Scalar::TimestampNtz(micros), PrimitiveType::Timestamp) => Ok(Scalar::Timestamp(*micros)),
        _ => unsupported(format!(
            "the cast of the type {from} to the type {to} is not implemented in predicates"
        )),
    }
}

fn micros_of(days: i32) -> Result<i64, Failure> {
    match i64::from(days).checked_mul(DAY) {
        Some(micros) => Ok(micros),
        None => invalid("the date is out of the range of a timestamp"),
    }
}

/// The double that is nearest to a decimal.
pub(super) fn double_of(unscaled: i128, scale: u8) -> f64 {
    format_decimal(unscaled, scale).parse().unwrap_or(f64::NAN)
}

fn is_zero(value: &Scalar) -> bool {
    match value {
        Scalar::Float(value) => *value == 0.0,
        Scalar::Double(value) => *value == 0.0,
        Scalar::Decimal { unscaled, .. } => *unscaled == 0,
        other => integer(other) == Some(0),
    }
}

fn number_of(value: &Scalar, to: PrimitiveType) -> Result<Scalar, Failure> {
    let overflow = || Failure::Invalid(format!("the value is out of the range of the type {to}"));
    let as_text = || match value {
        // As a double, which would have more digits.
        Scalar::Float(value) => f64::from(*value).to_string(),
        Scalar::Double(value) => value.to_string(),
        Scalar::Decimal { unscaled, scale, .. } => format_decimal(*unscaled, *scale),
        other => integer(other).unwrap_or_default().to_string(),
    };
    Ok(match (to, value) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a double's value in a float is the nearest one"
        )]
        (PrimitiveType::Float, Scalar::Double(value)) => Scalar::Float(*value as f32),
        (PrimitiveType::Float, _) => Scalar::Float(as_text().parse().map_err(|_| overflow())?),
        (PrimitiveType::Double, Scalar::Float(value)) => Scalar::Double(f64::from(*value)),
        (PrimitiveType::Double, _) => Scalar::Double(as_text().parse().map_err(|_| overflow())?),
        (PrimitiveType::Decimal { precision, scale }, _) => {
            rounded(&as_text(), precision, scale).ok_or_else(overflow)?
        }
        (_, Scalar::Float(_) | Scalar::Double(_)) => {
            let value = match value {
                Scalar::Float(value) => f64::from(*value),
                Scalar::Double(value) => *value,
                _ => f64::NAN,
            };
            // A double of this size has no fraction, and it fits into an i128.
            if value.is_nan() || value.abs() > 1e30 {
                return Err(overflow());
            }
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the digits after the point are cut off"
            )]
            let cut = value as i128;
            whole(cut, to).ok_or_else(overflow)?
        }
        (_, Scalar::Decimal { unscaled, scale, .. }) => {
            let unit = 10i128.checked_pow(u32::from(*scale)).ok_or_else(overflow)?;
            whole(unscaled / unit, to).ok_or_else(overflow)?
        }
        (_, other) => whole(i128::from(integer(other).ok_or_else(overflow)?), to).ok_or_else(overflow)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Scalar {
        Scalar::String(value.to_owned())
    }

    fn decimal(unscaled: i128, precision: u8, scale: u8) -> Scalar {
        Scalar::Decimal {
            unscaled,
            precision,
            scale,
        }
    }

    #[test]
    fn casts_are_sparks() {
        let money = PrimitiveType::Decimal {
            precision: 5,
            scale: 2,
        };
        for (value, to, expected) in [
            (text(" 5 "), PrimitiveType::Integer, Some(Scalar::Integer(5))),
            (text("5.7"), PrimitiveType::Integer, None),
            (
                Scalar::Double(-5.7),
                PrimitiveType::Integer,
                Some(Scalar::Integer(-5)),
            ),
            (
                Scalar::Double(127.9),
                PrimitiveType::Byte,
                Some(Scalar::Byte(127)),
            ),
            (Scalar::Double(128.0), PrimitiveType::Byte, None),
            (Scalar::Double(f64::NAN), PrimitiveType::Long, None),
            (Scalar::Integer(300), PrimitiveType::Byte, None),
            (text("1.5d"), PrimitiveType::Double, Some(Scalar::Double(1.5))),
            (
                text("-inf"),
                PrimitiveType::Double,
                Some(Scalar::Double(f64::NEG_INFINITY)),
            ),
            (text("-nan"), PrimitiveType::Double, None),
            (text("1.005"), money, Some(decimal(101, 5, 2))),
            (text("-1.005"), money, Some(decimal(-101, 5, 2))),
            (text("999.995"), money, None),
            (text("1e2"), money, Some(decimal(10_000, 5, 2))),
            (text("1e-9"), money, Some(decimal(0, 5, 2))),
            (text(""), money, None),
            (Scalar::Double(1.015), money, Some(decimal(102, 5, 2))),
            (
                decimal(575, 5, 2),
                PrimitiveType::Integer,
                Some(Scalar::Integer(5)),
            ),
            (text("YES"), PrimitiveType::Boolean, Some(Scalar::Boolean(true))),
            (
                Scalar::Boolean(true),
                PrimitiveType::Double,
                Some(Scalar::Double(1.0)),
            ),
            (
                Scalar::Integer(0),
                PrimitiveType::Boolean,
                Some(Scalar::Boolean(false)),
            ),
            (
                Scalar::Date(1),
                PrimitiveType::Timestamp,
                Some(Scalar::Timestamp(DAY)),
            ),
            (Scalar::Timestamp(-1), PrimitiveType::Date, Some(Scalar::Date(-1))),
            (decimal(150, 3, 2), PrimitiveType::String, Some(text("1.50"))),
            (Scalar::Date(0), PrimitiveType::String, Some(text("1970-01-01"))),
            (Scalar::Integer(1), PrimitiveType::Binary, None),
            (Scalar::Date(0), PrimitiveType::Integer, None),
        ] {
            assert_eq!(cast(&value, to).ok(), expected, "{value:?} to {to}");
        }
    }
}
