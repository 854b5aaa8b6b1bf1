//! Decimal arithmetic with Spark's precision rules and rounding half away from zero.

use arrow_buffer::i256;

use crate::expr::cast::known::by_zero;
use crate::expr::cast::with_34_digits;
use crate::expr::failure::Failure;
use crate::expr::operators::Arithmetic;
use crate::schema::PrimitiveType;

/// Precision and scale, limited to the maximum precision: digits before the decimal point are preserved,
/// and at least six after it if there were as many.
fn bounded(precision: u16, scale: u16) -> (u8, u8) {
    let small = |number: u16| u8::try_from(number).unwrap_or(38);
    if precision <= 38 {
        return (small(precision), small(scale));
    }
    let before = precision - scale;
    (38, small(scale.min(6).max(38u16.saturating_sub(before))))
}

/// Precision and scale.
pub(in crate::expr) type Digits = (u8, u8);

/// The type of `left op right`.
pub(in crate::expr) fn result_type(op: Arithmetic, (p1, s1): Digits, (p2, s2): Digits) -> PrimitiveType {
    let (p1, s1, p2, s2) = (u16::from(p1), u16::from(s1), u16::from(p2), u16::from(s2));
    let before = (p1 - s1).max(p2 - s2);
    let (precision, scale) = match op {
        Arithmetic::Add | Arithmetic::Subtract => bounded(before + s1.max(s2) + 1, s1.max(s2)),
        Arithmetic::Multiply => bounded(p1 + p2 + 1, s1 + s2),
        Arithmetic::Divide => {
            let scale = (s1 + p2 + 1).max(6);
            bounded(p1 - s1 + s2 + scale, scale)
        }
        Arithmetic::Remainder => bounded((p1 - s1).min(p2 - s2) + s1.max(s2), s1.max(s2)),
        Arithmetic::WholeQuotient => return PrimitiveType::Long,
    };
    PrimitiveType::Decimal { precision, scale }
}

/// `left op right` of unscaled values, as the unscaled value of the result type.
pub(in crate::expr) fn value(
    op: Arithmetic,
    (left, (_, s1)): (i128, Digits),
    (right, (_, s2)): (i128, Digits),
    data_type: PrimitiveType,
) -> Result<i128, Failure> {
    let (precision, scale) = match data_type {
        PrimitiveType::Decimal { precision, scale } => (precision, scale),
        _ => (38, 0),
    };
    let divides = matches!(
        op,
        Arithmetic::Divide | Arithmetic::Remainder | Arithmetic::WholeQuotient
    );
    if divides && right == 0 {
        return by_zero();
    }
    let out_of_range = || Failure::Invalid(format!("the result is out of the range of the type {data_type}"));
    let limit = 10u128.pow(u32::from(precision));
    let bounded = |unscaled: i128| match unscaled.unsigned_abs() < limit {
        true => Ok(unscaled),
        false => Err(out_of_range()),
    };
    let simple = match op {
        Arithmetic::Add if s1 == s2 && scale == s1 => left.checked_add(right),
        Arithmetic::Subtract if s1 == s2 && scale == s1 => left.checked_sub(right),
        Arithmetic::Multiply if scale == s1 + s2 => left.checked_mul(right),
        _ => None,
    };
    if let Some(unscaled) = simple {
        return bounded(unscaled);
    }
    let (s1, s2) = (u16::from(s1), u16::from(s2));
    let (a, b) = (i256::from_i128(left), i256::from_i128(right));
    let common = s1.max(s2);
    let too_long =
        || Failure::Unsupported("this quotient has more digits than deltaic implements and".to_owned());
    let result = || {
        let (x, y) = (scaled(a, common - s1)?, scaled(b, common - s2)?);
        Some(match op {
            Arithmetic::Add => (x.checked_add(y)?, common),
            Arithmetic::Subtract => (x.checked_sub(y)?, common),
            Arithmetic::Multiply => (a.checked_mul(b)?, s1 + s2),
            // Spark cuts quotients off after 39 digits before they are rounded.
            Arithmetic::Divide => (scaled(x, 39)?.checked_div(y)?, 39),
            Arithmetic::Remainder => (x.checked_rem(y)?, common),
            Arithmetic::WholeQuotient => (x.checked_div(y)?, 0),
        })
    };
    if op == Arithmetic::Divide && scaled(a, common - s1).and_then(|x| scaled(x, 39)).is_none() {
        return long_quotient((a, s1), (b, s2), scale)
            .ok_or_else(out_of_range)
            .and_then(bounded);
    }
    let (exact, of_scale) = result().ok_or_else(too_long)?;
    if op == Arithmetic::Remainder && !is_short_quotient((a, s1), (b, s2)) {
        return Err(out_of_range());
    }
    let target = u16::from(scale);
    let shifted = if target >= of_scale {
        scaled(exact, target - of_scale)
    } else {
        scaled(i256::ONE, of_scale - target).and_then(|unit| quotient(exact, unit))
    };
    bounded(shifted.and_then(i256::to_i128).ok_or_else(out_of_range)?)
}

fn scaled(value: i256, by: u16) -> Option<i256> {
    value.checked_mul(i256::from_i128(10).checked_pow(u32::from(by))?)
}

/// Whether the digits of a quotient before the point, after the 39th of them, are zeros: Spark computes remainders only
/// of these.
fn is_short_quotient((a, s1): (i256, u16), (b, s2): (i256, u16)) -> bool {
    let common = s1.max(s2);
    let is_short = || {
        let whole = scaled(a, common - s1)?
            .checked_div(scaled(b, common - s2)?)?
            .wrapping_abs();
        let ten = i256::from_i128(10);
        let mut unit = ten.checked_pow(39)?;
        let mut zeros = i256::ONE;
        while unit <= whole {
            zeros = zeros.checked_mul(ten)?;
            match unit.checked_mul(ten) {
                Some(next) => unit = next,
                None => break,
            }
        }
        Some(whole.checked_rem(zeros)? == i256::ZERO)
    };
    is_short().unwrap_or(false)
}

/// `-value` of an unscaled value: Spark rounds it to 34 digits, half to even.
pub(in crate::expr) fn negated(unscaled: i128, data_type: PrimitiveType) -> Result<i128, Failure> {
    let rounded = with_34_digits(unscaled).unwrap_or(i128::MAX);
    let precision = match data_type {
        PrimitiveType::Decimal { precision, .. } => precision,
        _ => 38,
    };
    if rounded.unsigned_abs() >= 10u128.pow(u32::from(precision)) {
        return Err(Failure::Invalid(format!(
            "the result is out of the range of the type {data_type}"
        )));
    }
    Ok(-rounded)
}

/// The same quotient for values with so many digits that they cannot be scaled: the 39 digits after the point are
/// computed one by one.
fn long_quotient((a, s1): (i256, u16), (b, s2): (i256, u16), scale: u8) -> Option<i128> {
    let is_negative = a.is_negative() != b.is_negative();
    let common = s1.max(s2);
    let x = scaled(a.wrapping_abs(), common - s1)?;
    let y = scaled(b.wrapping_abs(), common - s2)?;
    let ten = i256::from_i128(10);
    let (mut whole, mut rest) = (x.checked_div(y)?, x.checked_rem(y)?);
    let mut fraction = i256::ZERO;
    for _ in 0..39 {
        // A rest above a tenth of the maximum belongs to a divisor that is as large: the quotient is computed by
        // subtracting.
        let mut digit = i256::ZERO;
        let mut sum = i256::ZERO;
        for _ in 0..10 {
            match y.checked_sub(rest) {
                Some(left) if sum >= left => {
                    sum = sum.checked_sub(left)?;
                    digit = digit.checked_add(i256::ONE)?;
                }
                _ => sum = sum.checked_add(rest)?,
            }
        }
        rest = sum;
        fraction = fraction.checked_mul(ten)?.checked_add(digit)?;
    }
    let unit = |digits: u16| ten.checked_pow(u32::from(digits));
    let scale = u16::from(scale);
    let fraction = quotient(fraction, unit(39 - scale)?)?;
    whole = whole.checked_mul(unit(scale)?)?.checked_add(fraction)?;
    let magnitude = whole.to_i128()?;
    Some(if is_negative { -magnitude } else { magnitude })
}

/// A quotient rounded to the nearest integer, half away from zero.
fn quotient(value: i256, by: i256) -> Option<i256> {
    let (whole, rest) = (value.checked_div(by)?, value.checked_rem(by)?);
    let magnitude = |value: i256| {
        if value.is_negative() {
            value.checked_neg()
        } else {
            Some(value)
        }
    };
    let half = magnitude(rest)?.checked_mul(i256::from_i128(2))? >= magnitude(by)?;
    if !half {
        return Some(whole);
    }
    let step = if value.is_negative() == by.is_negative() {
        i256::ONE
    } else {
        i256::MINUS_ONE
    };
    whole.checked_add(step)
}
