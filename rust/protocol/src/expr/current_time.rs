//! Replaces calls for the current time by one instant, so that a statement has one time.

use super::function::Function;
use super::moments::{format_days, format_micros};
use super::predicate::{Expr, ExprKind};
use super::span::Span;
use super::{Predicate, ValueExpr, parse_predicate};
use crate::Result;

const DAY: i64 = 86_400_000_000;

impl Predicate {
    /// The expression with this instant, in microseconds since the epoch, in place of each call of `current_timestamp`,
    /// `now` and `current_date`. An expression in which calls remain cannot be bound.
    ///
    /// ```
    /// use deltaic_protocol::expr::parse_predicate;
    /// let predicate = parse_predicate("at < now()")?.at(0)?;
    /// assert_eq!(predicate.to_string(), "(at < TIMESTAMP '1970-01-01T00:00:00Z')");
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// None that parsing did not return.
    pub fn at(self, micros: i64) -> Result<Self> {
        self.with_time(micros, &|kind| match kind {
            ExprKind::Call(function @ (Function::CurrentDate | Function::CurrentTimestamp), _) => {
                Some(*function)
            }
            _ => None,
        })
    }

    fn with_time(self, micros: i64, call: &dyn Fn(&ExprKind) -> Option<Function>) -> Result<Self> {
        let mut calls = Vec::new();
        find(&self.root, call, &mut calls);
        if calls.is_empty() {
            return Ok(self);
        }
        calls.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
        let mut text = self.text.to_string();
        for (at, function) in calls {
            let time = match function {
                Function::CurrentDate => format!("DATE '{}'", format_days(micros.div_euclid(DAY))),
                _ => format!("TIMESTAMP '{}Z'", format_micros(micros, 'T')),
            };
            text.replace_range(at.start..at.end, &time);
        }
        parse_predicate(&text)
    }
}

impl ValueExpr {
    /// As [`Predicate::at`].
    ///
    /// # Errors
    ///
    /// None that parsing did not return.
    pub fn at(self, micros: i64) -> Result<Self> {
        self.0.at(micros).map(Self)
    }

    /// The same for an expression that has no columns, in which `CURRENT_TIMESTAMP` and `CURRENT_DATE` are also calls
    /// without parentheses.
    ///
    /// # Errors
    ///
    /// None that parsing did not return.
    pub fn without_columns_at(self, micros: i64) -> Result<Self> {
        let of_name = |kind: &ExprKind| match kind {
            ExprKind::Column(path) => match path.as_slice() {
                [name] if name.eq_ignore_ascii_case("current_date") => Some(Function::CurrentDate),
                [name] if name.eq_ignore_ascii_case("current_timestamp") => Some(Function::CurrentTimestamp),
                _ => None,
            },
            _ => None,
        };
        self.0.with_time(micros, &of_name)?.at(micros).map(Self)
    }
}

fn find(expr: &Expr, call: &dyn Fn(&ExprKind) -> Option<Function>, found: &mut Vec<(Span, Function)>) {
    match call(&expr.kind) {
        Some(function) => found.push((expr.at, function)),
        None => expr
            .kind
            .parts()
            .into_iter()
            .for_each(|part| find(part, call, found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_has_the_same_time() -> Result<()> {
        let text = "CASE WHEN now() > a THEN (current_date()) ELSE date_add(current_date( ), 1) END";
        let at = ValueExpr::parse(text)?.at(1)?;
        assert_eq!(
            at.text(),
            "CASE WHEN TIMESTAMP '1970-01-01T00:00:00.000001Z' > a THEN DATE '1970-01-01' \
             ELSE date_add(DATE '1970-01-01', 1) END"
        );
        let column = ValueExpr::parse("current_timestamp")?;
        assert_eq!(column.clone().at(1)?, column);
        let default = column.without_columns_at(0)?;
        assert_eq!(default.text(), "TIMESTAMP '1970-01-01T00:00:00Z'");
        Ok(())
    }
}
