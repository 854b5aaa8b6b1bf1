//! Intervals in properties, in milliseconds.

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// Parses an interval into milliseconds: `interval 1 week`, with or without the first word, with several
/// units (`2 days 12 hours`), or in the ISO form `P7D`. Returns `None` if it is invalid, negative, or has
/// months or years, whose length varies.
///
/// ```
/// use deltaic_protocol::properties::interval_ms;
/// assert_eq!(interval_ms("interval 1 week"), Some(604_800_000));
/// assert_eq!(interval_ms("PT1H30M"), Some(5_400_000));
/// assert_eq!(interval_ms("interval 1 month"), None);
/// ```
#[must_use]
pub fn interval_ms(text: &str) -> Option<i64> {
    let lower = text.trim().to_ascii_lowercase();
    let micros = match lower.strip_prefix('p') {
        Some(rest) => iso_micros(rest)?,
        None => spelled_micros(&lower)?,
    };
    (micros >= 0).then_some(micros / 1_000)
}

/// `interval 1 day -2 hours 1.5 seconds`: at least one number with a unit.
fn spelled_micros(text: &str) -> Option<i64> {
    let rest = match text.strip_prefix("interval") {
        Some(rest) if rest.starts_with(char::is_whitespace) => rest,
        Some(_) => return None,
        None => text,
    };
    let mut words = rest.split_whitespace();
    let mut total: Option<i64> = None;
    while let Some(word) = words.next() {
        // A sign may be separated from its number.
        let (sign, number) = match word {
            "-" | "+" => (word, words.next()?),
            _ => match word.strip_prefix(['-', '+']) {
                Some(number) => (if word.starts_with('-') { "-" } else { "+" }, number),
                None => ("+", word),
            },
        };
        let unit = words.next()?;
        let micros = micros_of(unit.strip_suffix('s').unwrap_or(unit))?;
        let mut length = scaled(number, micros)?;
        if sign == "-" {
            length = length.checked_neg()?;
        }
        total = Some(total.unwrap_or(0).checked_add(length)?);
    }
    total
}

/// `7dt12h` of `P7DT12H`.
fn iso_micros(text: &str) -> Option<i64> {
    let (date, time) = match text.split_once('t') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (text, ""),
    };
    let mut total: Option<i64> = None;
    for (part, units) in [
        (date, &[('w', "week"), ('d', "day")][..]),
        (time, &[('h', "hour"), ('m', "minute"), ('s', "second")][..]),
    ] {
        let mut rest = part;
        let mut units = units.iter();
        while !rest.is_empty() {
            let (number, after) = rest.split_at_checked(rest.find(|c: char| c.is_ascii_alphabetic())?)?;
            let mut letters = after.chars();
            let letter = letters.next()?;
            // The units must be in order, each at most once.
            let (_, unit) = units.find(|(known, _)| *known == letter)?;
            total = Some(
                total
                    .unwrap_or(0)
                    .checked_add(scaled(number, micros_of(unit)?)?)?,
            );
            rest = letters.as_str();
        }
    }
    total
}

fn micros_of(unit: &str) -> Option<i64> {
    Some(match unit {
        "week" => 7 * MICROS_PER_DAY,
        "day" => MICROS_PER_DAY,
        "hour" => 3_600 * MICROS_PER_SECOND,
        "minute" => 60 * MICROS_PER_SECOND,
        "second" => MICROS_PER_SECOND,
        "millisecond" => 1_000,
        "microsecond" => 1,
        _ => return None,
    })
}

/// A number times a unit; only seconds may have a fraction, with at most nine digits.
fn scaled(number: &str, micros: i64) -> Option<i64> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) if micros == MICROS_PER_SECOND => (whole, fraction),
        Some(_) => return None,
        None => (number, ""),
    };
    if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) || fraction.len() > 9
    {
        return None;
    }
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let nanos: i64 = format!("{fraction:0<9}").parse().ok()?;
    whole.checked_mul(micros)?.checked_add(nanos / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_in_every_spelling() {
        for (text, ms) in [
            ("interval 1 week", 604_800_000),
            ("INTERVAL 1 WEEKS", 604_800_000),
            ("interval 0 seconds", 0),
            ("30 days", 2_592_000_000),
            ("  interval  2 days   12 hours ", 216_000_000),
            ("interval 1 day -1 hour", 82_800_000),
            ("interval 1 day - 1 hour", 82_800_000),
            ("interval +1 minute", 60_000),
            ("interval 1.5 seconds", 1_500),
            ("interval .001999 seconds", 1),
            ("interval 7 milliseconds", 7),
            ("interval 1999 microseconds", 1),
            ("P7D", 604_800_000),
            ("p1w", 604_800_000),
            ("P1DT12H", 129_600_000),
            ("PT1H30M0.25S", 5_400_250),
        ] {
            assert_eq!(interval_ms(text), Some(ms), "{text}");
        }
    }

    #[test]
    fn invalid_intervals_are_refused() {
        for text in [
            "",
            "interval",
            "interval ",
            "intervals 1 day",
            "interval 1",
            "interval day",
            "interval one day",
            "interval 1 fortnight",
            "interval 1 month",
            "interval 1 year",
            "interval -1 day",
            "interval 1.5 days",
            "interval 1.0000000001 seconds",
            "interval 1. .seconds",
            "interval - day",
            "interval 9223372036854775807 weeks",
            "interval 9223372036854775807 microseconds 1 microsecond",
            "interval 99999999999999999999 days",
            "P",
            "PT",
            "P1DT",
            "P1M",
            "P1Y",
            "P-1D",
            "PD",
            "P1D1W",
            "P1D1D",
            "PT1S1M",
            "P1é",
            "7",
        ] {
            assert_eq!(interval_ms(text), None, "{text}");
        }
    }
}
