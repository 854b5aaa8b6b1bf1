//! Parses SQL text in Spark's syntax into a [`Predicate`].
//!
//! `tokens` is the lexer, `conditions` parses conditions and their combinations, `terms` and `words` parse values and
//! names, `literals` parses typed literals.

mod calls;
mod conditions;
mod current_time;
mod intervals;
mod literals;
mod terms;
#[cfg(test)]
mod tests;
mod tokens;
mod words;

use super::span::{Source, Span, Subject};
use super::{Predicate, ValueExpr};
use crate::Result;
use crate::expr::syntax::{Expr, ExprKind};
use tokens::Token;

/// Maximum nesting of a predicate. A chain of ANDs or ORs and a list count as one level.
const DEPTH: usize = 80;

/// Maximum recursion of the parser: with parentheses around every part, a level needs three steps.
const STEPS: usize = 3 * DEPTH + 10;

const HOW_TO_WRITE: &str =
    "write it as in Spark SQL, for example: day >= DATE '2026-11-01' AND `my column` = 'x'";
const WHAT_THERE_IS: &str =
    "the functions and operators that are implemented are listed in the reference of expressions";

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

struct Parser<'a> {
    source: Source<'a>,
    tokens: Vec<(Token, Span)>,
    position: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Token {
        self.tokens
            .get(self.position + ahead)
            .map_or(&Token::End, |(token, _)| token)
    }

    /// The position of the next token.
    fn here(&self) -> Span {
        let end = self.source.text.len();
        self.tokens
            .get(self.position)
            .map_or(Span { start: end, end }, |(_, at)| *at)
    }

    /// The span from a position to the end of the last token.
    fn since(&self, start: Span) -> Span {
        let last = self
            .position
            .checked_sub(1)
            .and_then(|last| self.tokens.get(last));
        start.to(last.map_or(start, |(_, at)| *at))
    }

    fn advance(&mut self) {
        self.position += 1;
    }

    fn is_word(&self, ahead: usize, wanted: &str) -> bool {
        matches!(self.peek_at(ahead), Token::Word(word) if word.eq_ignore_ascii_case(wanted))
    }

    fn accept_word(&mut self, wanted: &str) -> bool {
        let found = self.is_word(0, wanted);
        self.position += usize::from(found);
        found
    }

    fn take_sign(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(sign) if *sign == wanted);
        self.position += usize::from(found);
        found
    }

    fn expect_word(&mut self, wanted: &str) -> Result<()> {
        if self.accept_word(wanted) {
            Ok(())
        } else {
            self.unexpected(wanted)
        }
    }

    fn expect_sign(&mut self, wanted: &str) -> Result<()> {
        if self.take_sign(wanted) {
            Ok(())
        } else {
            self.unexpected(&format!("{wanted:?}"))
        }
    }

    fn unexpected<T>(&self, wanted: &str) -> Result<T> {
        let found = match self.peek() {
            Token::End => "it ends".to_owned(),
            _ => format!("{:?} stands", self.source.text(self.here())),
        };
        self.wrong(self.here(), &format!("{found} where {wanted} is expected"))
    }

    fn wrong<T>(&self, at: Span, why: &str) -> Result<T> {
        self.source.invalid(
            at,
            format!("{} cannot be read: {why}", self.source.subject),
            HOW_TO_WRITE,
        )
    }

    fn unknown<T>(&self, at: Span) -> Result<T> {
        let text = self.source.text(at);
        let message = format!("{text} is not implemented");
        let hint = match text.as_str() {
            "&" | "&&" => "use AND",
            "|" => "use OR",
            _ => WHAT_THERE_IS,
        };
        self.source.unsupported(at, message, hint)
    }

    /// Creates an expression that ends at the last token.
    fn made(&self, start: Span, kind: ExprKind) -> Result<Expr> {
        let expr = Expr::new(self.since(start), kind);
        if expr.height > DEPTH {
            return self.too_deep(expr.at);
        }
        Ok(expr)
    }

    fn too_deep<T>(&self, at: Span) -> Result<T> {
        let message = format!("{} nests more than {DEPTH} levels deep", self.source.subject);
        self.source.invalid(
            at,
            message,
            "write many values as column IN (…), which may be as long as you like",
        )
    }

    /// Parses an expression one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= STEPS {
            return self.too_deep(self.here());
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }
}
