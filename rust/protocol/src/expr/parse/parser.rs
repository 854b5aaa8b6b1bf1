//! The position of the parser in the tokens, and its errors.

use super::tokens::Token;
use crate::Result;
use crate::expr::span::{Source, Span};
use crate::expr::syntax::{Expr, ExprKind};

/// Maximum nesting of a predicate. A chain of ANDs or ORs and a list count as one level.
const DEPTH: usize = 80;

/// Maximum recursion of the parser: with parentheses around every part, a level needs three steps.
const STEPS: usize = 3 * DEPTH + 10;

const HOW_TO_WRITE: &str =
    "write it as in Spark SQL, for example: day >= DATE '2026-11-01' AND `my column` = 'x'";
const WHAT_THERE_IS: &str =
    "the functions and operators that are implemented are listed in the reference of expressions";

pub(super) struct Parser<'a> {
    pub(super) source: Source<'a>,
    pub(super) tokens: Vec<(Token, Span)>,
    pub(super) position: usize,
    pub(super) depth: usize,
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> &Token {
        self.tokens
            .get(self.position + ahead)
            .map_or(&Token::End, |(token, _)| token)
    }

    /// The position of the next token.
    pub(super) fn here(&self) -> Span {
        let end = self.source.text.len();
        self.tokens
            .get(self.position)
            .map_or(Span { start: end, end }, |(_, at)| *at)
    }

    /// The span from a position to the end of the last token.
    pub(super) fn since(&self, start: Span) -> Span {
        let last = self
            .position
            .checked_sub(1)
            .and_then(|last| self.tokens.get(last));
        start.to(last.map_or(start, |(_, at)| *at))
    }

    pub(super) fn advance(&mut self) {
        self.position += 1;
    }

    pub(super) fn is_word(&self, ahead: usize, wanted: &str) -> bool {
        matches!(self.peek_at(ahead), Token::Word(word) if word.eq_ignore_ascii_case(wanted))
    }

    pub(super) fn accept_word(&mut self, wanted: &str) -> bool {
        let found = self.is_word(0, wanted);
        self.position += usize::from(found);
        found
    }

    pub(super) fn take_sign(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(sign) if *sign == wanted);
        self.position += usize::from(found);
        found
    }

    pub(super) fn expect_word(&mut self, wanted: &str) -> Result<()> {
        if self.accept_word(wanted) {
            Ok(())
        } else {
            self.unexpected(wanted)
        }
    }

    pub(super) fn expect_sign(&mut self, wanted: &str) -> Result<()> {
        if self.take_sign(wanted) {
            Ok(())
        } else {
            self.unexpected(&format!("{wanted:?}"))
        }
    }

    pub(super) fn unexpected<T>(&self, wanted: &str) -> Result<T> {
        let found = match self.peek() {
            Token::End => "it ends".to_owned(),
            _ => format!("{:?} stands", self.source.text(self.here())),
        };
        self.wrong(self.here(), &format!("{found} where {wanted} is expected"))
    }

    pub(super) fn wrong<T>(&self, at: Span, why: &str) -> Result<T> {
        self.source.invalid(
            at,
            format!("{} cannot be read: {why}", self.source.subject),
            HOW_TO_WRITE,
        )
    }

    pub(super) fn unknown<T>(&self, at: Span) -> Result<T> {
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
    pub(super) fn made(&self, start: Span, kind: ExprKind) -> Result<Expr> {
        let expr = Expr::new(self.since(start), kind);
        if expr.height > DEPTH {
            return self.too_deep(expr.at);
        }
        Ok(expr)
    }

    pub(super) fn too_deep<T>(&self, at: Span) -> Result<T> {
        let message = format!("{} nests more than {DEPTH} levels deep", self.source.subject);
        self.source.invalid(
            at,
            message,
            "write many values as column IN (…), which may be as long as you like",
        )
    }

    /// Parses an expression one level deeper.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= STEPS {
            return self.too_deep(self.here());
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }
}
