//! Converts tokens to values of the type of their column: with the same results as the general parser,
//! but faster.

use super::column_builder::{ColumnBuilder, Values, as_written, push, push_text};
use super::scanner::Number;
use crate::expr::Scalar;

/// Powers of ten that a double represents exactly.
const POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];
/// Integers up to here are exact in a double.
const EXACT_IN_DOUBLE: u64 = 1 << 53;
const EXACT_IN_FLOAT: u64 = 1 << 24;
/// Powers of ten up to here are exact in a float.
const FLOAT_POWERS: usize = 10;
const DAY: i64 = 86_400_000_000;

impl ColumnBuilder {
    /// Puts a number of few digits, if the column is numeric and can represent it. Returns false if the
    /// general parser must parse the token.
    #[inline(always)]
    pub(super) fn put_number(&mut self, row: usize, number: Number) -> bool {
        self.reach(row);
        let pushed = match &mut self.values {
            Values::Long(values) => push_integer(values, number),
            Values::Integer(values) => push_integer(values, number),
            Values::Short(values) => push_integer(values, number),
            Values::Byte(values) => push_integer(values, number),
            Values::Double(values) => match double(number) {
                Some(value) => push(values, as_written(value, self.once_float)),
                None => return false,
            },
            Values::Float(values) => match float(number) {
                Some(value) => push(values, value),
                None => return false,
            },
            Values::Decimal(values) => match decimal(number, self.precision_and_scale) {
                Some(value) => push(values, value),
                None => return false,
            },
            Values::String { .. } | Values::Date(_) | Values::Timestamp(_) | Values::TimestampNtz(_) => false,
        };
        if pushed {
            self.pushed();
        }
        true
    }

    /// Puts a count of few digits, if the number is a count.
    #[inline]
    pub(super) fn put_count(&mut self, row: usize, number: Number) {
        let is_count = number.fraction == 0 && (!number.negative || number.digits == 0);
        let Some(digits) = i64::try_from(number.digits).ok().filter(|_| is_count) else {
            return;
        };
        self.reach(row);
        if let Values::Long(values) = &mut self.values {
            values.push(digits);
            self.pushed();
        }
    }

    /// Puts the token of a number.
    pub(super) fn put_token(&mut self, row: usize, token: &[u8]) {
        if !super::text::is_spelled_as_text(self.data_type) {
            self.put_spelled(row, token);
        }
    }

    /// Puts the token of a count.
    pub(super) fn put_count_token(&mut self, row: usize, token: &[u8]) {
        if let Some(count) = text_of(token).and_then(super::text::count_of) {
            self.put(row, Scalar::Long(count));
        }
    }

    /// Puts a count of one digit.
    #[inline(always)]
    pub(super) fn put_digit(&mut self, row: usize, digit: u8) {
        self.reach(row);
        if let Values::Long(values) = &mut self.values {
            values.push(i64::from(digit));
            self.pushed();
        }
    }

    /// Puts a date or a timestamp in its usual spelling. Returns false for other spellings or types.
    #[inline(always)]
    pub(super) fn put_time(&mut self, row: usize, text: &[u8]) -> bool {
        self.reach(row);
        let pushed = match &mut self.values {
            Values::Date(values) => date(text).map(|value| values.push(value)),
            // With or without a zone; the general parser handles all other spellings.
            Values::Timestamp(values) => timestamp(text).map(|value| values.push(value)),
            Values::TimestampNtz(values) => timestamp(text)
                .filter(|_| text.len() == self.time_length)
                .map(|value| values.push(value)),
            _ => None,
        };
        if pushed.is_some() {
            self.pushed();
        }
        pushed.is_some()
    }

    /// Puts a string, if the values of the column are JSON strings.
    #[inline]
    pub(super) fn put_text(&mut self, row: usize, text: &[u8]) {
        self.reach(row);
        let pushed = match &mut self.values {
            Values::String { ends, bytes } => push_text(ends, bytes, text),
            Values::Date(_) | Values::Timestamp(_) | Values::TimestampNtz(_) => {
                if !self.put_time(row, text) {
                    self.put_spelled(row, text);
                }
                return;
            }
            Values::Float(_) | Values::Double(_) => return self.put_spelled(row, text),
            _ => false,
        };
        if pushed {
            self.pushed();
        }
    }

    #[cold]
    fn put_spelled(&mut self, row: usize, text: &[u8]) {
        if let Some(value) = text_of(text).and_then(|text| Scalar::parse(text, self.data_type)) {
            self.put(row, value);
        }
    }
}

fn text_of(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

#[inline]
fn push_integer<T: TryFrom<i64>>(values: &mut Vec<T>, number: Number) -> bool {
    if number.fraction > 0 {
        return false;
    }
    let Ok(digits) = i64::try_from(number.digits) else {
        return false;
    };
    match T::try_from(if number.negative { -digits } else { digits }) {
        Ok(value) => {
            values.push(value);
            true
        }
        Err(_) => false,
    }
}

/// The nearest double, if one division of exact numbers returns it.
#[inline]
fn double(number: Number) -> Option<f64> {
    if number.digits > EXACT_IN_DOUBLE {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "exact up to the limit")]
    let value = number.digits as f64 / POWERS_OF_TEN.get(number.fraction)?;
    Some(if number.negative { -value } else { value })
}

/// The nearest float, if one division of exact numbers returns it.
#[inline]
fn float(number: Number) -> Option<f32> {
    if number.digits > EXACT_IN_FLOAT || number.fraction > FLOAT_POWERS {
        return None;
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "both are exact up to their limits"
    )]
    let value = number.digits as f32 / *POWERS_OF_TEN.get(number.fraction)? as f32;
    Some(if number.negative { -value } else { value })
}

/// The unscaled number, if it fits the scale and the precision.
#[inline]
fn decimal(number: Number, (limit, scale): (i128, usize)) -> Option<i128> {
    let shift = u32::try_from(scale.checked_sub(number.fraction)?).ok()?;
    let value = i128::from(number.digits).checked_mul(10i128.checked_pow(shift)?)?;
    (value < limit).then_some(if number.negative { -value } else { value })
}

/// Days since the epoch of `yyyy-MM-dd`.
#[inline]
fn date(text: &[u8]) -> Option<i32> {
    let (start, &[d1, d2]) = text.split_first_chunk::<8>()? else {
        return None;
    };
    let [century, _, year, _, _, month, ..] = pairs(*start, *b"0000-00-")?.map(i32::from);
    let (year, day) = (century * 100 + year, two(d1, d2)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=days).contains(&day) {
        return None;
    }
    // The year starts in March, so that the leap day is its last day.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let before = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(before + (153 * month + 2) / 5 + day - 1 - 719_468)
}

/// Microseconds since the epoch of `yyyy-MM-ddTHH:mm:ss.SSS`, with an optional `Z`.
#[inline]
fn timestamp(text: &[u8]) -> Option<i64> {
    let (day, time) = text.split_at_checked(10)?;
    let time = match time {
        [time @ .., b'Z'] => time,
        time => time,
    };
    let [b'T', time @ ..] = time else {
        return None;
    };
    let (time, &[b'.', f1, f2, f3]) = time.split_first_chunk::<8>()? else {
        return None;
    };
    let [hour, _, _, minute, _, _, second, _] = pairs(*time, *b"00:00:00")?.map(i32::from);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let millisecond = two(f1, f2)? * 10 + two(b'0', f3)?;
    let milliseconds = i64::from((hour * 60 + minute) * 60 + second) * 1000 + i64::from(millisecond);
    Some(i64::from(date(day)?) * DAY + milliseconds * 1000)
}

/// For each of eight bytes, the number that it forms with the next one, if there are digits where the
/// pattern has `0` and all other bytes are equal.
#[inline]
fn pairs(text: [u8; 8], pattern: [u8; 8]) -> Option<[u8; 8]> {
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(text) ^ u64::from_le_bytes(pattern);
    // The highest bit of a byte is set for a digit above nine and for anything that differs from the
    // pattern.
    let limits = u64::from_le_bytes(pattern.map(|byte| if byte == b'0' { 0x76 } else { 0x7F }));
    if (word.wrapping_add(limits) | word) & HIGHS != 0 {
        return None;
    }
    Some((word.wrapping_mul(10).wrapping_add(word >> 8)).to_le_bytes())
}

#[inline]
fn two(tens: u8, ones: u8) -> Option<i32> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| i32::from(tens) * 10 + i32::from(ones))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{parse_date, parse_timestamp};

    #[test]
    fn only_the_ordinary_spelling_is_read() {
        for text in [
            "2024/01/01",
            "2024-01.01",
            "2024-01-0",
            "2024-01-011",
            "2O24-01-01",
            "",
            "2024-1-011",
        ] {
            assert_eq!(date(text.as_bytes()), None, "{text}");
        }
        for text in [
            "2024-01-01 00:00:00.000",
            "2024-01-01T00.00:00.000",
            "2024-01-01T00:00:00,000Z",
        ] {
            assert_eq!(timestamp(text.as_bytes()), None, "{text}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(5000))]

        #[test]
        fn floats_are_rounded_once(digits in 1u64 << 23..1 << 27, fraction in 0..14usize) {
            let number = Number { digits, digit_count: 0, fraction, negative: false, has_exponent: false };
            if let Some(value) = float(number) {
                proptest::prop_assert_eq!(Ok(value), format!("{digits}E-{fraction}").parse());
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn numbers_are_what_the_standard_library_reads(digits in 0..1u64 << 55, cut in 0..56u32, fraction in 0..20usize) {
            let digits = digits >> cut;
            let number = Number { digits, digit_count: 0, fraction, negative: false, has_exponent: false };
            let text = format!("{digits}E-{fraction}");
            if let Some(value) = double(number) {
                proptest::prop_assert_eq!(Ok(value), text.parse());
            }
            if let Some(value) = float(number) {
                proptest::prop_assert_eq!(Ok(value), text.parse());
            }
        }

        #[test]
        fn dates_and_times_are_what_the_general_way_reads(
            year in 0..10_000u32, month in 0..14u32, day in 0..33u32, time in 0..100_000_000u32,
        ) {
            let text = format!("{year:04}-{month:02}-{day:02}");
            proptest::prop_assert_eq!(date(text.as_bytes()), parse_date(&text));
            let (hour, minute, second) = (time % 25, time / 25 % 61, time / 2000 % 61);
            let text = format!("{text}T{hour:02}:{minute:02}:{second:02}.{:03}Z", time % 1000);
            let quick = timestamp(text.as_bytes());
            // A leap second is left to the general parser.
            if quick.is_some() || second < 60 {
                proptest::prop_assert_eq!(quick, parse_timestamp(&text));
            }
        }
    }
}
