//! Dates and timestamps in every spelling that Spark accepts in literals and casts, in the complete range
//! of their types.
//!
//! Partition values and statistics have one spelling each, which is in `protocol`.

use crate::expr::time::calendar::calendar_of;
use crate::expr::time::reader::{NoTime, Reader, trimmed};
use crate::expr::time::zones::to_utc;

const DAY: i64 = 86_400_000_000;
const SECOND: i64 = 1_000_000;

/// `yyyy-MM-dd`; a year with more than four digits has a sign.
pub(in crate::expr) fn format_days(days: i64) -> String {
    let (year, month, day) = calendar_of(days);
    let sign = if year > 9_999 {
        "+"
    } else if year < 0 {
        "-"
    } else {
        ""
    };
    format!("{sign}{:04}-{month:02}-{day:02}", year.abs())
}

/// The date, a separator and `HH:mm:ss`, with a fraction if it is not zero.
pub(in crate::expr) fn format_micros(micros: i64, separator: char) -> String {
    let (day, of_day) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let (seconds, fraction) = (of_day / SECOND, of_day % SECOND);
    let clock = format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    let text = format!("{}{separator}{clock}", format_days(day));
    if fraction == 0 {
        return text;
    }
    let digits = format!("{fraction:06}");
    format!("{text}.{}", digits.trim_end_matches('0'))
}

/// Days since the epoch: `2026`, `2026-1`, `2026-1-5`; anything after a day and a space or `T` is
/// ignored.
pub(in crate::expr) fn read_date(text: &str) -> Option<i32> {
    let mut reader = Reader(trimmed(text));
    let (days, whole) = reader.date(7)?;
    let ends = reader.0.is_empty() || (whole && reader.take(&[' ', 'T']).is_some());
    i32::try_from(days).ok().filter(|_| ends)
}

/// Parses a timestamp: microseconds since the epoch in local time, and the zone after it.
fn read_clock(text: &str) -> Option<(i64, &str)> {
    let mut reader = Reader(trimmed(text));
    let (days, whole) = reader.date(6)?;
    let mut micros = 0;
    if whole && reader.take(&[' ', 'T']).is_some() {
        let bounded = |number: i64, most: i64| (number <= most).then_some(number);
        micros = bounded(reader.number(1, 2)?, 23)? * 3600 * SECOND;
        if reader.take(&[':']).is_some() {
            micros += bounded(reader.number(1, 2)?, 59)? * 60 * SECOND;
            if reader.take(&[':']).is_some() {
                micros += bounded(reader.number(1, 2)?, 59)? * SECOND;
                if reader.take(&['.']).is_some() {
                    let length = reader.0.bytes().take_while(u8::is_ascii_digit).count();
                    let (digits, rest) = reader.0.split_at_checked(length)?;
                    // Digits after the sixth are truncated.
                    let padded: String = digits.chars().chain("000000".chars()).take(6).collect();
                    micros += padded.parse::<i64>().ok()?;
                    reader.0 = rest;
                }
                return Some((micros_at(days, micros)?, reader.0));
            }
        }
    }
    reader.0.is_empty().then_some((micros_at(days, micros)?, ""))
}

/// The midnight before the timestamp may be outside of the range of the type.
fn micros_at(days: i64, micros: i64) -> Option<i64> {
    i64::try_from(i128::from(days) * i128::from(DAY) + i128::from(micros)).ok()
}

/// Microseconds since the epoch in local time; a zone is ignored, but must be valid.
pub(in crate::expr) fn read_timestamp_ntz(text: &str) -> Result<i64, NoTime> {
    let (micros, zone) = read_clock(text).ok_or(NoTime::Malformed)?;
    if !zone.is_empty() {
        to_utc(micros, zone)?;
    }
    Ok(micros)
}

/// Microseconds since the epoch of an instant; the default zone is UTC.
pub(in crate::expr) fn read_timestamp(text: &str) -> Result<i64, NoTime> {
    let (micros, zone) = read_clock(text).ok_or(NoTime::Malformed)?;
    if zone.is_empty() {
        return Ok(micros);
    }
    to_utc(micros, zone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::time::calendar::{days_of, plus_months};

    #[test]
    fn every_day_has_a_date_and_back() {
        for days in [
            0,
            -1,
            59,
            60,
            -719_162,
            -719_163,
            2_932_896,
            2_932_897,
            i64::from(i32::MIN),
            i64::from(i32::MAX),
        ] {
            let (year, month, day) = calendar_of(days);
            assert_eq!(days_of(year, month, day), Some(days), "{days}");
            let text = format_days(days);
            assert_eq!(read_date(&text).map(i64::from), Some(days), "{text}");
        }
        assert_eq!(format_days(-719_528 - 1), "-0001-12-31");
        assert_eq!(format_days(2_932_897), "+10000-01-01");
        for micros in [0, -1, 1, 123_400_000, 253_402_300_800_000_000, i64::MIN, i64::MAX] {
            let text = format_micros(micros, ' ');
            assert_eq!(read_timestamp_ntz(&text), Ok(micros), "{text}");
        }
    }

    #[test]
    fn dates_have_many_spellings() {
        for (text, expected) in [
            ("1970", Some(0)),
            ("1970-1", Some(0)),
            (" 1970-1-2 ", Some(1)),
            ("1970-01-02T", Some(1)),
            ("1970-01-02 anything", Some(1)),
            ("1970-02-30", None),
            ("970-01-01", None),
            ("1970-01-02x", None),
            ("1970-01 x", None),
            ("+0001970-01-01", Some(0)),
            ("1970-001-01", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(read_date(text), expected, "{text}");
        }
    }

    #[test]
    fn instants_have_many_spellings_and_zones() {
        let hour = 3_600 * SECOND;
        for (text, expected) in [
            ("1970", Ok(0)),
            ("1970-1-1", Ok(0)),
            ("1970-01-01 1", Ok(hour)),
            ("1970-01-01T1:00", Ok(hour)),
            ("1970-01-01 01:00:00.5", Ok(hour + 500_000)),
            ("1970-01-01 01:00:00.123456789Z", Ok(hour + 123_456)),
            ("1970-01-01 01:00:00+1", Ok(0)),
            ("1970-01-01 01:00:00 +01:00", Ok(0)),
            ("1970-01-01 01:00:00 UTC+01", Ok(0)),
            ("1970-01-01 01:00:00 Europe/Rome", Ok(0)),
            ("1970-01-01 01:00:00Mars/Base", Err(NoTime::Zone)),
            ("1970-01-01 01:00:00+19:00", Err(NoTime::Malformed)),
            ("1970-01-01 01:00:00z", Err(NoTime::Malformed)),
            ("1970-01-01 01:00:00 JST", Ok(-8 * 3600 * SECOND)),
            ("1970-01-01 24:00:00", Err(NoTime::Malformed)),
            ("1970-01-01 01:60:00", Err(NoTime::Malformed)),
            ("1970-01-01 01:00+01:00", Err(NoTime::Malformed)),
            ("T01:00", Err(NoTime::Malformed)),
        ] {
            assert_eq!(read_timestamp(text), expected, "{text}");
        }
    }

    #[test]
    fn months_end_where_they_end() {
        let day = |text| read_date(text).map(i64::from);
        let plus = |text, months| day(text).and_then(|days| plus_months(days, months));
        assert_eq!(plus("2026-01-31", 1), day("2026-02-28"));
        assert_eq!(plus("2024-02-29", 12), day("2025-02-28"));
        assert_eq!(plus("2026-01-15", -1), day("2025-12-15"));
    }
}
