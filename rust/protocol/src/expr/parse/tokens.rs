//! Splits text into words, names, numbers, strings and operators, as Spark's lexer does.

use super::literals::unescape;
use crate::Result;
use crate::expr::span::{Source, Span};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A keyword or a name without backticks.
    Word(String),
    /// A name in backticks.
    Name(String),
    /// Digits with an optional decimal point, exponent and type suffix.
    Number { digits: String, suffix: &'static str },
    /// A string with resolved escapes.
    Text(String),
    /// An operator or punctuation.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Longest first.
const SIGNS: [&str; 28] = [
    "<=>", "<=", ">=", "<>", "!=", "==", "::", "||", "=", "<", ">", "!", "+", "-", "*", "/", "%", "(", ")",
    ",", ".", "[", "]", "~", "&", "|", "^", ";",
];

/// The type suffixes of numbers, longest first.
const SUFFIXES: [&str; 6] = ["BD", "D", "F", "L", "S", "Y"];

/// Splits a text into tokens; the last one is the end.
pub(super) fn tokens(source: Source<'_>) -> Result<Vec<(Token, Span)>> {
    let mut lexer = Lexer { source, position: 0 };
    let mut found = Vec::new();
    loop {
        let (token, span) = lexer.next()?;
        let ends = token == Token::End;
        found.push((token, span));
        if ends {
            return Ok(found);
        }
    }
}

struct Lexer<'a> {
    source: Source<'a>,
    position: usize,
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Lexer<'_> {
    fn before(&self) -> &str {
        self.source.text.get(..self.position).unwrap_or_default()
    }

    fn rest(&self) -> &str {
        self.source.text.get(self.position..).unwrap_or_default()
    }

    fn from(&self, start: usize) -> Span {
        Span {
            start,
            end: self.position,
        }
    }

    /// Skips characters that meet a condition and returns their length.
    fn skip(&mut self, wanted: impl Fn(char) -> bool) -> usize {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.position += length;
        length
    }

    /// Skips white space and comments, which end where Spark ends them.
    fn skip_space(&mut self) -> Result<()> {
        let is_in_line = |c: char| !matches!(c, '\n' | '\r');
        loop {
            self.skip(char::is_whitespace);
            if self.rest().starts_with("--") {
                self.skip(is_in_line);
                // A line that ends with a backslash continues.
                while self.before().ends_with('\\') && self.rest().starts_with('\n') {
                    self.position += 1;
                    self.skip(is_in_line);
                }
            } else if self.rest().starts_with("/*") {
                self.skip_bracketed_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    fn skip_bracketed_comment(&mut self) -> Result<()> {
        let start = self.position;
        self.position += 2;
        let Some(length) = self.rest().find("*/") else {
            return self
                .source
                .invalid(self.from(start), "a comment is not closed", "");
        };
        let inside = self.rest().get(..length).unwrap_or_default();
        // Spark supports nested comments, and a plus starts a hint.
        if inside.contains("/*") || inside.starts_with('+') {
            return self.source.invalid(
                self.from(start),
                "a comment is nested in a comment, or is a hint",
                "leave it out",
            );
        }
        self.position += length + 2;
        Ok(())
    }

    fn next(&mut self) -> Result<(Token, Span)> {
        self.skip_space()?;
        let start = self.position;
        let mut ahead = self.rest().chars();
        let (first, second) = (ahead.next(), ahead.next());
        let token = match (first, second) {
            (None, _) => Token::End,
            (Some('`'), _) => self.name()?,
            (Some(quote @ ('\'' | '"')), _) => Token::Text(self.text(quote)?),
            (Some('r' | 'R'), Some(quote @ ('\'' | '"'))) => Token::Text(self.raw_text(quote)?),
            (Some('.'), Some(digit)) if digit.is_ascii_digit() => self.number()?,
            (Some(digit), _) if digit.is_ascii_digit() => self.number()?,
            (Some(letter), _) if is_word(letter) => self.word(),
            (Some(other), _) => match SIGNS.into_iter().find(|sign| self.rest().starts_with(sign)) {
                Some(sign) => {
                    self.position += sign.len();
                    Token::Sign(sign)
                }
                None => {
                    self.position += other.len_utf8();
                    let message = format!("{other:?} is not expected");
                    return self.source.invalid(self.from(start), message, "");
                }
            },
        };
        Ok((token, self.from(start)))
    }

    fn word(&mut self) -> Token {
        let start = self.position;
        self.skip(is_word);
        Token::Word(
            self.source
                .text
                .get(start..self.position)
                .unwrap_or_default()
                .to_owned(),
        )
    }

    /// A name in backticks; a backtick inside is doubled.
    fn name(&mut self) -> Result<Token> {
        let start = self.position;
        let mut name = String::new();
        loop {
            self.position += 1;
            let from = self.position;
            self.skip(|c| c != '`');
            name.push_str(self.source.text.get(from..self.position).unwrap_or_default());
            if self.rest().is_empty() {
                return self
                    .source
                    .invalid(self.from(start), "a backtick is not closed", "");
            }
            self.position += 1;
            if !self.rest().starts_with('`') {
                break;
            }
            name.push('`');
        }
        if name.is_empty() {
            return self.source.invalid(self.from(start), "a name is empty", "");
        }
        Ok(Token::Name(name))
    }

    /// A quoted string; the quote inside is doubled or escaped by a backslash.
    fn text(&mut self, quote: char) -> Result<String> {
        let start = self.position;
        self.position += 1;
        let from = self.position;
        let mut escaped = false;
        let mut text = String::new();
        let mut chars = self.rest().char_indices().peekable();
        let mut end = None;
        while let Some((at, c)) = chars.next() {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
                end = Some(at);
                break;
            }
            text.push(c);
        }
        let Some(end) = end else {
            self.position = self.source.text.len();
            let message = format!("the string {} is not closed", self.source.text(self.from(start)));
            return self.source.invalid(self.from(start), message, "");
        };
        self.position = from + end + 1;
        match unescape(&text) {
            Some(text) => Ok(text),
            None => self.source.invalid(
                self.from(start),
                "an escape in the string is not a character",
                "write \\\\ for a backslash, or r'…' for a string without escapes",
            ),
        }
    }

    /// `r'…'`: a string without escapes.
    fn raw_text(&mut self, quote: char) -> Result<String> {
        let start = self.position;
        self.position += 2;
        let from = self.position;
        self.skip(|c| c != quote);
        if self.rest().is_empty() {
            return self
                .source
                .invalid(self.from(start), "the text is not closed", "");
        }
        let text = self
            .source
            .text
            .get(from..self.position)
            .unwrap_or_default()
            .to_owned();
        self.position += 1;
        Ok(text)
    }

    fn number(&mut self) -> Result<Token> {
        let start = self.position;
        let digit = |c: char| c.is_ascii_digit();
        self.skip(digit);
        let mut whole = true;
        if self.rest().starts_with('.') {
            whole = false;
            self.position += 1;
            self.skip(digit);
        }
        let rest = self.rest().as_bytes();
        if let [b'e' | b'E', rest @ ..] = rest {
            let sign = usize::from(matches!(rest, [b'+' | b'-', ..]));
            if rest.get(sign).is_some_and(u8::is_ascii_digit) {
                whole &= sign == 0;
                self.position += 1 + sign;
                self.skip(digit);
            }
        }
        let digits = self
            .source
            .text
            .get(start..self.position)
            .unwrap_or_default()
            .to_owned();
        let letters = self.position;
        self.skip(is_word);
        let behind = self.source.text.get(letters..self.position).unwrap_or_default();
        if behind.is_empty() {
            return Ok(Token::Number { digits, suffix: "" });
        }
        match SUFFIXES
            .into_iter()
            .find(|suffix| behind.eq_ignore_ascii_case(suffix))
        {
            Some(suffix) => Ok(Token::Number { digits, suffix }),
            // A name may start with a digit.
            None if whole => Ok(Token::Word(
                self.source
                    .text
                    .get(start..self.position)
                    .unwrap_or_default()
                    .to_owned(),
            )),
            None => {
                let message = format!("{} is not a number", self.source.text(self.from(start)));
                self.source.invalid(self.from(start), message, "")
            }
        }
    }
}
