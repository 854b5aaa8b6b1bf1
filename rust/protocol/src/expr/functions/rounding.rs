//! Functions that round numbers.

use super::function::{Function, Laziness, values};
use super::numbers::{each, ensure_number, overflow};
use super::signature::{Arguments, Signature, Types};
use crate::Result;
use crate::expr::Scalar;
use crate::expr::cast::cast;
use crate::expr::cast::texts::rounded;
use crate::expr::failure::Failure;
use crate::expr::literal::decimal_text::format_decimal;
use crate::expr::literal::integers::{integer, is_integral, whole};
use crate::schema::PrimitiveType::{self, Decimal, Double, Integer, Long};

use Laziness::UntilNull;
use Signature::Of;

#[rustfmt::skip] // a table: a row each
pub(super) static FUNCTIONS: &[Function] = &[
    values(&[("ceil", 1, 1), ("ceiling", 1, 1)], Of(types_of_whole), UntilNull, |call| {
        each(call, |value, to| whole_part(value, true, to))
    }),
    values(&[("floor", 1, 1)], Of(types_of_whole), UntilNull, |call| {
        each(call, |value, to| whole_part(value, false, to))
    }),
    values(&[("round", 1, 2)], Of(types_of_round), UntilNull, |call| {
        let places = call.values.get(1).and_then(|places| places.int(0)).unwrap_or_default();
        each(call, |value, to| round(value, places, to))
    }),
];

type Computed = std::result::Result<Scalar, Failure>;

fn types_of_whole(call: &Arguments<'_>) -> Result<Types> {
    let number = call.number();
    Ok(match number {
        Decimal { precision, scale } => {
            let digits = (precision - scale).saturating_add(u8::from(scale > 0)).min(38);
            let result = Decimal {
                precision: digits.max(1),
                scale: 0,
            };
            Types::new([number], result)
        }
        _ if is_integral(number) => Types::new([Long], Long),
        _ => Types::new([Double], Long),
    })
}

fn types_of_round(call: &Arguments<'_>) -> Result<Types> {
    let number = call.number();
    let places = places(call)?;
    ensure_number(call)?;
    Ok(Types::new([number, Integer], rounded_type(number, places)))
}

/// The constant number of places of ROUND.
fn places(call: &Arguments<'_>) -> Result<i64> {
    let Some(part) = call.get(1) else {
        return Ok(0);
    };
    let Some(known) = part.constant else {
        return call.invalid(part.at, "the places of round are a constant");
    };
    let places = known
        .cast(Integer)
        .map_err(|failure| failure.at(call.source, part.at))?;
    match places.value {
        Some(Scalar::Integer(places)) => Ok(i64::from(places)),
        _ => call.unsupported(call.at, "rounding to NULL places is not implemented", ""),
    }
}

/// The type of ROUND to so many places after the point.
fn rounded_type(number: PrimitiveType, places: i64) -> PrimitiveType {
    let Decimal { precision, scale } = number else {
        return number;
    };
    let whole = i64::from(precision) - i64::from(scale) + 1;
    let (precision, scale) = if places < 0 {
        (whole.max(places.saturating_neg().saturating_add(1)), 0)
    } else {
        let scale = places.min(i64::from(scale));
        (whole + scale, scale)
    };
    let small = |number: i64| u8::try_from(number.clamp(0, 38)).unwrap_or(38);
    Decimal {
        precision: small(precision).max(1),
        scale: small(scale),
    }
}

/// FLOOR and CEIL.
fn whole_part(value: &Scalar, is_up: bool, to: PrimitiveType) -> Computed {
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
fn round(value: &Scalar, places: i64, to: PrimitiveType) -> Computed {
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
    use super::{round, round_text};
    use crate::expr::Scalar;
    use crate::schema::PrimitiveType;

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
