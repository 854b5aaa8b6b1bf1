//! Displays predicates as text that can be parsed to equal predicates.

use std::fmt::{self, Display, Formatter};

use super::function::Function;
use super::moments::{format_days, format_micros};
use super::predicate::{Arithmetic, Expr, ExprKind, Interval, TextTest};
use super::scalar::format_decimal;
use super::{BoundPredicate, Comparison, Operand, Predicate, Scalar};
use crate::schema::{InExpression, PrimitiveType};

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
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

/// A quoted string with escapes.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(self.0.len() + 2);
        text.push('\'');
        for c in self.0.chars() {
            match c {
                '\\' | '\'' => text.extend(['\\', c]),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                c if c.is_control() => text.push_str(&format!("\\u{:04X}", u32::from(c))),
                c => text.push(c),
            }
        }
        text.push('\'');
        f.write_str(&text)
    }
}

/// A value as a literal of its type. An integer compared with a column needs no type; `typed` adds it.
fn write_scalar(f: &mut Formatter<'_>, scalar: &Scalar, typed: bool) -> fmt::Result {
    let suffix = |suffix| if typed { suffix } else { "" };
    match scalar {
        Scalar::Boolean(true) => f.write_str("TRUE"),
        Scalar::Boolean(false) => f.write_str("FALSE"),
        Scalar::Byte(value) => write!(f, "{value}{}", suffix("Y")),
        Scalar::Short(value) => write!(f, "{value}{}", suffix("S")),
        Scalar::Integer(value) => write!(f, "{value}"),
        Scalar::Long(value) => write!(f, "{value}{}", suffix("L")),
        Scalar::Float(value) if value.is_finite() => write!(f, "{value:?}F"),
        Scalar::Double(value) if value.is_finite() => write!(f, "{value:?}D"),
        Scalar::Float(value) => write!(f, "CAST('{}' AS FLOAT)", not_finite(f64::from(*value))),
        Scalar::Double(value) => write!(f, "CAST('{}' AS DOUBLE)", not_finite(*value)),
        Scalar::Decimal { unscaled, scale, .. } => write!(f, "{}BD", format_decimal(*unscaled, *scale)),
        Scalar::String(text) => Quoted(text).fmt(f),
        Scalar::Binary(bytes) => {
            f.write_str("X'")?;
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
            f.write_str("'")
        }
        Scalar::Date(days) => write!(f, "DATE '{}'", format_days(i64::from(*days))),
        Scalar::Timestamp(micros) => write!(f, "TIMESTAMP '{}Z'", format_micros(*micros, 'T')),
        Scalar::TimestampNtz(micros) => write!(f, "TIMESTAMP_NTZ '{}'", format_micros(*micros, ' ')),
    }
}

fn not_finite(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(path) => InExpression(path).fmt(f),
            Self::Scalar(scalar) => write_scalar(f, scalar, false),
        }
    }
}

fn constant(value: Option<bool>) -> &'static str {
    match value {
        Some(true) => "TRUE",
        Some(false) => "FALSE",
        None => "NULL",
    }
}

impl Display for BoundPredicate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => f.write_str(constant(*value)),
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
                let truth = truth.map_or("UNKNOWN", |truth| constant(Some(truth)));
                write!(f, "({inner}) IS {truth}")
            }
            Self::And(parts) => joined(f, parts, " AND "),
            Self::Or(parts) => joined(f, parts, " OR "),
            Self::Not(inner) => write!(f, "NOT {inner}"),
            Self::Computed(computed) => Display::fmt(computed, f),
        }
    }
}

fn joined<T: Display>(f: &mut Formatter<'_>, parts: &[T], between: &str) -> fmt::Result {
    f.write_str("(")?;
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(between)?;
        }
        write!(f, "{part}")?;
    }
    f.write_str(")")
}

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
                let truth = truth.map_or("UNKNOWN", |truth| constant(Some(truth)));
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
            ExprKind::Call(Function::ExactSecond, arguments) => {
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

impl Display for TextTest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StartsWith => "startswith",
            Self::EndsWith => "endswith",
            Self::Contains => "contains",
        })
    }
}

impl Display for Arithmetic {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::WholeQuotient => "DIV",
        })
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
