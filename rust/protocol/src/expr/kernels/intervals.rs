//! Dates and timestamps that are moved by an interval.

use crate::expr::Scalar;
use crate::expr::cast::known::Known;
use crate::expr::failure::{Failure, invalid};
use crate::expr::operators::Interval;
use crate::expr::time::calendar::plus_months;
use crate::schema::PrimitiveType;

const DAY: i64 = 86_400_000_000;

/// Adds an interval to a date or a timestamp, or subtracts it.
pub(in crate::expr) fn moved(known: &Known, interval: Interval, backwards: bool) -> Result<Known, Failure> {
    let overflow = || Failure::Invalid("the date or time is out of range".to_owned());
    let turned = |count: i64| {
        if backwards {
            count.checked_neg()
        } else {
            Some(count)
        }
    };
    let (data_type, value) = match (known.data_type, interval) {
        (PrimitiveType::Date, Interval::Micros(_)) => {
            return moved(&known.cast(PrimitiveType::Timestamp)?, interval, backwards);
        }
        (PrimitiveType::Date | PrimitiveType::Timestamp | PrimitiveType::TimestampNtz, _) => {
            (known.data_type, &known.value)
        }
        (other, _) => return invalid(format!("the type {other} and an interval have no sum")),
    };
    let Some(value) = value else {
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
