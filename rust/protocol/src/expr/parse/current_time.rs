//! Replaces calls for the current time by one instant, so that a statement has one time.

use std::borrow::Cow;

use crate::Result;
use crate::expr::functions::Form;
use crate::expr::span::Span;
use crate::expr::syntax::{Expr, ExprKind};
use crate::expr::time::spellings::{format_days, format_micros};
use crate::expr::{Predicate, ValueExpr};

const DAY: i64 = 86_400_000_000;

impl Predicate {
    /// The expression with this instant, in microseconds since the epoch, in place of each call of `current_timestamp`,
    /// `now` and `current_date`. An expression in which calls remain cannot be bound. Names without parentheses become this
    /// instant when they are bound, if no column has them.
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
        let timed = self.with_time(micros, &|kind| match kind {
            ExprKind::Call(function, _) => function.form().filter(|form| form.is_time()),
            _ => None,
        })?;
        Ok(Self {
            now: Some(micros),
            ..timed
        })
    }

    /// The expression with the current time, if it is known, in place of `CURRENT_TIMESTAMP` and `CURRENT_DATE` without
    /// parentheses, as in Spark if no column has the name.
    pub(in crate::expr) fn timed(&self, is_column: impl Fn(&str) -> bool) -> Result<Cow<'_, Self>> {
        let of_name = |kind: &ExprKind| match kind {
            ExprKind::Column(path) => match path.as_slice() {
                [name] if !is_column(name) => time_of_name(name),
                _ => None,
            },
            _ => None,
        };
        match self.now {
            Some(micros) if self.root.columns().iter().any(|path| is_time(path)) => {
                let timed = self.clone().with_time(micros, &of_name)?;
                Ok(Cow::Owned(timed))
            }
            _ => Ok(Cow::Borrowed(self)),
        }
    }

    fn with_time(self, micros: i64, call: &dyn Fn(&ExprKind) -> Option<Form>) -> Result<Self> {
        let mut calls = Vec::new();
        find(&self.root, call, &mut calls);
        if calls.is_empty() {
            return Ok(self);
        }
        calls.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
        let mut text = self.text.as_str().to_owned();
        for (at, form) in calls {
            let time = match form {
                Form::CurrentDate => format!("DATE '{}'", format_days(micros.div_euclid(DAY))),
                _ => format!("TIMESTAMP '{}Z'", format_micros(micros, 'T')),
            };
            text.replace_range(at.start..at.end, &time);
        }
        Self::parse_as(&text, self.text.source().subject)
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

    /// The same expression with the current time of another one.
    ///
    /// # Errors
    ///
    /// None that parsing did not return.
    pub fn at_time_of(self, other: &Self) -> Result<Self> {
        match other.0.now {
            Some(micros) => self.at(micros),
            None => Ok(self),
        }
    }
}

/// The function that a name without parentheses calls, if no column has it.
fn time_of_name(name: &str) -> Option<Form> {
    match name.to_ascii_lowercase().as_str() {
        "current_date" => Some(Form::CurrentDate),
        "current_timestamp" => Some(Form::CurrentTimestamp),
        _ => None,
    }
}

fn is_time(path: &[String]) -> bool {
    matches!(path, [name] if time_of_name(name).is_some())
}

fn find(expr: &Expr, call: &dyn Fn(&ExprKind) -> Option<Form>, found: &mut Vec<(Span, Form)>) {
    match call(&expr.kind) {
        Some(form) => found.push((expr.at, form)),
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
    use crate::schema::{PrimitiveType, StructField, StructType};

    #[test]
    fn every_call_has_the_same_time() -> Result<()> {
        let text = "CASE WHEN now() > a THEN (current_date()) ELSE date_add(current_date( ), 1) END";
        let at = ValueExpr::parse(text)?.at(1)?;
        assert_eq!(
            at.text(),
            "CASE WHEN TIMESTAMP '1970-01-01T00:00:00.000001Z' > a THEN DATE '1970-01-01' \
             ELSE date_add(DATE '1970-01-01', 1) END"
        );
        let nothing = StructType::default();
        let name = ValueExpr::parse("Current_Timestamp")?;
        assert!(name.bind(&nothing).is_err());
        assert_eq!(
            name.at(0)?.bind(&nothing)?.text(),
            "TIMESTAMP '1970-01-01T00:00:00Z'"
        );
        let day = StructField::new("CURRENT_DATE", PrimitiveType::Date.into(), true);
        let column = StructType { fields: vec![day] };
        assert!(
            ValueExpr::parse("current_date")?
                .at(0)?
                .bind(&column)?
                .is_column()
        );
        Ok(())
    }
}
