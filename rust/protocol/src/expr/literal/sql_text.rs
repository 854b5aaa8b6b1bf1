//! Values as SQL literals.

use std::fmt::{self, Display, Formatter};

use super::Scalar;
use super::decimal_text::format_decimal;
use crate::expr::time::spellings::{format_days, format_micros};

/// A quoted string with escapes.
pub(in crate::expr) struct Quoted<'a>(pub(in crate::expr) &'a str);

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
pub(in crate::expr) fn write_scalar(f: &mut Formatter<'_>, scalar: &Scalar, typed: bool) -> fmt::Result {
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

/// The literal of a condition's result.
pub(in crate::expr) fn truth_value(value: Option<bool>) -> &'static str {
    match value {
        Some(true) => "TRUE",
        Some(false) => "FALSE",
        None => "NULL",
    }
}

/// Writes parts in parentheses with a text between them.
pub(in crate::expr) fn joined<T: Display>(f: &mut Formatter<'_>, parts: &[T], between: &str) -> fmt::Result {
    f.write_str("(")?;
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(between)?;
        }
        write!(f, "{part}")?;
    }
    f.write_str(")")
}
