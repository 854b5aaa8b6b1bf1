//! Parses calls of functions, with their special forms, and CASE.

use super::parser::Parser;
use crate::Result;
use crate::expr::Scalar;
use crate::expr::functions::{EXACT_SECOND, Function};
use crate::expr::operators::{Arithmetic, TextTest};
use crate::expr::span::Span;
use crate::expr::syntax::{Expr, ExprKind};

impl Parser<'_> {
    /// Parses what follows the opening parenthesis of a call.
    pub(super) fn function(&mut self, start: Span, name: &str) -> Result<Expr> {
        match name {
            "TRIM" if self.is_trim() => return self.trim(start),
            "EXTRACT" => return self.extract(start),
            "STRUCT" => return self.fields(start),
            _ => {}
        }
        let mut arguments = Vec::new();
        if !self.take_sign(")") {
            loop {
                arguments.push(self.condition()?);
                let separator = match name {
                    "SUBSTRING" | "SUBSTR" if arguments.len() == 1 => "FROM",
                    "SUBSTRING" | "SUBSTR" if arguments.len() == 2 => "FOR",
                    _ => ",",
                };
                if !(self.take_sign(",") || self.accept_word(separator)) {
                    break;
                }
            }
            self.expect_sign(")")?;
        }
        if let Some(function) = Function::of(name, arguments.len()) {
            return self.made(start, ExprKind::Call(function, arguments));
        }
        let count = arguments.len();
        let mut arguments = arguments.into_iter().map(Box::new);
        let kind = match (name, arguments.next(), arguments.next(), arguments.next()) {
            ("ISNULL", Some(inner), None, _) => ExprKind::IsNull(inner),
            ("ISNOTNULL", Some(inner), None, _) => {
                let inner = self.made(start, ExprKind::IsNull(inner))?;
                ExprKind::Not(Box::new(inner))
            }
            ("ISNAN", Some(inner), None, _) => ExprKind::IsNan(inner),
            ("MOD", Some(left), Some(right), None) => {
                ExprKind::Arithmetic(Arithmetic::Remainder, left, right)
            }
            ("STARTSWITH", Some(text), Some(part), None) => {
                ExprKind::TextTest(TextTest::StartsWith, text, part)
            }
            ("ENDSWITH", Some(text), Some(part), None) => ExprKind::TextTest(TextTest::EndsWith, text, part),
            ("CONTAINS", Some(text), Some(part), None) => ExprKind::TextTest(TextTest::Contains, text, part),
            _ if Function::is_known(name) => {
                let message = format!(
                    "{} is not implemented with {count} arguments",
                    name.to_lowercase()
                );
                return self.source.unsupported(self.since(start), message, "");
            }
            _ => return self.unknown(self.since(start)),
        };
        self.made(start, kind)
    }

    /// `TRIM(BOTH …` and `TRIM(x FROM …`, which are not calls with arguments.
    fn is_trim(&self) -> bool {
        let has_side = ["BOTH", "LEADING", "TRAILING"]
            .iter()
            .any(|side| self.is_word(0, side));
        has_side || self.is_word(1, "FROM")
    }

    fn trim(&mut self, start: Span) -> Result<Expr> {
        let function = match () {
            () if self.accept_word("LEADING") => "ltrim",
            () if self.accept_word("TRAILING") => "rtrim",
            () => {
                self.accept_word("BOTH");
                "trim"
            }
        };
        let mut arguments = Vec::new();
        if !self.is_word(0, "FROM") {
            arguments.push(self.condition()?);
        }
        self.expect_word("FROM")?;
        arguments.push(self.condition()?);
        self.expect_sign(")")?;
        self.call(start, function, arguments)
    }

    fn extract(&mut self, start: Span) -> Result<Expr> {
        let at = self.here();
        let super::tokens::Token::Word(field) = self.peek().clone() else {
            return self.unexpected("a field of a date or time");
        };
        self.advance();
        let function = match field.to_ascii_uppercase().as_str() {
            "YEAR" | "Y" | "YEARS" | "YR" | "YRS" => Function::of("year", 1),
            "QUARTER" | "QTR" => Function::of("quarter", 1),
            "MONTH" | "MON" | "MONS" | "MONTHS" => Function::of("month", 1),
            "DAY" | "D" | "DAYS" => Function::of("day", 1),
            "HOUR" | "H" | "HOURS" | "HR" | "HRS" => Function::of("hour", 1),
            "MINUTE" | "M" | "MIN" | "MINS" | "MINUTES" => Function::of("minute", 1),
            "SECOND" | "S" | "SEC" | "SECONDS" | "SECS" => Some(&EXACT_SECOND),
            _ => None,
        };
        let Some(function) = function else {
            return self.unknown(at);
        };
        self.expect_word("FROM")?;
        let of = self.condition()?;
        self.expect_sign(")")?;
        self.made(start, ExprKind::Call(function, vec![of]))
    }

    /// `STRUCT(a, b AS c)`: fields have the names of the columns, or `col` and their number.
    fn fields(&mut self, start: Span) -> Result<Expr> {
        let mut arguments = Vec::new();
        loop {
            let at = self.here();
            let value = self.condition()?;
            let name = match &value.kind {
                _ if self.accept_word("AS") => self.name()?,
                ExprKind::Column(path) => path.last().cloned().unwrap_or_default(),
                ExprKind::Field(_, name) => name.clone(),
                _ => format!("col{}", arguments.len() / 2 + 1),
            };
            arguments.push(self.literal(at, Some(Scalar::String(name)))?);
            arguments.push(value);
            if !self.take_sign(",") {
                break;
            }
        }
        self.expect_sign(")")?;
        self.call(start, "named_struct", arguments)
    }

    /// A call of a function that the table has under this name.
    pub(super) fn call(&self, start: Span, name: &str, arguments: Vec<Expr>) -> Result<Expr> {
        match Function::of(name, arguments.len()) {
            Some(function) => self.made(start, ExprKind::Call(function, arguments)),
            None => self.unknown(self.since(start)),
        }
    }

    /// Parses what follows CASE.
    pub(super) fn case(&mut self, start: Span) -> Result<Expr> {
        let mut operand = None;
        if !self.is_word(0, "WHEN") {
            operand = Some(Box::new(self.condition()?));
        }
        let mut branches = Vec::new();
        self.expect_word("WHEN")?;
        loop {
            let condition = self.condition()?;
            self.expect_word("THEN")?;
            branches.push((condition, self.condition()?));
            if !self.accept_word("WHEN") {
                break;
            }
        }
        let mut otherwise = None;
        if self.accept_word("ELSE") {
            otherwise = Some(Box::new(self.condition()?));
        }
        self.expect_word("END")?;
        self.made(
            start,
            ExprKind::Case {
                operand,
                branches,
                otherwise,
            },
        )
    }
}
