//! Dates and timestamps in statistics: limited to the years that every reader supports, timestamps in
//! milliseconds, except for a maximum within the last millisecond of these years.
//!
//! Protocol: *Per-file Statistics*.

use crate::expr::{format_date, format_timestamp};

/// The years 1 to 9999.
const MICROSECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800_000_000..=253_402_300_799_999_999;
const DAYS: std::ops::RangeInclusive<i32> = -719_162..=2_932_896;

/// How a timestamp is rounded to milliseconds so that it remains a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Down, for a minimum.
    Down,
    /// Up, for a maximum.
    Up,
}

/// A date in days since 1970; `None` if not every reader supports it.
#[must_use]
pub fn day_text(days: i32) -> Option<String> {
    format_date(days).filter(|_| DAYS.contains(&days))
}

/// A timestamp in microseconds since 1970, rounded to milliseconds and without a zone; `None` if not
/// every reader supports it.
///
/// A maximum that would be rounded into the year 10000 is exact instead, because a reader may take a file without a
/// bound as one without such rows.
///
/// ```
/// use deltaic_protocol::statistics::{Cut, time_text};
/// assert_eq!(time_text(1, Cut::Down).as_deref(), Some("1970-01-01T00:00:00.000"));
/// assert_eq!(time_text(1, Cut::Up).as_deref(), Some("1970-01-01T00:00:00.001"));
/// ```
#[must_use]
pub fn time_text(micros: i64, cut: Cut) -> Option<String> {
    let last = *MICROSECONDS.end();
    let (rounded, digits) = match cut {
        Cut::Down => (micros.div_euclid(1000).checked_mul(1000)?, 3),
        Cut::Up if (last - 998..=last).contains(&micros) => (micros, 6),
        Cut::Up => (micros.checked_add(999)?.div_euclid(1000).checked_mul(1000)?, 3),
    };
    let text = format_timestamp(rounded, 'T').filter(|_| MICROSECONDS.contains(&rounded))?;
    let (seconds, fraction) = text.split_once('.').unwrap_or((&text, ""));
    Some(format!(
        "{seconds}.{:0<digits$}",
        fraction.get(..digits).unwrap_or(fraction)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_readers_cannot_parse_have_no_text() {
        let first = "0001-01-01T00:00:00.000";
        let last = "9999-12-31T23:59:59.999";
        for (micros, down, up) in [
            (*MICROSECONDS.start(), Some(first), Some(first)),
            (*MICROSECONDS.start() - 1, None, Some(first)),
            (*MICROSECONDS.end() - 999, Some(last), Some(last)),
            (
                *MICROSECONDS.end() - 998,
                Some(last),
                Some("9999-12-31T23:59:59.999001"),
            ),
            (
                *MICROSECONDS.end(),
                Some(last),
                Some("9999-12-31T23:59:59.999999"),
            ),
            (*MICROSECONDS.end() + 1, None, None),
            (i64::MIN, None, None),
            (i64::MAX, None, None),
        ] {
            assert_eq!(time_text(micros, Cut::Down).as_deref(), down, "{micros}");
            assert_eq!(time_text(micros, Cut::Up).as_deref(), up, "{micros}");
        }
        let before = time_text(-1, Cut::Down);
        assert_eq!(before.as_deref(), Some("1969-12-31T23:59:59.999"));
        for (days, text) in [
            (*DAYS.start(), Some("0001-01-01")),
            (DAYS.start() - 1, None),
            (*DAYS.end(), Some("9999-12-31")),
            (DAYS.end() + 1, None),
        ] {
            assert_eq!(day_text(days).as_deref(), text, "{days}");
        }
    }
}
