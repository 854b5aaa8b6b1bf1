//! Arithmetic on constants, with the types, precision and errors of Spark's ANSI mode.

use super::Scalar;
use super::calendar::plus_months;
use super::coercion::wider;
use super::decimals::decimals;
use super::failure::Failure;
use super::failure::invalid;
use super::integers::{integer, is_numeric, whole};
use super::known::Known;
use super::known::by_zero;
use super::predicate::{Arithmetic, Interval};
use crate::schema::PrimitiveType;

const DAY: i64 = 86_400_000_000;

/// `left op right`.
pub(super) fn compute(op: Arithmetic, left: &Known, right: &Known) -> Result<Known, Failure> {
    if let Some(date) = days_later(op, left, right)? {
        return Ok(date);
    }
    let mismatch = || {
        let (left, right) = (left.data_type, right.data_type);
        Failure::Invalid(format!(
            "the types {left} and {right} cannot be combined with {op}"
        ))
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

/// Adds days to a date, or subtracts them.
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

/// Adds an interval to a date or a timestamp, or subtracts it.
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
        (other, _) => return invalid(format!("the type {other} and an interval have no sum")),
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
            _ => invalid(format!("the type {data_type} has no sign")),
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
            None => return invalid(format!("the type {data_type} has no sign")),
        },
    };
    match value {
        Some(value) => Ok(Known::computed(Some(value), data_type)),
        None => invalid(format!("the result is out of the range of the type {data_type}")),
    }
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
        None => invalid(format!(
            "the result {result} is out of the range of the type {common}"
        )),
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
