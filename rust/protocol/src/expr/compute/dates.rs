//! Functions of dates and timestamps, in the time zone UTC.

use arrow_array::{Date32Array, Decimal128Array, Int32Array, StringArray, TimestampMicrosecondArray};

use super::values::{Values, by_row};
use crate::expr::failure::{Failure, invalid};
use crate::expr::function::Function;
use crate::expr::time::calendar::{calendar_of, days_of};
use crate::expr::time::spellings::format_days;
use crate::schema::PrimitiveType;

const DAY: i64 = 86_400_000_000;
const HOUR: i64 = 3_600_000_000;
const MINUTE: i64 = 60_000_000;
const SECOND: i64 = 1_000_000;

/// The type of seconds with their fraction.
pub(in crate::expr) const SECONDS: PrimitiveType = PrimitiveType::Decimal {
    precision: 8,
    scale: 6,
};

/// Calls a function of dates; `None` for other functions.
pub(super) fn call(function: Function, values: &[Values], rows: usize) -> Option<Result<Values, Failure>> {
    use Function as F;
    let all: Vec<&Values> = values.iter().collect();
    let part_of = |part: &dyn Fn(i64) -> i64| {
        by_row::<_, Int32Array>(&all, rows, |row| {
            let value = all
                .first()
                .and_then(|first| first.int(row).or_else(|| first.micros(row)));
            Ok(value.and_then(|value| i32::try_from(part(value)).ok()))
        })
    };
    Some(match (function, values) {
        (F::Year, _) => part_of(&|days| calendar_of(days).0),
        (F::Quarter, _) => part_of(&|days| (calendar_of(days).1 - 1) / 3 + 1),
        (F::Month, _) => part_of(&|days| calendar_of(days).1),
        (F::Day, _) => part_of(&|days| calendar_of(days).2),
        (F::Hour, _) => part_of(&|micros| micros.rem_euclid(DAY) / HOUR),
        (F::Minute, _) => part_of(&|micros| micros.rem_euclid(HOUR) / MINUTE),
        (F::Second, _) => part_of(&|micros| micros.rem_euclid(MINUTE) / SECOND),
        (F::ExactSecond, [time]) => by_row::<_, Decimal128Array>(&all, rows, |row| {
            Ok(time
                .micros(row)
                .map(|micros| i128::from(micros.rem_euclid(MINUTE))))
        })
        .map(|mut seconds| {
            seconds.set_decimal(SECONDS);
            seconds
        }),
        (F::ToDate, [date]) => Ok(date.clone()),
        (F::DateAdd | F::DateSub, [date, days]) => by_row::<_, Date32Array>(&all, rows, |row| {
            let Some((date, days)) = date.int(row).zip(days.int(row)) else {
                return Ok(None);
            };
            let days = if function == F::DateSub { -days } else { days };
            in_range(i32::try_from(date + days).ok())
        }),
        (F::DateDiff, [end, start]) => by_row::<_, Int32Array>(&all, rows, |row| {
            let Some((end, start)) = end.int(row).zip(start.int(row)) else {
                return Ok(None);
            };
            in_range(i32::try_from(end - start).ok())
        }),
        (F::TruncateDate, [date, unit]) => by_row::<_, Date32Array>(&all, rows, |row| {
            let Some((date, unit)) = date.int(row).zip(unit.text(row)) else {
                return Ok(None);
            };
            match truncated_day(date, &unit.to_ascii_uppercase()) {
                Some(day) => in_range(i32::try_from(day).ok()),
                None => Ok(None),
            }
        }),
        (F::DateTrunc, [unit, time]) => by_row::<_, TimestampMicrosecondArray>(&all, rows, |row| {
            let Some((unit, micros)) = unit.text(row).zip(time.micros(row)) else {
                return Ok(None);
            };
            truncated(micros, &unit.to_ascii_uppercase())
        })
        .and_then(|found| {
            super::cast_values(
                &found,
                PrimitiveType::TimestampNtz,
                PrimitiveType::Timestamp,
                rows,
            )
        }),
        (F::DateFormat, [time, pattern]) => by_row::<_, StringArray>(&all, rows, |row| {
            Ok(time
                .micros(row)
                .zip(pattern.text(row))
                .map(|(micros, pattern)| formatted(micros, pattern)))
        }),
        _ => return None,
    })
}

fn in_range<V>(found: Option<V>) -> Result<Option<V>, Failure> {
    match found {
        Some(found) => Ok(Some(found)),
        None => invalid("the date or time is out of range"),
    }
}

/// The first day of a period that contains a day; `None` for an unknown period.
fn truncated_day(day: i64, unit: &str) -> Option<i64> {
    let (year, month, _) = calendar_of(day);
    match unit {
        "YEAR" | "YYYY" | "YY" => days_of(year, 1, 1),
        "QUARTER" => days_of(year, (month - 1) / 3 * 3 + 1, 1),
        "MONTH" | "MON" | "MM" => days_of(year, month, 1),
        // The first day of the epoch is a Thursday.
        "WEEK" => Some(day - (day + 3).rem_euclid(7)),
        _ => None,
    }
}

/// Whether TRUNC and DATE_TRUNC have a period of this name; otherwise their result is NULL.
pub(super) fn is_period(function: Function, unit: &str) -> bool {
    let unit = unit.to_ascii_uppercase();
    match function {
        Function::TruncateDate => truncated_day(0, &unit).is_some(),
        _ => matches!(truncated(0, &unit), Ok(Some(_))),
    }
}

fn truncated(micros: i64, unit: &str) -> Result<Option<i64>, Failure> {
    let length = match unit {
        "MICROSECOND" => 1,
        "MILLISECOND" => 1_000,
        "SECOND" => SECOND,
        "MINUTE" => MINUTE,
        "HOUR" => HOUR,
        "DAY" | "DD" => DAY,
        _ => {
            return match truncated_day(micros.div_euclid(DAY), unit) {
                Some(day) => in_range(day.checked_mul(DAY)),
                None => Ok(None),
            };
        }
    };
    in_range(micros.div_euclid(length).checked_mul(length))
}

/// The fields of a pattern that Spark and deltaic format in the same way.
const FIELDS: [&str; 6] = ["yyyy", "MM", "dd", "HH", "mm", "ss"];

/// Splits a pattern into fields and other characters; `None` if it contains other letters.
fn parts(pattern: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|c| c != first).unwrap_or(rest.len());
        let (run, after) = rest.split_at_checked(length)?;
        let is_plain = matches!(first, ' ' | '-' | '/' | ':' | '.' | ',' | '_');
        if !is_plain && !FIELDS.contains(&run) {
            return None;
        }
        found.push(run);
        rest = after;
    }
    Some(found)
}

/// Whether DATE_FORMAT is implemented for a pattern: it consists of these fields and signs.
pub(in crate::expr) fn is_exact(pattern: &str) -> bool {
    parts(pattern).is_some_and(|parts| !parts.is_empty())
}

fn formatted(micros: i64, pattern: &str) -> String {
    let day = format_days(micros.div_euclid(DAY));
    let mut fields = day.rsplitn(3, '-');
    let (date, month, year) = (fields.next(), fields.next(), fields.next());
    let of_day = micros.rem_euclid(DAY);
    let clock = |length: i64, count: i64| format!("{:02}", of_day / length % count);
    let mut text = String::new();
    for part in parts(pattern).unwrap_or_default() {
        match part {
            "yyyy" => text.push_str(year.unwrap_or_default()),
            "MM" => text.push_str(month.unwrap_or_default()),
            "dd" => text.push_str(date.unwrap_or_default()),
            "HH" => text.push_str(&clock(HOUR, 24)),
            "mm" => text.push_str(&clock(MINUTE, 60)),
            "ss" => text.push_str(&clock(SECOND, 60)),
            other => text.push_str(other),
        }
    }
    text
}
