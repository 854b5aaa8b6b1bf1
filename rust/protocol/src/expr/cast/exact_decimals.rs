//! Floating-point numbers and decimals that are the same number.
//!
//! Up to 2^53 a double is the number of its shortest decimal text, as in Spark: 0.1 is the decimal 0.1. Greater doubles are
//! integers, and are exactly these.

use super::scalar::cast;
use crate::expr::Scalar;
use crate::schema::PrimitiveType;

/// Up to here every integer is a double of its own.
const DOUBLE: i128 = 1 << 53;
const FLOAT: i128 = 1 << 24;
/// Decimals with at most 15 digits, and 6, are those of one double, and of one float.
const DIGITS_OF_DOUBLE: i128 = 1_000_000_000_000_000;
const DIGITS_OF_FLOAT: i128 = 1_000_000;
/// Powers of ten up to these are exact.
const POWER_IN_DOUBLE: u8 = 22;
const POWER_IN_FLOAT: u8 = 10;

/// The unscaled decimal of this type that a double is; `None` if there is none.
pub(super) fn decimal_of_double(value: f64, precision: u8, scale: u8) -> Option<i128> {
    if value.abs() >= integer_as_f64(DOUBLE) {
        return whole_decimal(value, precision, scale);
    }
    if scale <= POWER_IN_DOUBLE {
        let unit = 10f64.powi(i32::from(scale));
        let unscaled = to_i128((value * unit).round());
        // The quotient of two exact numbers is the double that is nearest to the decimal.
        if unscaled.abs() < DIGITS_OF_DOUBLE && integer_as_f64(unscaled) / unit == value {
            return fitting(unscaled, precision);
        }
    }
    same(
        &Scalar::Double(value),
        PrimitiveType::Decimal { precision, scale },
    )
    .and_then(unscaled)
}

/// The same of a float.
pub(super) fn decimal_of_float(value: f32, precision: u8, scale: u8) -> Option<i128> {
    if f64::from(value.abs()) >= integer_as_f64(FLOAT) {
        return whole_decimal(f64::from(value), precision, scale);
    }
    if scale <= POWER_IN_FLOAT {
        let unit = 10f32.powi(i32::from(scale));
        let unscaled = to_i128(f64::from((value * unit).round()));
        if unscaled.abs() < DIGITS_OF_FLOAT && to_f32(integer_as_f64(unscaled)) / unit == value {
            return fitting(unscaled, precision);
        }
    }
    same(&Scalar::Float(value), PrimitiveType::Decimal { precision, scale }).and_then(unscaled)
}

/// The double that a decimal is; `None` if there is none.
pub(super) fn double_of_decimal(decimal: (i128, u8, u8)) -> Option<f64> {
    let (unscaled, _, scale) = decimal;
    let unit = 10i128.checked_pow(u32::from(scale))?;
    if (unscaled / unit).abs() >= DOUBLE {
        let whole = integer_as_f64(unscaled / unit);
        return (unscaled % unit == 0 && to_i128(whole) == unscaled / unit).then_some(whole);
    }
    if scale <= POWER_IN_DOUBLE && unscaled.abs() < DIGITS_OF_DOUBLE {
        return Some(integer_as_f64(unscaled) / 10f64.powi(i32::from(scale)));
    }
    match same(&scalar(decimal), PrimitiveType::Double)? {
        Scalar::Double(value) => Some(value),
        _ => None,
    }
}

/// The float that a decimal is.
pub(super) fn float_of_decimal(decimal: (i128, u8, u8)) -> Option<f32> {
    let (unscaled, _, scale) = decimal;
    let unit = 10i128.checked_pow(u32::from(scale))?;
    if (unscaled / unit).abs() >= FLOAT {
        let whole = to_f32(integer_as_f64(unscaled / unit));
        let is_same = unscaled % unit == 0 && to_i128(f64::from(whole)) == unscaled / unit;
        return is_same.then_some(whole);
    }
    match same(&scalar(decimal), PrimitiveType::Float)? {
        Scalar::Float(value) => Some(value),
        _ => None,
    }
}

/// The value in another type, if its value in the first type is the same again.
fn same(value: &Scalar, to: PrimitiveType) -> Option<Scalar> {
    let found = cast(value, to).ok()?;
    let back = cast(&found, value.data_type()).ok()?;
    (back == *value).then_some(found)
}

fn scalar((unscaled, precision, scale): (i128, u8, u8)) -> Scalar {
    Scalar::Decimal {
        unscaled,
        precision,
        scale,
    }
}

fn unscaled(value: Scalar) -> Option<i128> {
    match value {
        Scalar::Decimal { unscaled, .. } => Some(unscaled),
        _ => None,
    }
}

fn whole_decimal(value: f64, precision: u8, scale: u8) -> Option<i128> {
    // An i128 holds every integer of 38 digits.
    if value.is_nan() || value.abs() >= 1e38 {
        return None;
    }
    let unit = 10i128.checked_pow(u32::from(scale))?;
    fitting(to_i128(value).checked_mul(unit)?, precision)
}

fn fitting(unscaled: i128, precision: u8) -> Option<i128> {
    let limit = 10u128.checked_pow(u32::from(precision))?;
    (unscaled.unsigned_abs() < limit).then_some(unscaled)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "compared with the exact number, or exact"
)]
fn integer_as_f64(value: i128) -> f64 {
    value as f64
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a whole number, or compared with the exact one"
)]
fn to_i128(value: f64) -> i128 {
    value as i128
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest one")]
fn to_f32(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn great_doubles_are_integers() {
        let power = |exponent: i32| 2f64.powi(exponent);
        for (value, precision, scale, expected) in [
            (power(60), 20, 0, Some(1 << 60)),
            (power(60), 38, 10, Some((1 << 60) * 10_000_000_000)),
            (power(53), 16, 0, Some(1 << 53)),
            (power(63), 19, 0, Some(1 << 63)),
            (power(63), 18, 0, None),
            (-power(126), 38, 0, Some(-(1 << 126))),
            (1e38, 38, 0, None),
            (0.1, 38, 37, Some(10i128.pow(36))),
            (f64::NAN, 38, 0, None),
            (f64::INFINITY, 38, 0, None),
        ] {
            assert_eq!(decimal_of_double(value, precision, scale), expected, "{value}");
            if let Some(unscaled) = expected {
                assert_eq!(
                    double_of_decimal((unscaled, precision, scale)),
                    Some(value),
                    "{value}"
                );
            }
        }
        assert_eq!(double_of_decimal(((1 << 60) + 1, 20, 0)), None);
        assert_eq!(float_of_decimal(((1 << 24) + 1, 20, 0)), None);
        assert_eq!(float_of_decimal((1 << 40, 20, 0)), Some(2f32.powi(40)));
        assert_eq!(decimal_of_float(2f32.powi(40), 20, 2), Some((1 << 40) * 100));
        assert_eq!(decimal_of_float(0.1, 10, 2), Some(10));
        assert_eq!(decimal_of_float(0.125, 10, 2), None);
    }

    /// The short way has the answers of the text.
    #[test]
    fn smaller_ones_are_their_shortest_text() {
        let mut state = 1u64;
        for turn in 0..60_000u32 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let (digits, scale) = (turn % 19 + 1, u8::try_from(turn / 19 % 24).unwrap_or(0));
            let unscaled = i128::from(state.cast_signed()) % 10i128.pow(digits);
            let kind = PrimitiveType::Decimal { precision: 38, scale };
            let decimal = Scalar::Decimal {
                unscaled,
                precision: 38,
                scale,
            };
            let by_text = |value: &Scalar| same(value, kind).and_then(super::unscaled);
            let Ok(Scalar::Double(double)) = cast(&decimal, PrimitiveType::Double) else {
                panic!("{decimal:?}");
            };
            if double.abs() < integer_as_f64(DOUBLE) {
                let is_kept = same(&decimal, PrimitiveType::Double).is_some();
                let found = double_of_decimal((unscaled, 38, scale));
                assert_eq!(found, is_kept.then_some(double), "{decimal:?}");
                let found = decimal_of_double(double, 38, scale);
                assert_eq!(found, by_text(&Scalar::Double(double)), "{double}");
            }
            let Ok(Scalar::Float(float)) = cast(&decimal, PrimitiveType::Float) else {
                panic!("{decimal:?}");
            };
            if f64::from(float.abs()) < integer_as_f64(FLOAT) {
                let found = decimal_of_float(float, 38, scale);
                assert_eq!(found, by_text(&Scalar::Float(float)), "{float}");
            }
        }
    }
}
