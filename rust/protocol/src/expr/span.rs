//! Spans in the text of an expression, and errors that point to them.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use crate::{Error, ErrorKind, Result};

/// A span of the text in bytes. Spans do not affect the meaning of an expression: all are equal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    /// The first byte.
    pub(super) start: usize,
    /// The end, exclusive.
    pub(super) end: usize,
}

impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Span {
    /// From the start of one to the end of the other.
    pub(super) fn to(self, other: Self) -> Self {
        Self {
            start: self.start,
            end: other.end,
        }
    }
}

/// Maximum length of the line that is shown below an error.
const SHOWN: usize = 72;

/// What an expression is: the subject of messages about all of it.
///
/// ```
/// use deltaic_protocol::expr::{Subject, ValueExpr};
/// let error = ValueExpr::parse_as("foo(", Subject::Default).unwrap_err();
/// assert!(error.what().starts_with("the default cannot be read: it ends"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A condition that selects rows.
    Predicate,
    /// A value.
    Expression,
    /// The default of a column.
    Default,
    /// The expression of a generated column.
    GenerationExpression,
    /// A condition that every row of a table satisfies.
    Constraint,
}

impl Display for Subject {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Predicate => "the predicate",
            Self::Expression => "the expression",
            Self::Default => "the default",
            Self::GenerationExpression => "the generation expression",
            Self::Constraint => "the constraint",
        })
    }
}

/// The text of an expression, which its bound forms share.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SourceText(Arc<(Box<str>, Subject)>);

impl SourceText {
    pub(super) fn source(&self) -> Source<'_> {
        let (text, subject) = self.0.as_ref();
        Source {
            text,
            subject: *subject,
        }
    }

    pub(super) fn as_str(&self) -> &str {
        self.source().text
    }
}

/// The text to which an error points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) subject: Subject,
}

impl Source<'_> {
    /// The text, shared.
    pub(super) fn to_owned(self) -> SourceText {
        SourceText(Arc::new((self.text.into(), self.subject)))
    }

    /// An error with its position.
    pub(super) fn error(self, kind: ErrorKind, at: Span, message: &str, hint: &str) -> Error {
        let (line, column, shown) = self.place(at);
        let hint = match (hint, shown) {
            (hint, None) => hint.to_owned(),
            ("", Some(shown)) => format!("look here:\n{shown}"),
            (hint, Some(shown)) => format!("{hint}\n{shown}"),
        };
        let error = Error::new(kind, format!("{message} at line {line}, column {column}"))
            .with("predicate", shortened(self.text))
            .with("line", line)
            .with("column", column);
        if hint.is_empty() { error } else { error.hint(hint) }
    }

    /// The expression is invalid.
    pub(super) fn invalid<T>(self, at: Span, message: impl AsRef<str>, hint: &str) -> Result<T> {
        Err(self.error(ErrorKind::InvalidPredicate, at, message.as_ref(), hint))
    }

    /// The expression uses something that is not implemented.
    pub(super) fn unsupported<T>(self, at: Span, message: impl AsRef<str>, hint: &str) -> Result<T> {
        Err(self.error(ErrorKind::UnsupportedExpression, at, message.as_ref(), hint))
    }

    /// The text of a span.
    pub(super) fn text(self, at: Span) -> String {
        shortened(self.text.get(at.start..at.end).unwrap_or_default())
    }

    /// Line and column, counted in characters from 1, and the line with a mark below the span.
    fn place(self, at: Span) -> (i64, i64, Option<String>) {
        let before = self.text.get(..at.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let in_line = before.get(line_start..).unwrap_or_default().chars().count();
        let rest = self.text.get(line_start..).unwrap_or_default();
        let text = rest.split('\n').next().unwrap_or_default();
        let marked = self.text.get(at.start..at.end).unwrap_or_default();
        let length = marked.split('\n').next().unwrap_or_default().chars().count();
        // A long line is truncated so that the span remains visible.
        let skipped = if in_line < SHOWN - 12 { 0 } else { in_line - 30 };
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let shown: String = text.chars().skip(skipped).take(SHOWN).map(plain).collect();
        let room = SHOWN.saturating_sub(in_line - skipped).max(1);
        let mark = format!(
            "  {}{}",
            " ".repeat(in_line - skipped),
            "^".repeat(length.clamp(1, room))
        );
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let shown = (!shown.trim().is_empty()).then(|| format!("  {}\n{mark}", shown.trim_end()));
        (number(line), number(in_line + 1), shown)
    }
}

/// A text truncated for an error message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((cut, _)) => format!("{} …", text.get(..cut).unwrap_or(text)),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_counted_in_characters_and_marked() {
        let text = "é = 1 AND\n  wrong > 5";
        let start = text.find("wrong").unwrap_or_default();
        let at = Span {
            start,
            end: start + 5,
        };
        let source = |text| Source {
            text,
            subject: Subject::Predicate,
        };
        let error = source(text).error(ErrorKind::InvalidPredicate, at, "no", "do");
        assert!(
            error.to_string().starts_with("no at line 2, column 3 ("),
            "{error}"
        );
        assert_eq!(error.hint_text(), Some("do\n    wrong > 5\n    ^^^^^"));
        let long = "x".repeat(5_000) + "!";
        let at = Span {
            start: 5_000,
            end: 5_001,
        };
        let error = source(&long).error(ErrorKind::InvalidPredicate, at, "no", "");
        let lines: Vec<_> = error.hint_text().unwrap_or_default().lines().collect();
        assert_eq!(lines[0], "look here:");
        assert_eq!((lines[1].len(), lines[2].find('^')), (33, lines[1].find('!')));
    }
}
