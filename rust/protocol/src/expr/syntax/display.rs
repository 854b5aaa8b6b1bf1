//! Displays expressions as text that can be parsed to equal expressions.

use std::fmt::{self, Display, Formatter};

use super::expr::{Expr, ExprKind};
use super::predicate::Predicate;
use crate::expr::functions::EXACT_SECOND;
use crate::expr::literal::sql_text::{Quoted, joined, truth_value, write_scalar};
use crate::expr::operators::Interval;
use crate::schema::{InExpression, PrimitiveType};

impl Display for Predicate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.root.fmt(f)
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Literal(None) => f.write_str("NULL"),
            ExprKind::Literal(Some(value)) => write_scalar(f, value, true),
            ExprKind::Interval(interval) => match interval {
                Interval::Months(count) => write!(f, "INTERVAL {count} MONTH"),
                Interval::Days(count) => write!(f, "INTERVAL {count} DAY"),
                Interval::Micros(count) => write!(f, "INTERVAL {count} MICROSECOND"),
            },
            ExprKind::Column(path) => InExpression(path).fmt(f),
            ExprKind::And(parts) => joined(f, parts, " AND "),
            ExprKind::Or(parts) => joined(f, parts, " OR "),
            ExprKind::Not(inner) => write!(f, "(NOT {inner})"),
            ExprKind::Compare(op, left, right) => write!(f, "({left} {op} {right})"),
            ExprKind::Arithmetic(op, left, right) => write!(f, "({left} {op} {right})"),
            ExprKind::Negate(inner) => write!(f, "-({inner})"),
            ExprKind::Cast { inner, to, or_null } => {
                let word = if *or_null { "TRY_CAST" } else { "CAST" };
                write!(f, "{word}({inner} AS {})", type_name(*to))
            }
            ExprKind::IsNull(inner) => write!(f, "({inner} IS NULL)"),
            ExprKind::Is(inner, truth) => {
                let truth = truth.map_or("UNKNOWN", |truth| truth_value(Some(truth)));
                write!(f, "({inner} IS {truth})")
            }
            ExprKind::In(inner, list) => {
                write!(f, "({inner} IN ")?;
                joined(f, list, ", ")?;
                f.write_str(")")
            }
            ExprKind::Between(inner, low, high) => write!(f, "({inner} BETWEEN {low} AND {high})"),
            ExprKind::Like {
                inner,
                pattern,
                escape,
            } => write!(
                f,
                "({inner} LIKE {pattern} ESCAPE {})",
                Quoted(&escape.to_string())
            ),
            ExprKind::IsNan(inner) => write!(f, "isnan({inner})"),
            ExprKind::TextTest(test, text, part) => write!(f, "{test}({text}, {part})"),
            ExprKind::Call(function, arguments) if **function == EXACT_SECOND => {
                f.write_str("EXTRACT(SECOND FROM ")?;
                arguments
                    .iter()
                    .try_for_each(|argument| write!(f, "{argument}"))?;
                f.write_str(")")
            }
            ExprKind::Call(function, arguments) => {
                f.write_str(function.name())?;
                if arguments.is_empty() {
                    return f.write_str("()");
                }
                joined(f, arguments, ", ")
            }
            ExprKind::Case {
                operand,
                branches,
                otherwise,
            } => {
                f.write_str("CASE")?;
                if let Some(operand) = operand {
                    write!(f, " {operand}")?;
                }
                for (condition, result) in branches {
                    write!(f, " WHEN {condition} THEN {result}")?;
                }
                if let Some(otherwise) = otherwise {
                    write!(f, " ELSE {otherwise}")?;
                }
                f.write_str(" END")
            }
            ExprKind::Field(inner, name) => {
                write!(f, "({inner}).{}", InExpression(std::slice::from_ref(name)))
            }
            ExprKind::Element(inner, key) => write!(f, "({inner})[{key}]"),
        }
    }
}

/// The SQL name of a type.
fn type_name(data_type: PrimitiveType) -> String {
    match data_type {
        PrimitiveType::Byte => "TINYINT",
        PrimitiveType::Short => "SMALLINT",
        PrimitiveType::Long => "BIGINT",
        other => return other.delta_name().to_ascii_uppercase(),
    }
    .to_owned()
}
