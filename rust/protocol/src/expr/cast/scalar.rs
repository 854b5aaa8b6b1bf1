//! Casts a value to another type.

use super::texts::{from_text, rounded, to_text};
use crate::expr::Scalar;
use crate::expr::failure::{Failure, invalid, unsupported};
use crate::expr::literal::decimal_text::format_decimal;
use crate::expr::literal::integers::{integer, is_integral, is_numeric, whole};
use crate::expr::time::reader::trimmed;
use crate::schema::PrimitiveType;

const DAY: i64 = 86_400_000_000;
const SECOND: i64 = 1_000_000;

/// `DATE '…'`, `TIMESTAMP '…'`, `TIMESTAMP_NTZ '…'`.
pub(in crate::expr) fn typed_literal(text: &str, to: PrimitiveType) -> Result<Scalar, Failure> {
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

/// Casts a value to another type. Infinity and NaN become NULL if they are cast to decimals.
pub(in crate::expr) fn cast_or_missing(value: &Scalar, to: PrimitiveType) -> Result<Option<Scalar>, Failure> {
    let is_finite = match value {
        Scalar::Float(value) => value.is_finite(),
        Scalar::Double(value) => value.is_finite(),
        _ => true,
    };
    match to {
        PrimitiveType::Decimal { .. } if !is_finite => Ok(None),
        _ => cast(value, to).map(Some),
    }
}

/// Casts a value to another type.
pub(in crate::expr) fn cast(value: &Scalar, to: PrimitiveType) -> Result<Scalar, Failure> {
    let from = value.data_type();
    if from == to {
        return Ok(value.clone());
    }
    let never = || invalid(format!("the type {from} is not cast to the type {to}"));
    match (value, to) {
        (_, PrimitiveType::Void | PrimitiveType::Variant) => never(),
        (Scalar::String(text), _) => from_text(text, to),
        (_, PrimitiveType::String) => to_text(value),
        (Scalar::Timestamp(micros), PrimitiveType::Float | PrimitiveType::Double) => {
            number_of(&Scalar::Double(seconds_of(*micros)), to)
        }
        (Scalar::Timestamp(micros), PrimitiveType::Decimal { .. }) => {
            let seconds = Scalar::Decimal {
                unscaled: i128::from(*micros),
                precision: 19,
                scale: 6,
            };
            number_of(&seconds, to)
        }
        (Scalar::Float(seconds), PrimitiveType::Timestamp) => instant_of(f64::from(*seconds)),
        (Scalar::Double(seconds), PrimitiveType::Timestamp) => instant_of(*seconds),
        (Scalar::Decimal { unscaled, scale, .. }, PrimitiveType::Timestamp) => {
            match micros_of_decimal(*unscaled, *scale) {
                Some(micros) => Ok(Scalar::Timestamp(micros)),
                // Spark computes another instant without an error, also for TRY_CAST.
                None => unsupported("the value is out of the range of a timestamp"),
            }
        }
        _ if !castable(from, to) => never(),
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
                // Spark computes another instant without an error, also for TRY_CAST.
                None => unsupported("the value is out of the range of a timestamp"),
            }
        }
        (Scalar::Timestamp(micros), PrimitiveType::TimestampNtz) => Ok(Scalar::TimestampNtz(*micros)),
        (Scalar::TimestampNtz(micros), PrimitiveType::Timestamp) => Ok(Scalar::Timestamp(*micros)),
        _ => never(),
    }
}

/// Whether Spark casts some values of a type to another.
pub(in crate::expr) fn castable(from: PrimitiveType, to: PrimitiveType) -> bool {
    use PrimitiveType::{Binary, Boolean, Date, String, Timestamp, TimestampNtz, Variant, Void};
    let is_time = |data_type| matches!(data_type, Date | Timestamp | TimestampNtz);
    match (from, to) {
        (_, Void | Variant) | (Variant, _) => from == to,
        (Void | String, _) | (_, String) => true,
        (Binary, _) | (_, Binary) => from == to,
        (Boolean | Timestamp, to) if is_numeric(to) => true,
        (from, Boolean | Timestamp) if is_numeric(from) => true,
        _ => from == to || (is_numeric(from) && is_numeric(to)) || (is_time(from) && is_time(to)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "as Spark computes it")]
fn seconds_of(micros: i64) -> f64 {
    micros as f64 / SECOND as f64
}

fn instant_of(seconds: f64) -> Result<Scalar, Failure> {
    #[expect(clippy::cast_precision_loss, reason = "as Spark computes it")]
    let micros = seconds * SECOND as f64;
    // The bounds are powers of two, so they are exact.
    if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&micros) {
        return invalid("the value is out of the range of a timestamp");
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is in range; fractions are cut off"
    )]
    Ok(Scalar::Timestamp(micros as i64))
}

/// Spark multiplies with 34 digits and cuts the fraction off.
fn micros_of_decimal(unscaled: i128, scale: u8) -> Option<i64> {
    let unscaled = with_34_digits(unscaled)?;
    let micros = match scale {
        0..=6 => unscaled.checked_mul(10i128.checked_pow(u32::from(6 - scale))?)?,
        _ => unscaled / 10i128.checked_pow(u32::from(scale - 6))?,
    };
    i64::try_from(micros).ok()
}

fn micros_of(days: i32) -> Result<i64, Failure> {
    match i64::from(days).checked_mul(DAY) {
        Some(micros) => Ok(micros),
        None => invalid("the date is out of the range of a timestamp"),
    }
}

/// An unscaled value rounded to 34 digits, half to even.
pub(in crate::expr) fn with_34_digits(unscaled: i128) -> Option<i128> {
    let magnitude = unscaled.unsigned_abs();
    let digits = magnitude.checked_ilog10().unwrap_or_default() + 1;
    let unit = 10u128.pow(digits.saturating_sub(34));
    let (whole, rest) = (magnitude / unit, magnitude % unit);
    let is_up = match (2 * rest).cmp(&unit) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => whole % 2 == 1,
        std::cmp::Ordering::Greater => true,
    };
    let rounded = i128::try_from((whole + u128::from(is_up && unit > 1)) * unit).ok()?;
    Some(if unscaled < 0 { -rounded } else { rounded })
}

/// The double that is nearest to a decimal.
pub(in crate::expr) fn double_of(unscaled: i128, scale: u8) -> f64 {
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
        // Spark casts decimals that do not fit into 64 bits to the smaller integers as doubles.
        (
            PrimitiveType::Byte | PrimitiveType::Short | PrimitiveType::Integer,
            Scalar::Decimal {
                unscaled,
                precision: 19..,
                scale,
            },
        ) => return number_of(&Scalar::Double(double_of(*unscaled, *scale)), to),
        (_, Scalar::Decimal { unscaled, scale, .. }) => {
            let unit = 10i128.checked_pow(u32::from(*scale)).ok_or_else(overflow)?;
            whole(unscaled / unit, to).ok_or_else(overflow)?
        }
        (_, other) => whole(i128::from(integer(other).ok_or_else(overflow)?), to).ok_or_else(overflow)?,
    })
}

#[cfg(test)]
mod tests;
