//! Decimal arithmetic with Spark's precision rules and rounding half away from zero.

use arrow_buffer::i256;

use super::Scalar;
use super::failure::Failure;
use super::failure::invalid;
use super::integers::{integer, whole};
use super::known::{Known, by_zero};
use super::predicate::Arithmetic;
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

pub(super) fn decimals(op: Arithmetic, left: &Known, right: &Known) -> Result<Known, Failure> {
    // An untyped NULL has the type of the other operand.
    let digits = |known: &Known, other: &Known| known.digits().or_else(|| other.digits());
    let (Some((p1, s1)), Some((p2, s2))) = (digits(left, right), digits(right, left)) else {
        return invalid("a number is expected");
    };
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
        Arithmetic::WholeQuotient => (38, 0),
    };
    let data_type = match op {
        Arithmetic::WholeQuotient => PrimitiveType::Long,
        _ => PrimitiveType::Decimal { precision, scale },
    };
    let unscaled = |known: &Known| match known.value.as_ref()? {
        Scalar::Decimal { unscaled, .. } => Some(i256::from_i128(*unscaled)),
        other => integer(other).map(|value| i256::from_i128(i128::from(value))),
    };
    let (Some(a), Some(b)) = (unscaled(left), unscaled(right)) else {
        return Ok(Known::computed(None, data_type));
    };
    let divides = matches!(
        op,
        Arithmetic::Divide | Arithmetic::Remainder | Arithmetic::WholeQuotient
    );
    if divides && b == i256::ZERO {
        return by_zero();
    }
    let common = s1.max(s2);
    let too_long =
        || Failure::Unsupported("this quotient has more digits than deltaic implements and".to_owned());
    let result = || {
        let (x, y) = (scaled(a, common - s1)?, scaled(b, common - s2)?);
        Some(match op {
            Arithmetic::Add => (x.checked_add(y)?, common),
            Arithmetic::Subtract => (x.checked_sub(y)?, common),
            Arithmetic::Multiply => (a.checked_mul(b)?, s1 + s2),
            // Spark computes quotients with a scale of 39 before they are limited.
            Arithmetic::Divide => (quotient(scaled(x, 39)?, y)?, 39),
            Arithmetic::Remainder => (x.checked_rem(y)?, common),
            Arithmetic::WholeQuotient => (x.checked_div(y)?, 0),
        })
    };
    let (exact, of_scale) = result().ok_or_else(too_long)?;
    let target = u16::from(scale);
    let shifted = if target >= of_scale {
        scaled(exact, target - of_scale)
    } else {
        scaled(i256::ONE, of_scale - target).and_then(|unit| quotient(exact, unit))
    };
    let out_of_range = || Failure::Invalid(format!("the result is out of the range of the type {data_type}"));
    let unscaled = shifted.and_then(i256::to_i128).ok_or_else(out_of_range)?;
    if op == Arithmetic::WholeQuotient {
        let value = whole(unscaled, data_type).ok_or_else(out_of_range)?;
        return Ok(Known::computed(Some(value), data_type));
    }
    let limit = 10u128.pow(u32::from(precision));
    if unscaled.unsigned_abs() >= limit {
        return Err(out_of_range());
    }
    let value = Scalar::Decimal {
        unscaled,
        precision,
        scale,
    };
    Ok(Known::computed(Some(value), data_type))
}

fn scaled(value: i256, by: u16) -> Option<i256> {
    value.checked_mul(i256::from_i128(10).checked_pow(u32::from(by))?)
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
