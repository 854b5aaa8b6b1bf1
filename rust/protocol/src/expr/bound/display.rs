//! Displays bound predicates as text that can be parsed and bound to equal predicates.

use std::fmt::{self, Display, Formatter};

use super::tree::{BoundPredicate, Operand};
use crate::expr::literal::sql_text::{Quoted, joined, truth_value, write_scalar};
use crate::schema::InExpression;

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(path) => InExpression(path).fmt(f),
            Self::Scalar(scalar) => write_scalar(f, scalar, false),
        }
    }
}

impl Display for BoundPredicate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => f.write_str(truth_value(*value)),
            Self::Column(path) => InExpression(path).fmt(f),
            Self::IsNull(path) => write!(f, "{} IS NULL", InExpression(path)),
            Self::IsNan(path) => write!(f, "isnan({})", InExpression(path)),
            Self::StartsWith(path, text) => write!(f, "startswith({}, {})", InExpression(path), Quoted(text)),
            Self::EndsWith(path, text) => write!(f, "endswith({}, {})", InExpression(path), Quoted(text)),
            Self::Contains(path, text) => write!(f, "contains({}, {})", InExpression(path), Quoted(text)),
            Self::Like(path, pattern) => write!(f, "{} LIKE {}", InExpression(path), Quoted(&pattern.text())),
            Self::Compare { op, left, right, .. } => write!(f, "{left} {op} {right}"),
            Self::In {
                path,
                values,
                has_null,
            } => {
                write!(f, "{} IN (", InExpression(path))?;
                for (index, value) in values.values().iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    write_scalar(f, value, false)?;
                }
                f.write_str(if *has_null { ", NULL)" } else { ")" })
            }
            Self::Is(inner, truth) => {
                let truth = truth.map_or("UNKNOWN", |truth| truth_value(Some(truth)));
                write!(f, "({inner}) IS {truth}")
            }
            Self::And(parts) => joined(f, parts, " AND "),
            Self::Or(parts) => joined(f, parts, " OR "),
            Self::Not(inner) => write!(f, "NOT {inner}"),
            Self::Computed(computed) => Display::fmt(computed, f),
        }
    }
}
