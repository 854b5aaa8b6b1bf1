//! Casts strings to values and values to strings, as in Spark's ANSI mode.

use crate::expr::Scalar;
use crate::expr::failure::{Failure, unsupported};
use crate::expr::literal::decimal_text::{format_decimal, parse_decimal};
use crate::expr::literal::integers::integer;
use crate::expr::time::reader::{NoTime, trimmed};
use crate::expr::time::spellings::{
    format_days, format_micros, read_date, read_timestamp, read_timestamp_ntz,
};
use crate::schema::PrimitiveType;

/// A decimal from a string, rounded half away from zero; `None` if it does not fit.
pub(in crate::expr) fn rounded(text: &str, precision: u8, scale: u8) -> Option<Scalar> {
    let decimal = |unscaled| Scalar::Decimal {
        unscaled,
        precision,
        scale,
    };
    if let Some(unscaled) = parse_decimal(text, precision, scale) {
        return Some(decimal(unscaled));
    }
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (before, behind) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{before}{behind}");
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Number of digits that remain.
    let kept = i64::try_from(before.len())
        .ok()?
        .checked_add(exponent)?
        .checked_add(i64::from(scale))?;
    let (kept, next) = match usize::try_from(kept) {
        Ok(kept) => (all.get(..kept)?, all.as_bytes().get(kept)),
        Err(_) => ("", None),
    };
    let magnitude: i128 = if kept.trim_start_matches('0').is_empty() {
        0
    } else {
        kept.parse().ok()?
    };
    let magnitude = magnitude.checked_add(i128::from(next.is_some_and(|digit| *digit >= b'5')))?;
    let fits = magnitude < 10i128.checked_pow(u32::from(precision))?;
    fits.then(|| decimal(if negative { -magnitude } else { magnitude }))
}

pub(in crate::expr) fn from_text(text: &str, to: PrimitiveType) -> Result<Scalar, Failure> {
    let trimmed = trimmed(text);
    let malformed = || Failure::Malformed(format!("'{text}' is not a valid {to}"));
    Ok(match to {
        PrimitiveType::String => Scalar::String(text.to_owned()),
        PrimitiveType::Binary => Scalar::Binary(text.as_bytes().to_vec()),
        PrimitiveType::Boolean => match trimmed.to_ascii_lowercase().as_str() {
            "t" | "true" | "y" | "yes" | "1" => Scalar::Boolean(true),
            "f" | "false" | "n" | "no" | "0" => Scalar::Boolean(false),
            _ => return Err(malformed()),
        },
        PrimitiveType::Byte => Scalar::Byte(trimmed.parse().map_err(|_| malformed())?),
        PrimitiveType::Short => Scalar::Short(trimmed.parse().map_err(|_| malformed())?),
        PrimitiveType::Integer => Scalar::Integer(trimmed.parse().map_err(|_| malformed())?),
        PrimitiveType::Long => Scalar::Long(trimmed.parse().map_err(|_| malformed())?),
        PrimitiveType::Float => Scalar::Float(floating(trimmed).ok_or_else(malformed)?),
        PrimitiveType::Double => Scalar::Double(floating(trimmed).ok_or_else(malformed)?),
        PrimitiveType::Decimal { precision, scale } => {
            rounded(trimmed, precision, scale).ok_or_else(malformed)?
        }
        PrimitiveType::Date => Scalar::Date(read_date(text).ok_or_else(malformed)?),
        PrimitiveType::Timestamp | PrimitiveType::TimestampNtz => {
            let ntz = to == PrimitiveType::TimestampNtz;
            let read = if ntz {
                read_timestamp_ntz(text)
            } else {
                read_timestamp(text)
            };
            match read {
                Ok(micros) if ntz => Scalar::TimestampNtz(micros),
                Ok(micros) => Scalar::Timestamp(micros),
                Err(NoTime::Malformed) => return Err(malformed()),
                Err(NoTime::Zone) => {
                    return unsupported(format!(
                        "{text:?} has a time zone that is unknown, or unknown for its year,"
                    ));
                }
            }
        }
        PrimitiveType::Void | PrimitiveType::Variant => return Err(malformed()),
    })
}

/// A floating point number with an optional type suffix.
fn floating<V: std::str::FromStr>(text: &str) -> Option<V> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.eq_ignore_ascii_case("nan") && unsigned.len() < text.len() {
        // Java ignores the sign of this spelling only.
        return unsigned.parse().ok().filter(|_| unsigned == "NaN");
    }
    let is_number = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let number = if is_number {
        text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text)
    } else {
        text
    };
    number.parse().ok()
}

pub(in crate::expr) fn to_text(value: &Scalar) -> Result<Scalar, Failure> {
    Ok(Scalar::String(match value {
        Scalar::String(text) => text.clone(),
        Scalar::Boolean(value) => value.to_string(),
        Scalar::Decimal { unscaled, scale, .. } => format_decimal(*unscaled, *scale),
        Scalar::Date(days) => format_days(i64::from(*days)),
        Scalar::Timestamp(micros) | Scalar::TimestampNtz(micros) => format_micros(*micros, ' '),
        Scalar::Binary(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => return unsupported("casting binary that is not UTF-8 to a string is not implemented"),
        },
        Scalar::Float(value) => {
            let two = format!("{value:.1e}");
            let is_same = two.parse() == Ok(*value);
            of_floating(&format!("{value:e}"), &two, is_same, f64::from(*value))
        }
        Scalar::Double(value) => {
            let two = format!("{value:.1e}");
            let is_same = two.parse() == Ok(*value);
            of_floating(&format!("{value:e}"), &two, is_same, *value)
        }
        other => integer(other).unwrap_or_default().to_string(),
    }))
}

/// A floating point number as Java writes it: the shortest digits that identify it, with at least one digit after the
/// point. `shortest` is Rust's spelling of them. If it has one digit, the nearest number of `two` digits is written if it
/// identifies the value.
fn of_floating(shortest: &str, two: &str, is_two_same: bool, value: f64) -> String {
    let is_one_digit = !shortest.contains('.');
    let scientific = if is_one_digit && is_two_same {
        two
    } else {
        shortest
    };
    if value.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}Infinity");
    }
    let unsigned = scientific.trim_start_matches('-');
    let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
    let digits = mantissa.strip_suffix(".0").unwrap_or(mantissa).replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let padded = |fraction: &str| {
        if fraction.is_empty() {
            "0".to_owned()
        } else {
            fraction.to_owned()
        }
    };
    match exponent {
        0..=6 => {
            let whole = usize::try_from(exponent).unwrap_or_default() + 1;
            let digits = format!("{digits:0<whole$}");
            let (before, after) = digits.split_at_checked(whole).unwrap_or((&digits, ""));
            format!("{sign}{before}.{}", padded(after))
        }
        -3..=-1 => {
            let zeros = usize::try_from(-exponent - 1).unwrap_or_default();
            format!("{sign}0.{}{digits}", "0".repeat(zeros))
        }
        _ => {
            let (before, after) = digits.split_at_checked(1).unwrap_or((&digits, ""));
            format!("{sign}{before}.{}E{exponent}", padded(after))
        }
    }
}
