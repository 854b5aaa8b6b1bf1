//! Parses values: operators, names, numbers and strings.

use super::literals::number;
use super::parser::Parser;
use super::tokens::Token;
use crate::Result;
use crate::expr::operators::Arithmetic;
use crate::expr::span::Span;
use crate::expr::syntax::{Expr, ExprKind};
use crate::expr::{Comparison, Scalar};

/// A binary operator.
#[derive(Clone, Copy)]
enum Infix {
    Compare(Comparison),
    Arithmetic(Arithmetic),
    Concat,
    Unknown,
}

/// Comparisons have the lowest precedence, followed by bit operators, sums and products.
const LOOSEST: u8 = 0;

fn infix(token: &Token) -> Option<(u8, Infix)> {
    use Infix::{Arithmetic as Of, Compare, Unknown};
    Some(match token {
        Token::Sign(sign) => match *sign {
            "=" | "==" => (1, Compare(Comparison::Equal)),
            "<>" | "!=" => (1, Compare(Comparison::NotEqual)),
            "<" => (1, Compare(Comparison::Less)),
            "<=" => (1, Compare(Comparison::LessOrEqual)),
            ">" => (1, Compare(Comparison::Greater)),
            ">=" => (1, Compare(Comparison::GreaterOrEqual)),
            "<=>" => (1, Compare(Comparison::NullSafeEqual)),
            "|" => (2, Unknown),
            "^" => (3, Unknown),
            "&" => (4, Unknown),
            "+" => (5, Of(Arithmetic::Add)),
            "-" => (5, Of(Arithmetic::Subtract)),
            "||" => (5, Infix::Concat),
            "*" => (6, Of(Arithmetic::Multiply)),
            "/" => (6, Of(Arithmetic::Divide)),
            "%" => (6, Of(Arithmetic::Remainder)),
            _ => return None,
        },
        Token::Word(word) if word.eq_ignore_ascii_case("DIV") => (6, Of(Arithmetic::WholeQuotient)),
        _ => return None,
    })
}

impl Parser<'_> {
    /// A value: comparisons and arithmetic.
    pub(super) fn value(&mut self) -> Result<Expr> {
        self.deeper(|parser| parser.operation(LOOSEST))
    }

    /// A value whose operators have a higher precedence than `bound`.
    fn operation(&mut self, bound: u8) -> Result<Expr> {
        let start = self.here();
        let mut left = self.signed()?;
        while let Some((power, operator)) = infix(self.peek())
            && power > bound
        {
            let at = self.here();
            self.advance();
            let right = self.operation(power)?;
            let (one, other) = (Box::new(left), Box::new(right));
            left = match operator {
                Infix::Compare(op) => self.made(start, ExprKind::Compare(op, one, other))?,
                Infix::Arithmetic(op) => self.made(start, ExprKind::Arithmetic(op, one, other))?,
                Infix::Concat => self.call(start, "concat", vec![*one, *other])?,
                Infix::Unknown => return self.unknown(at),
            };
        }
        Ok(left)
    }

    /// A value after signs. A minus before a number is part of the number.
    fn signed(&mut self) -> Result<Expr> {
        let start = self.here();
        let is_number = matches!(self.peek_at(1), Token::Number { .. });
        if self.take_sign("+") {
            return self.deeper(Self::signed);
        }
        if matches!(self.peek(), Token::Sign("-")) && !is_number {
            self.advance();
            let inner = self.deeper(Self::signed)?;
            return self.made(start, ExprKind::Negate(Box::new(inner)));
        }
        if self.take_sign("~") {
            return self.unknown(start);
        }
        self.primary()
    }

    /// A value without operators, followed by optional fields and casts.
    fn primary(&mut self) -> Result<Expr> {
        let start = self.here();
        let mut expr = self.atom()?;
        loop {
            if self.take_sign("::") {
                let to = self.type_name()?;
                let kind = ExprKind::Cast {
                    inner: Box::new(expr),
                    to,
                    or_null: false,
                };
                expr = self.made(start, kind)?;
            } else if self.take_sign(".") {
                let name = self.name()?;
                expr = self.field(start, expr, name)?;
            } else if self.take_sign("[") {
                let key = self.value()?;
                self.expect_sign("]")?;
                expr = match (&expr.kind, &key.kind) {
                    (ExprKind::Column(_), ExprKind::Literal(Some(Scalar::String(name))))
                        if !name.is_empty() =>
                    {
                        let name = name.clone();
                        self.field(start, expr, name)?
                    }
                    _ => self.made(start, ExprKind::Element(Box::new(expr), Box::new(key)))?,
                };
            } else if self.is_word(0, "COLLATE") {
                return self.unknown(self.here());
            } else {
                return Ok(expr);
            }
        }
    }

    fn field(&self, start: Span, of: Expr, name: String) -> Result<Expr> {
        match of.kind {
            ExprKind::Column(mut path) => {
                path.push(name);
                self.made(start, ExprKind::Column(path))
            }
            _ => self.made(start, ExprKind::Field(Box::new(of), name)),
        }
    }

    pub(super) fn name(&mut self) -> Result<String> {
        match self.peek().clone() {
            Token::Word(name) | Token::Name(name) => {
                self.advance();
                Ok(name)
            }
            _ => self.unexpected("a name"),
        }
    }

    fn atom(&mut self) -> Result<Expr> {
        let start = self.here();
        match self.peek().clone() {
            Token::Sign("(") => {
                self.advance();
                let inner = self.condition()?;
                if self.take_sign(",") {
                    return self.unknown(self.since(start));
                }
                self.expect_sign(")")?;
                Ok(Expr {
                    at: self.since(start),
                    ..inner
                })
            }
            Token::Sign("-") => {
                self.advance();
                self.number(start, "-")
            }
            Token::Number { .. } => self.number(start, ""),
            Token::Text(_) => {
                let mut text = String::new();
                // Adjacent strings are concatenated.
                while let Token::Text(more) = self.peek() {
                    text.push_str(more);
                    self.advance();
                }
                self.literal(start, Some(Scalar::String(text)))
            }
            Token::Name(name) => {
                self.advance();
                self.made(start, ExprKind::Column(vec![name]))
            }
            Token::Word(word) => self.of_word(start, word),
            Token::Sign(_) | Token::End => self.unexpected("a value"),
        }
    }

    pub(super) fn literal(&self, start: Span, value: Option<Scalar>) -> Result<Expr> {
        self.made(start, ExprKind::Literal(value))
    }

    fn number(&mut self, start: Span, sign: &str) -> Result<Expr> {
        let Token::Number { digits, suffix } = self.peek().clone() else {
            return self.unexpected("a number");
        };
        self.advance();
        match number(&format!("{sign}{digits}"), suffix) {
            Some(value) => self.literal(start, Some(value)),
            None => {
                let message = format!("the number {sign}{digits}{suffix} is out of the range of its type");
                self.source.invalid(self.since(start), message, "")
            }
        }
    }
}
