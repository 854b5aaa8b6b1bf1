//! The tokens of compact JSON, eight bytes at a time.
//!
//! `None` is not an error: it means that the general parser must parse the text. Only text that is
//! certainly valid is scanned: no white space, no escapes, no arrays.

use super::words::{ONES, POWERS_OF_TEN, above_nine, eight_digits, equal_to, first_byte, last_word};

/// Maximum depth of skipped values.
const DEPTH: usize = 16;

/// A position in a text. With `ESCAPED`, the text is inside a JSON string, so its quotes are `\"`.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'a, const ESCAPED: bool> {
    text: &'a [u8],
    at: usize,
}

/// A scanned number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    /// All digits without the decimal point, if there are at most [`Number::EXACT_DIGITS`].
    pub(super) digits: u64,
    pub(super) digit_count: usize,
    /// The number of digits after the decimal point.
    pub(super) fraction: usize,
    pub(super) negative: bool,
    pub(super) has_exponent: bool,
}

/// Up to eight digits.
#[derive(Clone, Copy, Debug, Default)]
struct Digits {
    value: u64,
    is_leading_zero: bool,
}

impl Number {
    /// The number of digits that fit into 63 bits.
    pub(super) const EXACT_DIGITS: usize = 18;

    /// Whether `digits` and `fraction` are exact.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        !self.has_exponent && self.digit_count <= Self::EXACT_DIGITS
    }
}

impl<'a, const ESCAPED: bool> Scanner<'a, ESCAPED> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    #[inline]
    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Skips bytes that were checked.
    #[inline]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// The next eight bytes, the first one lowest; zeros after the end, and `None` if the position is
    /// past it.
    #[inline(always)]
    fn word(&self) -> Option<u64> {
        self.word_at(self.at)
    }

    #[inline(always)]
    fn word_at(&self, at: usize) -> Option<u64> {
        let rest = self.text.get(at..)?;
        match rest.first_chunk::<8>() {
            Some(chunk) => Some(u64::from_le_bytes(*chunk)),
            None => last_word(rest),
        }
    }

    /// The current position.
    #[inline]
    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// The text that was scanned since a position.
    pub(super) fn since(&self, place: usize) -> &'a [u8] {
        self.text.get(place..self.at).unwrap_or_default()
    }

    /// Whether a string starts here.
    #[inline]
    pub(super) fn is_at_string(&self) -> bool {
        self.peek() == Some(if ESCAPED { b'\\' } else { b'"' })
    }

    /// The content of a string without escapes. The text must be ordinary: see [`super::ordinary`].
    #[inline(always)]
    pub(super) fn string(&mut self) -> Option<&'a [u8]> {
        if ESCAPED {
            self.expect(b'\\')?;
        }
        self.expect(b'"')?;
        let start = self.at;
        let end = if ESCAPED { b'\\' } else { b'"' };
        loop {
            let found = equal_to(self.word()?, end);
            if found == 0 {
                self.at += 8;
                continue;
            }
            self.at += first_byte(found);
            let content = self.text.get(start..self.at)?;
            self.at += 1;
            if ESCAPED {
                self.expect(b'"')?;
            }
            return Some(content);
        }
    }

    /// The content of a string of this length that would start here, and its length with quotes. The
    /// caller verifies that the string ends there and not before.
    #[inline(always)]
    pub(super) fn string_of(&self, length: usize) -> Option<(&'a [u8], usize)> {
        let quote = if ESCAPED { &b"\\\""[..] } else { b"\"" };
        let rest = self.rest().strip_prefix(quote)?;
        let (content, rest) = rest.split_at_checked(length)?;
        rest.starts_with(quote)
            .then_some((content, length + 2 * quote.len()))
    }

    /// A non-negative number of one digit, as most counts are.
    #[inline(always)]
    pub(super) fn single_digit(&mut self) -> Option<u8> {
        let [digit @ b'0'..=b'9', b',' | b'}', ..] = self.rest() else {
            return None;
        };
        self.at += 1;
        Some(digit - b'0')
    }

    /// A number in JSON's grammar with at most 15 digits before and 7 after the decimal point, as most
    /// are. `None`, without moving, if it is another.
    #[inline(always)]
    pub(super) fn short_number(&mut self) -> Option<Number> {
        let negative = self.peek()? == b'-';
        let begin = self.at + usize::from(negative);
        let (mut whole, mut run, mut after) = self.few_digits(begin)?;
        if run > 1 && whole.is_leading_zero {
            return None;
        }
        if run == 8 {
            let (more, count, behind) = self.few_digits(begin + 8)?;
            whole.value = whole.value * POWERS_OF_TEN[count & 15] + more.value;
            (run, after) = (8 + count, behind);
        }
        let mut number = Number {
            digits: whole.value,
            digit_count: run,
            fraction: 0,
            negative,
            has_exponent: false,
        };
        if is_end(after) {
            self.at = begin + run;
            return Some(number);
        }
        if after != b'.' {
            return None;
        }
        let (part, fraction, after) = self.few_digits(begin + run + 1)?;
        if !is_end(after) || run + fraction > Number::EXACT_DIGITS {
            return None;
        }
        number.digits = whole.value * POWERS_OF_TEN[fraction & 15] + part.value;
        number.digit_count = run + fraction;
        number.fraction = fraction;
        self.at = begin + run + 1 + fraction;
        Some(number)
    }

    /// At most eight digits at a position, their number, and the byte after them: zero if it is not
    /// known, because there are no or eight digits.
    #[inline(always)]
    fn few_digits(&self, at: usize) -> Option<(Digits, usize, u8)> {
        let word = self.word_at(at)? ^ (ONES * 0x30);
        let run = first_byte(above_nine(word));
        if run == 0 {
            return Some((Digits::default(), 0, 0));
        }
        let digits = Digits {
            value: eight_digits(word << (64 - 8 * run)),
            is_leading_zero: word & 0xFF == 0,
        };
        // After eight digits, nothing of the word is left.
        let after = word
            .checked_shr(8 * (run as u32))
            .map_or(0, |rest| (rest & 0xFF) as u8 ^ 0x30);
        Some((digits, run, after))
    }

    /// Any number in JSON's grammar.
    pub(super) fn any_number(&mut self) -> Option<Number> {
        let negative = self.peek()? == b'-';
        if negative {
            self.at += 1;
        }
        let leading_zero = self.peek()? == b'0';
        let (mut digits, mut digit_count) = (0u64, 0usize);
        self.digits(&mut digits, &mut digit_count)?;
        if digit_count == 0 || (leading_zero && digit_count > 1) {
            return None;
        }
        let whole = digit_count;
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits(&mut digits, &mut digit_count)?;
            if digit_count == whole {
                return None;
            }
        }
        let has_exponent = matches!(self.peek(), Some(b'e' | b'E'));
        if has_exponent {
            self.exponent()?;
        }
        Some(Number {
            digits,
            digit_count,
            fraction: digit_count - whole,
            negative,
            has_exponent,
        })
    }

    #[inline]
    fn digits(&mut self, value: &mut u64, count: &mut usize) -> Option<()> {
        loop {
            let word = self.word()? ^ (ONES * 0x30);
            let run = first_byte(above_nine(word));
            if run == 0 {
                return Some(());
            }
            let (scale, eight) = (POWERS_OF_TEN[run & 15], word << (64 - 8 * run));
            *value = value.wrapping_mul(scale).wrapping_add(eight_digits(eight));
            *count += run;
            self.at += run;
            if run < 8 {
                return Some(());
            }
        }
    }

    #[cold]
    fn exponent(&mut self) -> Option<()> {
        self.next()?;
        if matches!(self.peek()?, b'+' | b'-') {
            self.at += 1;
        }
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// Skips a value.
    #[inline]
    pub(super) fn skip_value(&mut self) -> Option<()> {
        if self.peek()? == b'{' {
            return self.skip_object(DEPTH);
        }
        self.skip_scalar()
    }

    #[inline(always)]
    fn skip_scalar(&mut self) -> Option<()> {
        match self.peek()? {
            b'-' | b'0'..=b'9' => self.skip_number(),
            b'"' | b'\\' => self.skip_string(),
            _ => self.literal(),
        }
    }

    /// Skips ordinary numbers without computing their values.
    #[inline(always)]
    fn skip_number(&mut self) -> Option<()> {
        let word = self.word()? ^ (ONES * 0x30);
        let run = first_byte(above_nine(word));
        let end = ((word >> (8 * (run & 7))) & 0xFF) as u8 ^ 0x30;
        if run & 7 != 0 && is_end(end) && (run == 1 || word & 0xFF != 0) {
            self.at += run;
            return Some(());
        }
        self.any_number().map(|_| ())
    }

    #[inline(always)]
    fn skip_string(&mut self) -> Option<()> {
        self.string().map(|_| ())
    }

    fn skip_object(&mut self, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            self.skip_string()?;
            self.expect(b':')?;
            if self.peek()? == b'{' {
                self.skip_object(depth)?;
            } else {
                self.skip_scalar()?;
            }
            match self.next()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    #[cold]
    fn literal(&mut self) -> Option<()> {
        let word = ["null", "true", "false"]
            .into_iter()
            .find(|word| self.rest().starts_with(word.as_bytes()))?;
        self.at += word.len();
        Some(())
    }
}

/// Whether a number ends before this byte.
#[inline]
fn is_end(byte: u8) -> bool {
    byte == b',' || byte == b'}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_scanned_whole_or_not_at_all() {
        for (text, expected) in [
            ("0", Some((0, 0))),
            ("-0,", Some((0, 0))),
            ("7}", Some((7, 0))),
            ("123456789012345678", Some((123_456_789_012_345_678, 0))),
            ("12345678.5", Some((123_456_785, 1))),
            ("0.05", Some((5, 2))),
            ("1.", None),
            (".5", None),
            ("-", None),
            ("", None),
            ("01", None),
            ("1e", None),
            ("1e+", None),
            ("+1", None),
        ] {
            let number = Scanner::<false>::new(text.as_bytes()).any_number();
            if let Some(short) = Scanner::<false>::new(text.as_bytes()).short_number() {
                assert_eq!(Some(short), number, "{text}");
            }
            assert_eq!(
                number.map(|number| (number.digits, number.fraction)),
                expected,
                "{text}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn a_short_number_is_what_any_number_is(text in "-?[0-9]{1,20}([.][0-9]{1,20})?[,} e]") {
            let short = Scanner::<false>::new(text.as_bytes()).short_number();
            let any = Scanner::<false>::new(text.as_bytes()).any_number();
            if short.is_some() {
                proptest::prop_assert_eq!(short, any);
            }
        }

        #[test]
        fn strings_end_where_they_end(content in "[ -~é🚋\n]{0,40}", more in "[a-z\"]{0,9}") {
            let content = content.replace(['"', '\\'], "");
            let plain = format!("\"{content}\"{more}");
            let taken = Scanner::<false>::new(plain.as_bytes()).string();
            let expected = Some(content.as_bytes());
            proptest::prop_assert_eq!(taken, expected);
            let escaped = format!("\\\"{content}\\\"{more}");
            proptest::prop_assert_eq!(Scanner::<true>::new(escaped.as_bytes()).string(), expected);
        }
    }
}
