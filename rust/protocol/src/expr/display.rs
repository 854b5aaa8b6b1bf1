//! A bound predicate as people read it.

use std::fmt;

use super::{BoundPredicate, Comparison, Operand};
use crate::schema::{ColumnName, PrimitiveType};

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::NullSafeEqual => "<=>",
        })
    }
}

fn column(path: &[String]) -> ColumnName {
    ColumnName::from_parts(path.to_vec())
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(path) => column(path).fmt(f),
            Self::Scalar(scalar) => {
                let text = scalar.to_partition_text().unwrap_or_else(|| "?".to_owned());
                match scalar.data_type() {
                    PrimitiveType::String | PrimitiveType::Binary => write!(f, "'{text}'"),
                    PrimitiveType::Date => write!(f, "DATE '{text}'"),
                    PrimitiveType::Timestamp => write!(f, "TIMESTAMP '{text}'"),
                    PrimitiveType::TimestampNtz => write!(f, "TIMESTAMP_NTZ '{text}'"),
                    _ => f.write_str(&text),
                }
            }
        }
    }
}

impl fmt::Display for BoundPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(Some(true)) => f.write_str("TRUE"),
            Self::Constant(Some(false)) => f.write_str("FALSE"),
            Self::Constant(None) => f.write_str("NULL"),
            Self::Column(path) => column(path).fmt(f),
            Self::IsNull(path) => write!(f, "{} IS NULL", column(path)),
            Self::StartsWith(path, prefix) => write!(f, "startswith({}, '{prefix}')", column(path)),
            Self::Compare { op, left, right, .. } => write!(f, "{left} {op} {right}"),
            Self::And(parts) => joined(f, parts, " AND "),
            Self::Or(parts) => joined(f, parts, " OR "),
            Self::Not(inner) => write!(f, "NOT {inner}"),
        }
    }
}

fn joined(f: &mut fmt::Formatter<'_>, parts: &[BoundPredicate], word: &str) -> fmt::Result {
    f.write_str("(")?;
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(word)?;
        }
        write!(f, "{part}")?;
    }
    f.write_str(")")
}
