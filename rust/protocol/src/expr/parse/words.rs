//! Parses expressions that start with a word: keywords, typed literals, casts and their types.

use super::literals::unhex;
use super::parser::Parser;
use super::tokens::Token;
use crate::Result;
use crate::expr::span::Span;
use crate::expr::syntax::{Expr, ExprKind};
use crate::expr::{Scalar, cast};
use crate::schema::PrimitiveType;

impl Parser<'_> {
    /// An expression that starts with a word: a keyword, a typed literal, a function, a name.
    pub(super) fn of_word(&mut self, start: Span, word: String) -> Result<Expr> {
        let upper = word.to_ascii_uppercase();
        self.advance();
        match (upper.as_str(), self.peek().clone()) {
            ("NULL", _) => self.literal(start, None),
            ("TRUE", _) => self.literal(start, Some(Scalar::Boolean(true))),
            ("FALSE", _) => self.literal(start, Some(Scalar::Boolean(false))),
            ("CAST" | "TRY_CAST", Token::Sign("(")) => {
                self.advance();
                let inner = self.condition()?;
                self.expect_word("AS")?;
                let to = self.type_name()?;
                self.expect_sign(")")?;
                let kind = ExprKind::Cast {
                    inner: Box::new(inner),
                    to,
                    or_null: upper == "TRY_CAST",
                };
                self.made(start, kind)
            }
            ("INTERVAL", Token::Text(_) | Token::Number { .. } | Token::Sign("-" | "+")) => {
                self.interval(start)
            }
            (
                "CASE",
                Token::Word(_) | Token::Name(_) | Token::Text(_) | Token::Number { .. } | Token::Sign("("),
            ) => self.case(start),
            (_, Token::Text(text)) => {
                self.advance();
                self.typed_text(start, &upper, &text)
            }
            ("SELECT" | "EXISTS" | "WITH", Token::Word(_) | Token::Number { .. } | Token::Sign("("))
            | ("SELECT" | "WITH", _) => self.unknown(start),
            (_, Token::Sign("(")) => {
                self.advance();
                self.function(start, &upper)
            }
            (
                "AND" | "OR" | "NOT" | "IN" | "IS" | "LIKE" | "ILIKE" | "RLIKE" | "BETWEEN" | "ESCAPE" | "AS"
                | "DISTINCT" | "FROM",
                _,
            ) => {
                self.position -= 1;
                self.unexpected("a value")
            }
            _ => self.made(start, ExprKind::Column(vec![word])),
        }
    }

    /// `DATE '…'` and similar.
    fn typed_text(&mut self, start: Span, word: &str, text: &str) -> Result<Expr> {
        let at = self.since(start);
        let to = match word {
            "DATE" => PrimitiveType::Date,
            "TIMESTAMP" | "TIMESTAMP_LTZ" => PrimitiveType::Timestamp,
            "TIMESTAMP_NTZ" => PrimitiveType::TimestampNtz,
            "X" => {
                return match unhex(text) {
                    Some(bytes) => self.literal(start, Some(Scalar::Binary(bytes))),
                    None => self
                        .source
                        .invalid(at, "the bytes are not hexadecimal digits", ""),
                };
            }
            _ => return self.unknown(at),
        };
        match cast::typed_literal(text, to) {
            Ok(value) => self.literal(start, Some(value)),
            Err(failure) => Err(failure.at(self.source, at)),
        }
    }

    /// A type to which a value can be cast.
    pub(super) fn type_name(&mut self) -> Result<PrimitiveType> {
        let start = self.here();
        let Token::Word(word) = self.peek().clone() else {
            return self.unexpected("a type");
        };
        self.advance();
        Ok(match word.to_ascii_uppercase().as_str() {
            "BOOLEAN" => PrimitiveType::Boolean,
            "TINYINT" | "BYTE" => PrimitiveType::Byte,
            "SMALLINT" | "SHORT" => PrimitiveType::Short,
            "INT" | "INTEGER" => PrimitiveType::Integer,
            "BIGINT" | "LONG" => PrimitiveType::Long,
            "FLOAT" | "REAL" => PrimitiveType::Float,
            "DOUBLE" => PrimitiveType::Double,
            "STRING" if !self.is_word(0, "COLLATE") => PrimitiveType::String,
            "BINARY" => PrimitiveType::Binary,
            "DATE" => PrimitiveType::Date,
            "TIMESTAMP" | "TIMESTAMP_LTZ" => PrimitiveType::Timestamp,
            "TIMESTAMP_NTZ" => PrimitiveType::TimestampNtz,
            "DECIMAL" | "DEC" | "NUMERIC" => self.decimal(start)?,
            _ => return self.unknown(self.since(start)),
        })
    }

    fn decimal(&mut self, start: Span) -> Result<PrimitiveType> {
        let (mut precision, mut scale) = (Some(10), Some(0));
        if self.take_sign("(") {
            precision = self.digits()?;
            if self.take_sign(",") {
                scale = self.digits()?;
            }
            self.expect_sign(")")?;
        }
        match (precision, scale) {
            (Some(precision @ 1..=38), Some(scale)) if scale <= precision => {
                Ok(PrimitiveType::Decimal { precision, scale })
            }
            _ => self.wrong(
                self.since(start),
                "a decimal has 1 to 38 digits, and at most as many after the point",
            ),
        }
    }

    fn digits(&mut self) -> Result<Option<u8>> {
        let Token::Number { digits, suffix: "" } = self.peek().clone() else {
            return self.unexpected("a number of digits");
        };
        self.advance();
        Ok(digits.parse().ok())
    }
}
