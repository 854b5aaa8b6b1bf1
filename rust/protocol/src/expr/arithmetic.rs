//! Arithmetic on values that are known, with the types, the digits and the errors of Spark's ANSI mode.

use arrow_buffer::i256;

use super::Scalar;
use super::coercion::{decimal_for, wider};
use super::convert::{Failure, cast, integer, is_integral, is_numeric, whole};
use super::moments::plus_months;
use super::predicate::{Arithmetic, Interval};
use crate::schema::PrimitiveType;

const DAY: i64 = 86_400_000_000;

/// A known value; NULL has a type too. A literal's own digits count where it meets a decimal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) value: Option<Scalar>,
    pub(super) data_type: PrimitiveType,
    /// Whether it stands so in the text and was not computed.
    pub(super) is_literal: bool,
}

impl Known {
    pub(super) fn computed(value: Option<Scalar>, data_type: PrimitiveType) -> Self {
        Self {
            value,
            data_type,
            is_literal: false,
        }
    }

    /// In another type.
    pub(super) fn cast(&self, to: PrimitiveType) -> Result<Self, Failure> {
        let value = self.value.as_ref().map(|value| cast(value, to)).transpose()?;
        Ok(Self::computed(value, to))
    }

    /// Digits in all and behind the point, where it is a number without a floating point.
    fn digits(&self) -> Option<(u8, u8)> {
        match &self.value {
            Some(value) if self.is_literal && is_integral(self.data_type) => {
                let count = integer(value)?.unsigned_abs().to_string().len();
                Some((u8::try_from(count).ok()?, 0))
            }
            _ => decimal_for(self.data_type),
        }
    }
}

fn invalid<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Invalid(message.into()))
}

/// `left op right`.
pub(super) fn compute(op: Arithmetic, left: &Known, right: &Known) -> Result<Known, Failure> {
    if let Some(date) = days_later(op, left, right)? {
        return Ok(date);
    }
    let mismatch = || {
        let (left, right) = (left.data_type, right.data_type);
        Failure::Invalid(format!("a {left} and a {right} cannot be joined by {op}"))
    };
    let number = |data_type| is_numeric(data_type) || data_type == PrimitiveType::Void;
    let (left, right) = match (left.data_type, right.data_type) {
        (PrimitiveType::String, to) if is_numeric(to) => (
            left.cast(wider(left.data_type, to).ok_or_else(mismatch)?)?,
            right.clone(),
        ),
        (to, PrimitiveType::String) if is_numeric(to) => (
            left.clone(),
            right.cast(wider(right.data_type, to).ok_or_else(mismatch)?)?,
        ),
        (a, b) if number(a) && number(b) => (left.clone(), right.clone()),
        _ => return Err(mismatch()),
    };
    let is_decimal = |known: &Known| matches!(known.data_type, PrimitiveType::Decimal { .. });
    let is_floating = |known: &Known| matches!(known.data_type, PrimitiveType::Float | PrimitiveType::Double);
    if is_floating(&left) || is_floating(&right) {
        return floating(op, &left, &right);
    }
    if is_decimal(&left) || is_decimal(&right) {
        return decimals(op, &left, &right);
    }
    match op {
        Arithmetic::Divide => floating(op, &left, &right),
        _ => integers(op, &left, &right),
    }
}

/// A date and a number of days.
fn days_later(op: Arithmetic, left: &Known, right: &Known) -> Result<Option<Known>, Failure> {
    let few = |data_type| {
        matches!(
            data_type,
            PrimitiveType::Byte | PrimitiveType::Short | PrimitiveType::Integer
        )
    };
    let (date, days) = match (op, left.data_type, right.data_type) {
        (Arithmetic::Add | Arithmetic::Subtract, PrimitiveType::Date, days) if few(days) => (left, right),
        (Arithmetic::Add, days, PrimitiveType::Date) if few(days) => (right, left),
        _ => return Ok(None),
    };
    let value = match (&date.value, days.value.as_ref().and_then(integer)) {
        (Some(Scalar::Date(date)), Some(days)) => {
            let days = if op == Arithmetic::Subtract { -days } else { days };
            match i32::try_from(i64::from(*date) + days) {
                Ok(date) => Some(Scalar::Date(date)),
                Err(_) => return invalid("the date is out of range"),
            }
        }
        _ => None,
    };
    Ok(Some(Known::computed(value, PrimitiveType::Date)))
}

/// A date or a time and a length of time.
pub(super) fn later(known: &Known, interval: Interval, backwards: bool) -> Result<Known, Failure> {
    let overflow = || Failure::Invalid("the date or time is out of range".to_owned());
    let turned = |count: i64| {
        if backwards {
            count.checked_neg()
        } else {
            Some(count)
        }
    };
    let (data_type, moved) = match (known.data_type, interval) {
        (PrimitiveType::Date, Interval::Micros(_)) => {
            return later(&known.cast(PrimitiveType::Timestamp)?, interval, backwards);
        }
        (PrimitiveType::Date | PrimitiveType::Timestamp | PrimitiveType::TimestampNtz, _) => {
            (known.data_type, &known.value)
        }
        (other, _) => return invalid(format!("a {other} and an interval have no sum")),
    };
    let Some(value) = moved else {
        return Ok(Known::computed(None, data_type));
    };
    let shifted = |days: i64| match interval {
        Interval::Months(months) => plus_months(days, turned(months)?),
        Interval::Days(more) => days.checked_add(turned(more)?),
        Interval::Micros(_) => None,
    };
    let of_micros = |micros: i64| match interval {
        Interval::Micros(more) => micros.checked_add(turned(more)?),
        _ => {
            let day = shifted(micros.div_euclid(DAY))?.checked_mul(DAY)?;
            day.checked_add(micros.rem_euclid(DAY))
        }
    };
    let value = match value {
        Scalar::Date(days) => {
            let days = shifted(i64::from(*days)).ok_or_else(overflow)?;
            Scalar::Date(i32::try_from(days).map_err(|_| overflow())?)
        }
        Scalar::Timestamp(micros) => Scalar::Timestamp(of_micros(*micros).ok_or_else(overflow)?),
        Scalar::TimestampNtz(micros) => Scalar::TimestampNtz(of_micros(*micros).ok_or_else(overflow)?),
        _ => return Err(overflow()),
    };
    Ok(Known::computed(Some(value), data_type))
}

/// `-value`.
pub(super) fn negated(known: &Known) -> Result<Known, Failure> {
    let data_type = known.data_type;
    let Some(value) = &known.value else {
        return match data_type {
            PrimitiveType::Void => Ok(Known::computed(None, PrimitiveType::Double)),
            _ if is_numeric(data_type) => Ok(Known::computed(None, data_type)),
            _ => invalid(format!("a {data_type} has no sign")),
        };
    };
    let value = match value {
        Scalar::Float(value) => Some(Scalar::Float(-value)),
        Scalar::Double(value) => Some(Scalar::Double(-value)),
        Scalar::Decimal {
            unscaled,
            precision,
            scale,
        } => Some(Scalar::Decimal {
            unscaled: -unscaled,
            precision: *precision,
            scale: *scale,
        }),
        other => match integer(other) {
            Some(number) => whole(-i128::from(number), data_type),
            None => return invalid(format!("a {data_type} has no sign")),
        },
    };
    match value {
        Some(value) => Ok(Known::computed(Some(value), data_type)),
        None => invalid(format!("the result is out of the range of a {data_type}")),
    }
}

fn by_zero<T>() -> Result<T, Failure> {
    invalid("a number is divided by zero")
}

fn integers(op: Arithmetic, left: &Known, right: &Known) -> Result<Known, Failure> {
    let common = match wider(left.data_type, right.data_type) {
        Some(PrimitiveType::Void) | None => PrimitiveType::Double,
        Some(_) if op == Arithmetic::WholeQuotient => PrimitiveType::Long,
        Some(common) => common,
    };
    let of = |known: &Known| known.value.as_ref().and_then(integer).map(i128::from);
    let (Some(a), Some(b)) = (of(left), of(right)) else {
        return Ok(Known::computed(None, common));
    };
    let result = match op {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide | Arithmetic::WholeQuotient if b != 0 => a / b,
        Arithmetic::Remainder if b != 0 => a % b,
        _ => return by_zero(),
    };
    match whole(result, common) {
        Some(value) => Ok(Known::computed(Some(value), common)),
        None => invalid(format!("the result {result} is out of the range of a {common}")),
    }
}

fn floating(op: Arithmetic, left: &Known, right: &Known) -> Result<Known, Failure> {
    if op == Arithmetic::WholeQuotient {
        return invalid("DIV divides whole numbers and decimals");
    }
    let single = left.data_type == PrimitiveType::Float && right.data_type == PrimitiveType::Float;
    let common = if single && op != Arithmetic::Divide {
        PrimitiveType::Float
    } else {
        PrimitiveType::Double
    };
    let (left, right) = (left.cast(common)?, right.cast(common)?);
    let value = match (left.value, right.value) {
        (Some(Scalar::Float(a)), Some(Scalar::Float(b))) => Scalar::Float(match op {
            Arithmetic::Add => a + b,
            Arithmetic::Subtract => a - b,
            Arithmetic::Multiply => a * b,
            _ if b == 0.0 => return by_zero(),
            _ => a % b,
        }),
        (Some(Scalar::Double(a)), Some(Scalar::Double(b))) => Scalar::Double(match op {
            Arithmetic::Add => a + b,
            Arithmetic::Subtract => a - b,
            Arithmetic::Multiply => a * b,
            _ if b == 0.0 => return by_zero(),
            Arithmetic::Divide => a / b,
            _ => a % b,
        }),
        _ => return Ok(Known::computed(None, common)),
    };
    Ok(Known::computed(Some(value), common))
}

/// Digits in all and behind the point, cut to what a decimal has: digits before the point stay, and six behind it
/// where there were so many.
fn bounded(precision: u16, scale: u16) -> (u8, u8) {
    let small = |number: u16| u8::try_from(number).unwrap_or(38);
    if precision <= 38 {
        return (small(precision), small(scale));
    }
    let before = precision - scale;
    (38, small(scale.min(6).max(38u16.saturating_sub(before))))
}

fn decimals(op: Arithmetic, left: &Known, right: &Known) -> Result<Known, Failure> {
    // An untyped NULL takes the other's type.
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
    let too_long = || Failure::Unsupported("a quotient of so many digits is not implemented and".to_owned());
    let result = || {
        let (x, y) = (scaled(a, common - s1)?, scaled(b, common - s2)?);
        Some(match op {
            Arithmetic::Add => (x.checked_add(y)?, common),
            Arithmetic::Subtract => (x.checked_sub(y)?, common),
            Arithmetic::Multiply => (a.checked_mul(b)?, s1 + s2),
            // Spark's quotients have 39 digits behind the point before they are cut.
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
    let out_of_range = || Failure::Invalid(format!("the result is out of the range of a {data_type}"));
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

/// A quotient rounded to the nearest whole, halves away from zero.
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
