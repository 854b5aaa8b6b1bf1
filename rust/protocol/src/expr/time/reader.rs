//! Parses the parts of dates and timestamps.

use crate::expr::time::calendar::days_of;

/// Removes characters that are ignored at the ends of a literal.
pub(in crate::expr) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ' || c == '\u{7F}')
}

/// A text that is parsed from its start.
pub(in crate::expr) struct Reader<'a>(pub(in crate::expr) &'a str);

impl Reader<'_> {
    pub(in crate::expr) fn take(&mut self, wanted: &[char]) -> Option<char> {
        let first = self.0.chars().next().filter(|c| wanted.contains(c))?;
        self.0 = self.0.get(first.len_utf8()..)?;
        Some(first)
    }

    /// A number with a limited number of digits.
    pub(in crate::expr) fn number(&mut self, least: usize, most: usize) -> Option<i64> {
        let length = self.0.bytes().take_while(u8::is_ascii_digit).count();
        if !(least..=most).contains(&length) {
            return None;
        }
        let (digits, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        digits.parse().ok()
    }

    /// A year with an optional month and day; returns whether the day is present.
    pub(in crate::expr) fn date(&mut self, most_digits: usize) -> Option<(i64, bool)> {
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

/// Why a text is not a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::expr) enum NoTime {
    /// It is malformed.
    Malformed,
    /// The named zone is unknown, or its rules are unknown in that year.
    Zone,
}
