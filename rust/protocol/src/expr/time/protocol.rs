//! Dates and timestamps as partition values and statistics spell them.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};

const EPOCH_DAYS: i32 = 719_163;

/// Days since the epoch of `yyyy-MM-dd`.
///
/// ```
/// assert_eq!(deltaic_protocol::expr::parse_date("1970-01-02"), Some(1));
/// ```
#[must_use]
pub fn parse_date(text: &str) -> Option<i32> {
    use chrono::Datelike;
    let date = NaiveDate::parse_from_str(text.trim(), "%Y-%m-%d").ok()?;
    date.num_days_from_ce().checked_sub(EPOCH_DAYS)
}

/// `yyyy-MM-dd` of days since the epoch.
#[must_use]
pub fn format_date(days: i32) -> Option<String> {
    let date = NaiveDate::from_num_days_from_ce_opt(days.checked_add(EPOCH_DAYS)?)?;
    Some(date.format("%Y-%m-%d").to_string())
}

/// Microseconds since the epoch of a timestamp without zone: `yyyy-MM-dd`, alone or followed by a space
/// or `T` and `HH:mm[:ss[.ffffff]]`. Digits after the sixth decimal of a second are truncated.
#[must_use]
pub fn parse_timestamp_ntz(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Some(days) = parse_date(text) {
        return i64::from(days).checked_mul(86_400_000_000);
    }
    let (date, time) = text.split_once([' ', 'T'])?;
    let date = NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?;
    let time = NaiveTime::parse_from_str(time, "%H:%M:%S%.f")
        .or_else(|_| NaiveTime::parse_from_str(time, "%H:%M"))
        .ok()?;
    Some(NaiveDateTime::new(date, time).and_utc().timestamp_micros())
}

/// Microseconds since the epoch of an instant: a timestamp with `Z` or an offset such as `+02:00`. The
/// default zone is UTC.
///
/// ```
/// use deltaic_protocol::expr::parse_timestamp;
/// assert_eq!(parse_timestamp("1970-01-01T01:00:00.000001+01:00"), Some(1));
/// assert_eq!(parse_timestamp("1970-01-01 00:00:01"), Some(1_000_000));
/// ```
#[must_use]
pub fn parse_timestamp(text: &str) -> Option<i64> {
    let text = text.trim();
    let upper = text
        .strip_suffix(['Z', 'z'])
        .map(str::trim_end)
        .or_else(|| text.strip_suffix(" UTC"));
    if let Some(utc) = upper {
        return parse_timestamp_ntz(utc);
    }
    // An offset follows the time; the hyphens of the date precede it.
    let Some(time_at) = text.find([' ', 'T']) else {
        return parse_timestamp_ntz(text);
    };
    match text.get(time_at + 1..).and_then(|time| time.rfind(['+', '-'])) {
        Some(sign) => {
            let (local, offset) = text.split_at_checked(time_at + 1 + sign)?;
            Some(parse_timestamp_ntz(local)?.checked_sub(parse_offset(offset)?)?)
        }
        None => parse_timestamp_ntz(text),
    }
    .or_else(|| parse_timestamp_ntz(text))
}

fn parse_offset(text: &str) -> Option<i64> {
    let (sign, rest) = text.split_at_checked(1)?;
    let (hours, minutes) = match rest.split_once(':') {
        Some(parts) => parts,
        None if rest.len() == 4 => rest.split_at_checked(2)?,
        None => (rest, "0"),
    };
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    if !(0..=18).contains(&hours) || !(0..60).contains(&minutes) {
        return None;
    }
    let micros = (hours * 60 + minutes) * 60_000_000;
    Some(if sign == "-" { -micros } else { micros })
}

/// `yyyy-MM-dd<separator>HH:mm:ss[.ffffff]` of microseconds since the epoch; with a fraction only if it
/// is not zero.
#[must_use]
pub fn format_timestamp(micros: i64, separator: char) -> Option<String> {
    let time = DateTime::from_timestamp_micros(micros)?.naive_utc();
    let fraction = if micros.rem_euclid(1_000_000) == 0 {
        ""
    } else {
        "%.6f"
    };
    Some(
        time.format(&format!("%Y-%m-%d{separator}%H:%M:%S{fraction}"))
            .to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_survive_the_round_trip() {
        for micros in [
            0,
            1,
            -1,
            999_999,
            1_614_834_367_123_456,
            -62_135_596_800_000_000,
            253_402_300_799_999_999,
        ] {
            let text = format_timestamp(micros, ' ');
            assert_eq!(
                text.as_deref().and_then(parse_timestamp_ntz),
                Some(micros),
                "{text:?}"
            );
            let text = format_timestamp(micros, 'T').map(|text| text + "Z");
            assert_eq!(
                text.as_deref().and_then(parse_timestamp),
                Some(micros),
                "{text:?}"
            );
        }
        for days in [0, -1, 18_000, -719_162, 2_932_896] {
            assert_eq!(format_date(days).as_deref().and_then(parse_date), Some(days));
        }
    }

    #[test]
    fn every_spelling_that_writers_used_is_read() {
        let expected = Some(1_614_834_367_123_000);
        for text in [
            "2021-03-04 05:06:07.123",
            "2021-03-04T05:06:07.123Z",
            "2021-03-04T05:06:07.123000",
            "2021-03-04 07:06:07.123+02:00",
            "2021-03-04T00:06:07.123-0500",
            "2021-03-04 06:06:07.123+01",
        ] {
            assert_eq!(parse_timestamp(text), expected, "{text}");
        }
        assert_eq!(parse_timestamp("2021-03-04"), Some(1_614_816_000_000_000));
        for text in [
            "",
            "2021",
            "2021-13-01",
            "2021-03-04 25:00:00",
            "2021-03-04 05:06:07+99:00",
            "x",
        ] {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
    }
}
