//! Parses SQL text in Spark's syntax into a [`Predicate`].
//!
//! `tokens` is the lexer, `conditions` parses conditions and their combinations, `terms` and `words` parse values and
//! names, `literals` parses typed literals.

mod calls;
mod conditions;
mod current_time;
mod intervals;
mod literals;
mod parser;
mod terms;
#[cfg(test)]
mod tests;
mod tokens;
mod words;

use super::span::{Source, Subject};
use super::{Predicate, ValueExpr};
use crate::Result;
use parser::Parser;
use tokens::Token;

/// Parses a predicate. Invalid SQL is `InvalidPredicate`; SQL that is not implemented is
/// `UnsupportedExpression`. Both have the position as `line` and `column`, counted from 1.
///
/// ```
/// use deltaic_protocol::expr::parse_predicate;
/// parse_predicate("day >= DATE '2026-11-01' AND (region = 'EU' OR amount > 9.5)")?;
/// let error = parse_predicate("day >").unwrap_err();
/// assert_eq!(error.what(), "the predicate cannot be read: it ends where a value is expected at line 1, column 6");
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn parse_predicate(text: &str) -> Result<Predicate> {
    parse(Source {
        text,
        subject: Subject::Predicate,
    })
}

fn parse(source: Source<'_>) -> Result<Predicate> {
    let mut parser = Parser {
        source,
        tokens: tokens::tokens(source)?,
        position: 0,
        depth: 0,
    };
    let root = parser.condition()?;
    if *parser.peek() != Token::End {
        return parser.unexpected("the end");
    }
    Ok(Predicate {
        text: source.to_owned(),
        root,
        now: None,
    })
}

impl ValueExpr {
    /// Parses SQL text: a column, a literal, operators and functions.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate` for invalid SQL, `UnsupportedExpression` for SQL that is not implemented; both with the
    /// position.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_as(text, Subject::Expression)
    }

    /// The same for an expression that errors refer to by this subject.
    ///
    /// # Errors
    ///
    /// Those of [`Self::parse`].
    pub fn parse_as(text: &str, subject: Subject) -> Result<Self> {
        parse(Source { text, subject }).map(Self)
    }
}

impl Predicate {
    /// Parses a predicate as [`parse_predicate`] does; errors refer to it by this subject.
    ///
    /// ```
    /// use deltaic_protocol::expr::{Predicate, Subject};
    /// let error = Predicate::parse_as("a >", Subject::Constraint).unwrap_err();
    /// assert!(error.what().starts_with("the constraint cannot be read: it ends"));
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`parse_predicate`].
    pub fn parse_as(text: &str, subject: Subject) -> Result<Self> {
        parse(Source { text, subject })
    }
}
