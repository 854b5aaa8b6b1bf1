//! Functions of dates and timestamps, in the time zone UTC.

use arrow_array::{Date32Array, Decimal128Array, Int32Array, TimestampMicrosecondArray};

use super::call::Call;
use super::function::{Function, Laziness, values};
use super::signature::{Arguments, Signature, Types};
use crate::Result;
use crate::expr::Scalar;
use crate::expr::failure::{Failure, invalid};
use crate::expr::kernels::{Values, cast_values};
use crate::expr::literal::integers::{is_integral, is_numeric};
use crate::expr::time::calendar::{calendar_of, days_of};
use crate::expr::time::spellings::format_days;
use crate::schema::PrimitiveType::{
    self, Date, Decimal, Integer, Long, String as Text, Timestamp, TimestampNtz,
};

use Laziness::{AfterWord, UntilNull};
use Signature::{Fixed, Of};

#[rustfmt::skip] // a table: a row each
pub(super) static FUNCTIONS: &[Function] = &[
    values(&[("date_add", 2, 2), ("dateadd", 2, 2)], Of(types_of_moved), UntilNull, |call| moved(call, 1)),
    values(&[("date_format", 2, 2)], Of(types_of_format), UntilNull, date_format),
    values(&[("date_sub", 2, 2)], Of(types_of_moved), UntilNull, |call| moved(call, -1)),
    values(&[("date_trunc", 2, 2)], Fixed(&[Text, Timestamp], Timestamp), AfterWord(0, is_period), date_trunc),
    values(&[("datediff", 2, 2), ("date_diff", 2, 2)], Fixed(&[Date, Date], Integer), UntilNull, date_diff),
    values(&[("day", 1, 1), ("dayofmonth", 1, 1)], Fixed(&[Date], Integer), UntilNull, |call| {
        part(call, |days| calendar_of(days).2)
    }),
    values(&[("hour", 1, 1)], Of(types_of_clock), UntilNull, |call| {
        part(call, |micros| micros.rem_euclid(DAY) / HOUR)
    }),
    values(&[("minute", 1, 1)], Of(types_of_clock), UntilNull, |call| {
        part(call, |micros| micros.rem_euclid(HOUR) / MINUTE)
    }),
    values(&[("month", 1, 1)], Fixed(&[Date], Integer), UntilNull, |call| {
        part(call, |days| calendar_of(days).1)
    }),
    values(&[("quarter", 1, 1)], Fixed(&[Date], Integer), UntilNull, |call| {
        part(call, |days| (calendar_of(days).1 - 1) / 3 + 1)
    }),
    values(&[("second", 1, 1)], Of(types_of_clock), UntilNull, |call| {
        part(call, |micros| micros.rem_euclid(MINUTE) / SECOND)
    }),
    values(&[("to_date", 1, 1)], Of(types_of_to_date), UntilNull, |call| {
        let [date] = call.arguments()?;
        Ok(date.clone())
    }),
    values(&[("trunc", 2, 2)], Fixed(&[Date, Text], Date), AfterWord(1, is_period_of_days), trunc),
    values(&[("year", 1, 1)], Fixed(&[Date], Integer), UntilNull, |call| {
        part(call, |days| calendar_of(days).0)
    }),
];

/// `EXTRACT(SECOND FROM …)`, which has a fraction. No name calls it.
pub(in crate::expr) static EXACT_SECOND: Function = values(
    &[],
    Of(|call| Ok(Types::new([clock(call)], SECONDS))),
    UntilNull,
    exact_second,
);

const DAY: i64 = 86_400_000_000;
const HOUR: i64 = 3_600_000_000;
const MINUTE: i64 = 60_000_000;
const SECOND: i64 = 1_000_000;

/// The type of seconds with their fraction.
const SECONDS: PrimitiveType = Decimal {
    precision: 8,
    scale: 6,
};

type Computed<V> = std::result::Result<V, Failure>;

/// The type of a timestamp with or without a zone.
fn clock(call: &Arguments<'_>) -> PrimitiveType {
    match call.first() {
        Some(TimestampNtz) => TimestampNtz,
        _ => Timestamp,
    }
}

fn types_of_clock(call: &Arguments<'_>) -> Result<Types> {
    Ok(Types::new([clock(call)], Integer))
}

fn types_of_moved(call: &Arguments<'_>) -> Result<Types> {
    let is_long = |own| own == Long || (is_numeric(own) && !is_integral(own));
    if let Some(days) = call.get(1)
        && days.data_type.as_primitive().is_some_and(is_long)
    {
        let message = format!("the number of days is an int, not {}", days.data_type);
        return call.invalid(days.at, message);
    }
    Ok(Types::new([Date, Integer], Date))
}

/// Dates are formatted by constant patterns that are known to have Spark's meaning.
fn types_of_format(call: &Arguments<'_>) -> Result<Types> {
    let types = Types::new([Timestamp, Text], Text);
    let Some(pattern) = call.get(1) else {
        return Ok(types);
    };
    if let Some(known) = pattern.constant
        && let Some(Scalar::String(text)) = &known.value
        && is_exact(text)
    {
        return Ok(types);
    }
    let message = format!("the pattern {} is not implemented", call.source.text(pattern.at));
    let hint = "write it of yyyy, MM, dd, HH, mm, ss and signs between them, for example 'yyyy-MM'";
    call.unsupported(pattern.at, message, hint)
}

/// Spark reads the text of values that are not times.
fn types_of_to_date(call: &Arguments<'_>) -> Result<Types> {
    let is_time = matches!(call.first(), Some(Date | Timestamp | TimestampNtz));
    Ok(Types {
        through: (!is_time).then_some(Text),
        ..Types::new([Date], Date)
    })
}

/// A part of a date in days, or of a timestamp in microseconds.
fn part(call: &Call<'_>, part: fn(i64) -> i64) -> Computed<Values> {
    let [time] = call.arguments()?;
    call.by_row::<_, Int32Array>(|row| {
        let value = time.int(row).or_else(|| time.micros(row));
        Ok(value.and_then(|value| i32::try_from(part(value)).ok()))
    })
}

fn exact_second(call: &Call<'_>) -> Computed<Values> {
    let [time] = call.arguments()?;
    let mut seconds = call.by_row::<_, Decimal128Array>(|row| {
        let micros = time.micros(row);
        Ok(micros.map(|micros| i128::from(micros.rem_euclid(MINUTE))))
    })?;
    seconds.set_decimal(SECONDS);
    Ok(seconds)
}

fn moved(call: &Call<'_>, sign: i64) -> Computed<Values> {
    let [date, days] = call.arguments()?;
    call.by_row::<_, Date32Array>(|row| {
        let Some((date, days)) = date.int(row).zip(days.int(row)) else {
            return Ok(None);
        };
        in_range(i32::try_from(date + sign * days).ok())
    })
}

fn date_diff(call: &Call<'_>) -> Computed<Values> {
    let [end, start] = call.arguments()?;
    call.by_row::<_, Int32Array>(|row| {
        let Some((end, start)) = end.int(row).zip(start.int(row)) else {
            return Ok(None);
        };
        in_range(i32::try_from(end - start).ok())
    })
}

fn trunc(call: &Call<'_>) -> Computed<Values> {
    let [date, unit] = call.arguments()?;
    call.by_row::<_, Date32Array>(|row| {
        let Some((date, unit)) = date.int(row).zip(unit.text(row)) else {
            return Ok(None);
        };
        match truncated_day(date, &unit.to_ascii_uppercase()) {
            Some(day) => in_range(i32::try_from(day).ok()),
            None => Ok(None),
        }
    })
}

fn date_trunc(call: &Call<'_>) -> Computed<Values> {
    let [unit, time] = call.arguments()?;
    let found = call.by_row::<_, TimestampMicrosecondArray>(|row| {
        let Some((unit, micros)) = unit.text(row).zip(time.micros(row)) else {
            return Ok(None);
        };
        truncated(micros, &unit.to_ascii_uppercase())
    })?;
    cast_values(&found, TimestampNtz, Timestamp, call.rows)
}

fn date_format(call: &Call<'_>) -> Computed<Values> {
    let [time, pattern] = call.arguments()?;
    call.texts(|row| {
        let pair = time.micros(row).zip(pattern.text(row));
        Ok(pair.map(|(micros, pattern)| formatted(micros, pattern)))
    })
}

fn in_range<V>(found: Option<V>) -> Computed<Option<V>> {
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

/// Whether TRUNC has a period of this name; otherwise its result is NULL.
fn is_period_of_days(unit: &str) -> bool {
    truncated_day(0, &unit.to_ascii_uppercase()).is_some()
}

/// The same for DATE_TRUNC.
fn is_period(unit: &str) -> bool {
    matches!(truncated(0, &unit.to_ascii_uppercase()), Ok(Some(_)))
}

fn truncated(micros: i64, unit: &str) -> Computed<Option<i64>> {
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
fn is_exact(pattern: &str) -> bool {
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
