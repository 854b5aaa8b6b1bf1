//! The tokens of compact JSON, eight bytes at a time; whatever is out of the ordinary ends the scan.
//!
//! Nothing here is an error: None means that the general way must read the text. So only what is surely valid is
//! taken: no white space, no escapes, no lists.

/// How deep values are passed over.
const DEPTH: usize = 16;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// A place in a text. `ESCAPED`: the text stands inside a JSON string, so that its quotes are `\"`.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'a, const ESCAPED: bool> {
    text: &'a [u8],
    at: usize,
}

/// A number that was scanned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number<'a> {
    pub(super) token: &'a [u8],
    pub(super) negative: bool,
    /// All digits without the point, where they are at most [`Number::EXACT_DIGITS`].
    pub(super) digits: u64,
    pub(super) digit_count: usize,
    /// How many of the digits stand behind the point.
    pub(super) fraction: usize,
    pub(super) has_exponent: bool,
}

impl Number<'_> {
    /// So many digits fit into 63 bits.
    pub(super) const EXACT_DIGITS: usize = 18;

    /// Whether `digits` and `fraction` tell all.
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

    /// Passes over bytes that were looked at.
    #[inline]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// The next eight bytes, the first one lowest; zeros behind the end.
    #[inline]
    fn word(&self) -> u64 {
        let rest = self.rest();
        match rest.first_chunk::<8>() {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => last_word(rest),
        }
    }

    /// Whether a string begins here.
    #[inline]
    pub(super) fn is_at_string(&self) -> bool {
        self.peek() == Some(if ESCAPED { b'\\' } else { b'"' })
    }

    /// A string without escapes: what stands between its quotes.
    #[inline]
    pub(super) fn string(&mut self) -> Option<&'a [u8]> {
        if ESCAPED {
            self.expect(b'\\')?;
        }
        self.expect(b'"')?;
        let start = self.at;
        loop {
            let word = self.word();
            let found = equal_to(word, b'"') | equal_to(word, b'\\') | below(word, 0x20);
            if found == 0 {
                self.at += 8;
                continue;
            }
            self.at += first_byte(found);
            let content = self.text.get(start..self.at)?;
            if ESCAPED {
                self.expect(b'\\')?;
            }
            self.expect(b'"')?;
            return Some(content);
        }
    }

    /// A number of JSON's grammar.
    #[inline]
    pub(super) fn number(&mut self) -> Option<Number<'a>> {
        let start = self.at;
        let negative = self.peek()? == b'-';
        if negative {
            self.at += 1;
        }
        let leading_zero = self.peek()? == b'0';
        let (mut digits, mut digit_count) = (0u64, 0usize);
        self.digits(&mut digits, &mut digit_count);
        if digit_count == 0 || (leading_zero && digit_count > 1) {
            return None;
        }
        let whole = digit_count;
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits(&mut digits, &mut digit_count);
            if digit_count == whole {
                return None;
            }
        }
        let has_exponent = matches!(self.peek(), Some(b'e' | b'E'));
        if has_exponent {
            self.exponent()?;
        }
        Some(Number {
            token: self.text.get(start..self.at)?,
            negative,
            digits,
            digit_count,
            fraction: digit_count - whole,
            has_exponent,
        })
    }

    #[inline]
    fn digits(&mut self, value: &mut u64, count: &mut usize) {
        loop {
            // A digit becomes its value; what is above nine is none.
            let word = self.word() ^ (ONES * 0x30);
            let others = (word.wrapping_add(ONES * 0x76) | word) & HIGHS;
            let run = first_byte(others);
            if run == 0 {
                return;
            }
            let (scale, eight) = (POWERS_OF_TEN[run & 15], word << (64 - 8 * run));
            *value = value.wrapping_mul(scale).wrapping_add(eight_digits(eight));
            *count += run;
            self.at += run;
            if run < 8 {
                return;
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

    /// Passes over a value.
    #[inline]
    pub(super) fn skip_value(&mut self) -> Option<()> {
        self.skip_below(DEPTH)
    }

    #[inline]
    fn skip_below(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'-' | b'0'..=b'9' => self.number().map(|_| ()),
            b'"' | b'\\' => self.string().map(|_| ()),
            b'{' => self.skip_object(depth),
            _ => self.literal(),
        }
    }

    fn skip_object(&mut self, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            self.string()?;
            self.expect(b':')?;
            self.skip_below(depth)?;
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

const POWERS_OF_TEN: [u64; 16] = {
    let mut powers = [1; 16];
    let mut at = 1;
    while at < 16 {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

#[cold]
fn last_word(rest: &[u8]) -> u64 {
    rest.iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Marks the bytes that are `byte`: the lowest mark is right, those above may not be.
#[inline]
fn equal_to(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * u64::from(byte)), 1)
}

/// Marks the bytes that are below `limit`, at most 128: the lowest mark is right, those above may not be.
#[inline]
fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGHS
}

/// Where the first mark is; eight without one.
#[inline]
fn first_byte(marks: u64) -> usize {
    // At most eight.
    (marks.trailing_zeros() / 8) as usize
}

/// The number that eight digit values make, the first one in the lowest byte.
#[inline]
fn eight_digits(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let even = (pairs & 0x0000_00FF_0000_00FF).wrapping_mul(100 + (1_000_000 << 32));
    let odd = ((pairs >> 16) & 0x0000_00FF_0000_00FF).wrapping_mul(1 + (10_000 << 32));
    even.wrapping_add(odd) >> 32
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
            let number = Scanner::<false>::new(text.as_bytes()).number();
            assert_eq!(
                number.map(|number| (number.digits, number.fraction)),
                expected,
                "{text}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn strings_end_where_they_end(content in "[ -~é🚋\n]{0,40}", more in "[a-z\"]{0,9}") {
            let content = content.replace(['"', '\\'], "");
            let plain = format!("\"{content}\"{more}");
            let taken = Scanner::<false>::new(plain.as_bytes()).string();
            let expected = (!content.contains('\n')).then_some(content.as_bytes());
            proptest::prop_assert_eq!(taken, expected);
            let escaped = format!("\\\"{content}\\\"{more}");
            proptest::prop_assert_eq!(Scanner::<true>::new(escaped.as_bytes()).string(), expected);
        }
    }
}
