//! Parses conditions and their combinations.

use super::parser::Parser;
use super::tokens::Token;
use crate::Result;
use crate::expr::Comparison;
use crate::expr::span::Span;
use crate::expr::syntax::{Expr, ExprKind};

impl Parser<'_> {
    /// Conditions joined by OR.
    pub(super) fn condition(&mut self) -> Result<Expr> {
        self.deeper(|parser| {
            parser.chain("OR", ExprKind::Or, |parser| {
                parser.chain("AND", ExprKind::And, Self::negated)
            })
        })
    }

    fn chain(
        &mut self,
        word: &str,
        kind: fn(Vec<Expr>) -> ExprKind,
        link: impl Fn(&mut Self) -> Result<Expr>,
    ) -> Result<Expr> {
        let start = self.here();
        let first = link(self)?;
        if !self.is_word(0, word) {
            return Ok(first);
        }
        let mut links = vec![first];
        while self.accept_word(word) {
            links.push(link(self)?);
        }
        self.made(start, kind(links))
    }

    /// NOT binds tighter than AND and looser than a comparison.
    fn negated(&mut self) -> Result<Expr> {
        let start = self.here();
        if self.accept_word("NOT") || self.take_sign("!") {
            let inner = self.deeper(Self::negated)?;
            return self.made(start, ExprKind::Not(Box::new(inner)));
        }
        self.predicated()
    }

    /// A value, optionally followed by IS, IN, BETWEEN or LIKE.
    fn predicated(&mut self) -> Result<Expr> {
        let start = self.here();
        let value = self.value()?;
        if self.accept_word("IS") {
            return self.is(start, value);
        }
        let negated = self.is_word(0, "NOT");
        let ahead = usize::from(negated);
        let Token::Word(word) = self.peek_at(ahead) else {
            return Ok(value);
        };
        let read = match word.to_ascii_uppercase().as_str() {
            "IN" => Self::list,
            "BETWEEN" => Self::between,
            "LIKE" => Self::like,
            "ILIKE" | "RLIKE" | "REGEXP" => {
                self.position += ahead;
                return self.unknown(self.here());
            }
            _ => return Ok(value),
        };
        self.position += ahead + 1;
        let kind = read(self, value)?;
        let inner = self.made(start, kind)?;
        self.not_if(negated, start, inner)
    }

    fn not_if(&self, negated: bool, start: Span, inner: Expr) -> Result<Expr> {
        if negated {
            self.made(start, ExprKind::Not(Box::new(inner)))
        } else {
            Ok(inner)
        }
    }

    /// Parses what follows IS.
    fn is(&mut self, start: Span, value: Expr) -> Result<Expr> {
        let negated = self.accept_word("NOT");
        let value = Box::new(value);
        let kind = if self.accept_word("NULL") {
            ExprKind::IsNull(value)
        } else if self.accept_word("TRUE") {
            ExprKind::Is(value, Some(true))
        } else if self.accept_word("FALSE") {
            ExprKind::Is(value, Some(false))
        } else if self.accept_word("UNKNOWN") {
            ExprKind::Is(value, None)
        } else if self.accept_word("DISTINCT") {
            self.expect_word("FROM")?;
            let other = self.value()?;
            let same = self.made(
                start,
                ExprKind::Compare(Comparison::NullSafeEqual, value, Box::new(other)),
            )?;
            return self.not_if(!negated, start, same);
        } else {
            return self.unexpected("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM");
        };
        let inner = self.made(start, kind)?;
        self.not_if(negated, start, inner)
    }

    fn list(&mut self, value: Expr) -> Result<ExprKind> {
        self.expect_sign("(")?;
        let mut list = vec![self.condition()?];
        while self.take_sign(",") {
            list.push(self.condition()?);
        }
        self.expect_sign(")")?;
        Ok(ExprKind::In(Box::new(value), list))
    }

    fn between(&mut self, value: Expr) -> Result<ExprKind> {
        let low = self.value()?;
        self.expect_word("AND")?;
        let high = self.value()?;
        Ok(ExprKind::Between(Box::new(value), Box::new(low), Box::new(high)))
    }

    fn like(&mut self, value: Expr) -> Result<ExprKind> {
        if ["ANY", "ALL", "SOME"].iter().any(|word| self.is_word(0, word))
            && *self.peek_at(1) == Token::Sign("(")
        {
            return self.unknown(self.here());
        }
        let pattern = self.value()?;
        let mut escape = '\\';
        if self.accept_word("ESCAPE") {
            let at = self.here();
            let Token::Text(text) = self.peek().clone() else {
                return self.unexpected("a character in quotes");
            };
            self.advance();
            let mut chars = text.chars();
            match (chars.next(), chars.next()) {
                (Some(one), None) if one.len_utf16() == 1 => escape = one,
                _ => return self.wrong(at, "the escape of a pattern is one character"),
            }
        }
        Ok(ExprKind::Like {
            inner: Box::new(value),
            pattern: Box::new(pattern),
            escape,
        })
    }
}
