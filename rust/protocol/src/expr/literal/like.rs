//! LIKE patterns: `_` matches one character, `%` any number of them.

/// One element of a pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Piece {
    Char(char),
    One,
}

/// A LIKE pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct LikePattern {
    /// The parts between the `%`, at least one; each is matched after the previous one.
    row_ranges: Vec<Vec<Piece>>,
}

/// The equivalent of a simple pattern.
pub(in crate::expr) enum Simple {
    Equal(String),
    StartsWith(String),
    EndsWith(String),
    Contains(String),
}

impl LikePattern {
    /// Parses a pattern; the error is a message.
    ///
    /// ```
    /// use deltaic_protocol::expr::LikePattern;
    /// let pattern = LikePattern::parse("10\\%_of%", '\\')?;
    /// assert!(pattern.matches("10% of all") && !pattern.matches("100 of all"));
    /// assert!(LikePattern::parse("\\x", '\\').is_err());
    /// # Ok::<(), &'static str>(())
    /// ```
    pub fn parse(pattern: &str, escape: char) -> Result<Self, &'static str> {
        let mut row_ranges = Vec::new();
        let mut stretch = Vec::new();
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            if c == escape {
                match chars.next() {
                    Some(next) if next == escape || matches!(next, '_' | '%') => {
                        stretch.push(Piece::Char(next))
                    }
                    Some(_) => {
                        return Err("the escape character of a pattern may only precede %, _ and itself");
                    }
                    None => return Err("a pattern does not end with its escape"),
                }
            } else if c == '%' {
                row_ranges.push(std::mem::take(&mut stretch));
            } else {
                stretch.push(if c == '_' { Piece::One } else { Piece::Char(c) });
            }
        }
        row_ranges.push(stretch);
        // Consecutive `%` are equivalent to one.
        let last = row_ranges.len() - 1;
        let mut position = 0;
        row_ranges.retain(|stretch| {
            let keep = position == 0 || position == last || !stretch.is_empty();
            position += 1;
            keep
        });
        Ok(Self { row_ranges })
    }

    /// Whether the complete text matches this pattern.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.row_ranges.as_slice() else {
            let whole = self.row_ranges.first().and_then(|stretch| begins(stretch, text));
            return whole.is_some_and(str::is_empty);
        };
        let Some(mut rest) = begins(first, text) else {
            return false;
        };
        for stretch in middle {
            loop {
                if let Some(behind) = begins(stretch, rest) {
                    rest = behind;
                    break;
                }
                let mut chars = rest.chars();
                if chars.next().is_none() {
                    return false;
                }
                rest = chars.as_str();
            }
        }
        // The last part has a fixed number of characters at the end of the text.
        let start = match last.len() {
            0 => Some(rest.len()),
            count => rest.char_indices().rev().nth(count - 1).map(|(at, _)| at),
        };
        start
            .and_then(|start| rest.get(start..))
            .is_some_and(|end| begins(last, end).is_some())
    }

    /// The prefix of every match.
    #[must_use]
    pub fn prefix(&self) -> String {
        self.row_ranges
            .first()
            .map(|stretch| plain(stretch))
            .unwrap_or_default()
    }

    /// The equivalent test without a pattern, if there is one.
    pub(in crate::expr) fn simple(&self) -> Option<Simple> {
        if self.row_ranges.iter().flatten().any(|piece| *piece == Piece::One) {
            return None;
        }
        let texts: Vec<String> = self.row_ranges.iter().map(|stretch| plain(stretch)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        Some(match texts.as_slice() {
            [text] => Simple::Equal((*text).to_owned()),
            [text, ""] => Simple::StartsWith((*text).to_owned()),
            ["", text] => Simple::EndsWith((*text).to_owned()),
            ["", text, ""] => Simple::Contains((*text).to_owned()),
            _ => return None,
        })
    }

    /// The pattern as text, with backslashes as escapes.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (index, stretch) in self.row_ranges.iter().enumerate() {
            if index > 0 {
                text.push('%');
            }
            for piece in stretch {
                match piece {
                    Piece::One => text.push('_'),
                    Piece::Char(c @ ('%' | '_' | '\\')) => text.extend(['\\', *c]),
                    Piece::Char(c) => text.push(*c),
                }
            }
        }
        text
    }
}

/// The text before the first wildcard.
fn plain(stretch: &[Piece]) -> String {
    stretch
        .iter()
        .map_while(|piece| match piece {
            Piece::Char(c) => Some(*c),
            Piece::One => None,
        })
        .collect()
}

/// The rest of the text after a part that it starts with.
fn begins<'a>(stretch: &[Piece], text: &'a str) -> Option<&'a str> {
    let mut chars = text.chars();
    for piece in stretch {
        let next = chars.next()?;
        if let Piece::Char(wanted) = piece
            && next != *wanted
        {
            return None;
        }
    }
    Some(chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_texts() -> Result<(), &'static str> {
        for (pattern, yes, no) in [
            ("abc", vec!["abc"], vec!["", "ab", "abcd", "ABC"]),
            ("a%", vec!["a", "abc"], vec!["", "ba"]),
            ("%c", vec!["c", "abc"], vec!["", "cb"]),
            ("%b%", vec!["b", "abc"], vec!["", "ac"]),
            ("%", vec!["", "a", "a\nb"], vec![]),
            ("_", vec!["a", "é", "😀", "\n"], vec!["", "ab"]),
            ("%_", vec!["a", "ab"], vec![""]),
            ("a%b_%c", vec!["abxc", "aabbbcc"], vec!["abc", "axc"]),
            ("%aab", vec!["aaab", "aab"], vec!["aaba"]),
            ("a_c%a_c", vec!["abcadc", "abcxadc"], vec!["abc", "abcbc"]),
            (r"10\%\_\\", vec![r"10%_\"], vec!["10x__"]),
            ("", vec![""], vec!["a"]),
            ("a%%%b", vec!["ab", "axb"], vec!["a"]),
        ] {
            let parsed = LikePattern::parse(pattern, '\\')?;
            assert!(yes.iter().all(|text| parsed.matches(text)), "{pattern} {yes:?}");
            assert!(!no.iter().any(|text| parsed.matches(text)), "{pattern} {no:?}");
            assert_eq!(LikePattern::parse(&parsed.text(), '\\')?, parsed, "{pattern}");
        }
        Ok(())
    }

    #[test]
    fn another_escape_leaves_the_backslash_alone() -> Result<(), &'static str> {
        let pattern = LikePattern::parse(r"\/%//%", '/')?;
        assert!(pattern.matches(r"\%/x"));
        assert_eq!(pattern.prefix(), r"\%/");
        assert!(LikePattern::parse("a/", '/').is_err() && LikePattern::parse("/a", '/').is_err());
        // An escape character that is also a wildcard is an escape.
        assert!(LikePattern::parse("a%%", '%')?.matches("a%"));
        Ok(())
    }
}
