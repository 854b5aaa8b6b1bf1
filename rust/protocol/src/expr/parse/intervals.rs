//! Parses intervals: `INTERVAL 3 DAYS`, `INTERVAL '1' MONTH`, `INTERVAL '1 day 2 hours'`.

use super::parser::Parser;
use super::tokens::Token;
use crate::Result;
use crate::expr::operators::Interval;
use crate::expr::span::Span;
use crate::expr::syntax::{Expr, ExprKind};

const DAY: i64 = 86_400_000_000;

/// Months or microseconds of a unit, and whether it is days or longer.
enum Unit {
    Months(i64),
    Days(i64),
    Micros(i64),
}

fn unit(word: &str) -> Option<Unit> {
    let lower = word.to_ascii_lowercase();
    Some(match lower.strip_suffix('s').unwrap_or(&lower) {
        "year" => Unit::Months(12),
        "month" => Unit::Months(1),
        "week" => Unit::Days(7),
        "day" => Unit::Days(1),
        "hour" => Unit::Micros(3_600_000_000),
        "minute" => Unit::Micros(60_000_000),
        "second" => Unit::Micros(1_000_000),
        "millisecond" => Unit::Micros(1_000),
        "microsecond" => Unit::Micros(1),
        _ => return None,
    })
}

/// The sum of numbers with units; `None` if years or months are combined with smaller units, because such
/// an interval has no fixed length.
fn total(parts: &[(i64, Unit)]) -> Option<Interval> {
    let (mut months, mut days, mut micros) = (None::<i64>, None::<i64>, None::<i64>);
    for (count, unit) in parts {
        let (sum, size) = match unit {
            Unit::Months(size) => (&mut months, *size),
            Unit::Days(size) => (&mut days, *size),
            Unit::Micros(size) => (&mut micros, *size),
        };
        *sum = Some(sum.unwrap_or(0).checked_add(count.checked_mul(size)?)?);
    }
    match (months, days, micros) {
        (Some(months), None, None) => i32::try_from(months).ok().map(|_| Interval::Months(months)),
        (None, Some(days), None) => {
            days.checked_mul(DAY)?;
            Some(Interval::Days(days))
        }
        (None, days, Some(micros)) => {
            let whole = days.unwrap_or(0).checked_mul(DAY)?;
            Some(Interval::Micros(whole.checked_add(micros)?))
        }
        _ => None,
    }
}

impl Parser<'_> {
    /// Parses what follows INTERVAL.
    pub(super) fn interval(&mut self, start: Span) -> Result<Expr> {
        let mut parts = Vec::new();
        // Everything in one string.
        if let (Token::Text(text), behind) = (self.peek().clone(), self.peek_at(1))
            && !matches!(behind, Token::Word(word) if unit(word).is_some())
        {
            self.advance();
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            for pair in words.chunks(2) {
                let [count, name] = pair else {
                    return self.unknown(self.since(start));
                };
                match (count.parse(), unit(name)) {
                    (Ok(count), Some(unit)) => parts.push((count, unit)),
                    _ => return self.unknown(self.since(start)),
                }
            }
            return self.whole(start, &parts);
        }
        loop {
            let negative = self.take_sign("-");
            if !negative {
                self.take_sign("+");
            }
            let digits = match self.peek().clone() {
                Token::Number { digits, suffix: "" } => digits,
                Token::Text(text) => text,
                _ => return self.unexpected("a number"),
            };
            self.advance();
            let Token::Word(word) = self.peek().clone() else {
                return self.unexpected("a unit of time");
            };
            let Some(unit) = unit(&word) else {
                return self.unexpected("a unit of time");
            };
            self.advance();
            let digits = digits.trim();
            let count = match (negative, digits.strip_prefix('-')) {
                (false, _) => digits.parse(),
                (true, Some(positive)) => positive.parse(),
                (true, None) => format!("-{digits}").parse(),
            };
            let Ok(count) = count else {
                return self.unknown(self.since(start));
            };
            parts.push((count, unit));
            if self.is_word(0, "TO") {
                return self.unknown(self.here());
            }
            let more = match self.peek() {
                Token::Number { .. } | Token::Text(_) => true,
                Token::Sign("-" | "+") => {
                    matches!(self.peek_at(1), Token::Number { .. } | Token::Text(_))
                        && matches!(self.peek_at(2), Token::Word(word) if unit_of(word))
                }
                _ => false,
            };
            if !more {
                return self.whole(start, &parts);
            }
        }
    }

    fn whole(&self, start: Span, parts: &[(i64, Unit)]) -> Result<Expr> {
        match total(parts) {
            Some(interval) => self.made(start, ExprKind::Interval(interval)),
            None => self.unknown(self.since(start)),
        }
    }
}

fn unit_of(word: &str) -> bool {
    unit(word).is_some()
}
