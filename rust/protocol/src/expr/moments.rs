//! Dates and timestamps in every spelling that Spark accepts in literals and casts, in the complete range
//! of their types.
//!
//! Partition values and statistics have one spelling each, which is in `time`.

use super::zones::to_utc;

const DAY: i64 = 86_400_000_000;
const SECOND: i64 = 1_000_000;

/// Days since the epoch of a date in the proleptic Gregorian calendar; `None` if the date does not exist.
/// Months and days count from 1.
pub(super) fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    // Years start in March here, so that the leap day is the last day of a year.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Year, month and day of days since the epoch.
pub(super) fn calendar_of(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Adds months to a date; if the day does not exist, returns the last day of the month.
pub(super) fn plus_months(days: i64, months: i64) -> Option<i64> {
    let (year, month, day) = calendar_of(days);
    let count = year
        .checked_mul(12)?
        .checked_add(month - 1)?
        .checked_add(months)?;
    let (year, month) = (count.div_euclid(12), count.rem_euclid(12) + 1);
    days_of(year, month, day.min(days_in(year, month)))
}

/// `yyyy-MM-dd`; a year with more than four digits has a sign.
pub(super) fn format_days(days: i64) -> String {
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
pub(super) fn format_micros(micros: i64, separator: char) -> String {
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

/// Removes characters that are ignored at the ends of a literal.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ' || c == '\u{7F}')
}

/// A text that is parsed from its start.
pub(super) struct Reader<'a>(pub(super) &'a str);

impl Reader<'_> {
    pub(super) fn take(&mut self, wanted: &[char]) -> Option<char> {
        let first = self.0.chars().next().filter(|c| wanted.contains(c))?;
        self.0 = self.0.get(first.len_utf8()..)?;
        Some(first)
    }

    /// A number with a limited number of digits.
    fn number(&mut self, least: usize, most: usize) -> Option<i64> {
        let length = self.0.bytes().take_while(u8::is_ascii_digit).count();
        if !(least..=most).contains(&length) {
            return None;
        }
        let (digits, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        digits.parse().ok()
    }

    /// A year with an optional month and day; returns whether the day is present.
    fn date(&mut self, most_digits: usize) -> Option<(i64, bool)> {
        let sign = if self.take(&['+', '-']) == Some('-') {
            -1
        } else {
            1
        };
        let year = sign * self.number(4, most_digits)?;
        let (mut month, mut day, mut whole) = (1, 1, false);
        if self.take(&['-']).is_some() {
            month = self.number(1, 2)?;
            if self.take(&['-']).is_some() {
                day = self.number(1, 2)?;
                whole = true;
            }
        }
        Some((days_of(year, month, day)?, whole))
    }
}

/// Days since the epoch: `2026`, `2026-1`, `2026-1-5`; anything after a day and a space or `T` is
/// ignored.
pub(super) fn read_date(text: &str) -> Option<i32> {
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

/// Why a text is not a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoTime {
    /// It is malformed.
    Malformed,
    /// The named zone is unknown, or its rules are unknown in that year.
    Zone,
}

/// Microseconds since the epoch in local time; a zone is ignored, but must be valid.
pub(super) fn read_timestamp_ntz(text: &str) -> Result<i64, NoTime> {
    let (micros, zone) = read_clock(text).ok_or(NoTime::Malformed)?;
    if !zone.is_empty() {
        to_utc(micros, zone)?;
    }
    Ok(micros)
}

/// Microseconds since the epoch of an instant; the default zone is UTC.
pub(super) fn read_timestamp(text: &str) -> Result<i64, NoTime> {
    let (micros, zone) = read_clock(text).ok_or(NoTime::Malformed)?;
    if zone.is_empty() {
        return Ok(micros);
    }
    to_utc(micros, zone)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("1970-01-01 01:00:00+19:00", Err(NoTime::Zone)),
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
