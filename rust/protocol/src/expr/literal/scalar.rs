//! Typed values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, NullArray, StringArray, TimestampMicrosecondArray,
};

use super::decimal_text::{format_decimal, parse_decimal};
use crate::expr::time;
use crate::schema::PrimitiveType;

/// A value of a primitive type. NULL is represented by `None`.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// `boolean`
    Boolean(bool),
    /// `byte`
    Byte(i8),
    /// `short`
    Short(i16),
    /// `integer`
    Integer(i32),
    /// `long`
    Long(i64),
    /// `float`
    Float(f32),
    /// `double`
    Double(f64),
    /// `decimal`: the unscaled value and its scale.
    Decimal {
        /// The unscaled value.
        unscaled: i128,
        /// The precision.
        precision: u8,
        /// The scale.
        scale: u8,
    },
    /// `string`
    String(String),
    /// `binary`
    Binary(Vec<u8>),
    /// `date`: days since the epoch.
    Date(i32),
    /// `timestamp`: microseconds since the epoch.
    Timestamp(i64),
    /// `timestamp_ntz`: microseconds since the epoch.
    TimestampNtz(i64),
}

impl Scalar {
    /// Parses a value of a type, as spelled in partition values and string literals; `None` if it is
    /// invalid.
    ///
    /// Protocol: *Partition Value Serialization*.
    ///
    /// ```
    /// use deltaic_protocol::{expr::Scalar, schema::PrimitiveType};
    /// assert_eq!(Scalar::parse("7", PrimitiveType::Long), Some(Scalar::Long(7)));
    /// assert_eq!(Scalar::parse("seven", PrimitiveType::Long), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str, data_type: PrimitiveType) -> Option<Self> {
        let trimmed = text.trim();
        Some(match data_type {
            PrimitiveType::String => Self::String(text.to_owned()),
            PrimitiveType::Binary => Self::Binary(text.as_bytes().to_vec()),
            PrimitiveType::Boolean if trimmed.eq_ignore_ascii_case("true") => Self::Boolean(true),
            PrimitiveType::Boolean if trimmed.eq_ignore_ascii_case("false") => Self::Boolean(false),
            PrimitiveType::Byte => Self::Byte(trimmed.parse().ok()?),
            PrimitiveType::Short => Self::Short(trimmed.parse().ok()?),
            PrimitiveType::Integer => Self::Integer(trimmed.parse().ok()?),
            PrimitiveType::Long => Self::Long(trimmed.parse().ok()?),
            PrimitiveType::Float => Self::Float(trimmed.parse().ok()?),
            PrimitiveType::Double => Self::Double(trimmed.parse().ok()?),
            PrimitiveType::Date => Self::Date(time::parse_date(text)?),
            PrimitiveType::Timestamp => Self::Timestamp(time::parse_timestamp(text)?),
            PrimitiveType::TimestampNtz => Self::TimestampNtz(time::parse_timestamp_ntz(text)?),
            PrimitiveType::Decimal { precision, scale } => Self::Decimal {
                unscaled: parse_decimal(trimmed, precision, scale)?,
                precision,
                scale,
            },
            PrimitiveType::Boolean | PrimitiveType::Void | PrimitiveType::Variant => return None,
        })
    }

    /// Serializes a partition value; `None` for bytes that are not UTF-8 and timestamps out of range.
    ///
    /// Protocol: *Partition Value Serialization*.
    #[must_use]
    pub fn to_partition_text(&self) -> Option<String> {
        Some(match self {
            Self::Boolean(value) => value.to_string(),
            Self::Byte(value) => value.to_string(),
            Self::Short(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Long(value) => value.to_string(),
            Self::Float(value) if value.is_infinite() => infinity(*value > 0.0),
            Self::Float(value) => format!("{value:?}"),
            Self::Double(value) if value.is_infinite() => infinity(*value > 0.0),
            Self::Double(value) => format!("{value:?}"),
            Self::Decimal { unscaled, scale, .. } => format_decimal(*unscaled, *scale),
            Self::String(value) => value.clone(),
            Self::Binary(value) => String::from_utf8(value.clone()).ok()?,
            Self::Date(days) => time::format_date(*days)?,
            Self::Timestamp(micros) => time::format_timestamp(*micros, 'T')? + "Z",
            Self::TimestampNtz(micros) => time::format_timestamp(*micros, ' ')?,
        })
    }

    /// The type of the value.
    #[must_use]
    pub fn data_type(&self) -> PrimitiveType {
        match self {
            Self::Boolean(_) => PrimitiveType::Boolean,
            Self::Byte(_) => PrimitiveType::Byte,
            Self::Short(_) => PrimitiveType::Short,
            Self::Integer(_) => PrimitiveType::Integer,
            Self::Long(_) => PrimitiveType::Long,
            Self::Float(_) => PrimitiveType::Float,
            Self::Double(_) => PrimitiveType::Double,
            Self::Decimal { precision, scale, .. } => PrimitiveType::Decimal {
                precision: *precision,
                scale: *scale,
            },
            Self::String(_) => PrimitiveType::String,
            Self::Binary(_) => PrimitiveType::Binary,
            Self::Date(_) => PrimitiveType::Date,
            Self::Timestamp(_) => PrimitiveType::Timestamp,
            Self::TimestampNtz(_) => PrimitiveType::TimestampNtz,
        }
    }

    /// The value of a row of an array that has the Arrow type of `data_type`; `None` for NULL, and for other arrays.
    #[must_use]
    pub fn of_row(array: &ArrayRef, row: usize, data_type: PrimitiveType) -> Option<Self> {
        if row >= array.len() || array.is_null(row) {
            return None;
        }
        Some(match data_type {
            PrimitiveType::Boolean => Self::Boolean(array.as_boolean_opt()?.value(row)),
            PrimitiveType::Byte => Self::Byte(array.as_primitive_opt::<Int8Type>()?.value(row)),
            PrimitiveType::Short => Self::Short(array.as_primitive_opt::<Int16Type>()?.value(row)),
            PrimitiveType::Integer => Self::Integer(array.as_primitive_opt::<Int32Type>()?.value(row)),
            PrimitiveType::Long => Self::Long(array.as_primitive_opt::<Int64Type>()?.value(row)),
            PrimitiveType::Float => Self::Float(array.as_primitive_opt::<Float32Type>()?.value(row)),
            PrimitiveType::Double => Self::Double(array.as_primitive_opt::<Float64Type>()?.value(row)),
            PrimitiveType::String => Self::String(array.as_string_opt::<i32>()?.value(row).to_owned()),
            PrimitiveType::Binary => Self::Binary(array.as_binary_opt::<i32>()?.value(row).to_vec()),
            PrimitiveType::Date => Self::Date(array.as_primitive_opt::<Date32Type>()?.value(row)),
            PrimitiveType::Timestamp => {
                Self::Timestamp(array.as_primitive_opt::<TimestampMicrosecondType>()?.value(row))
            }
            PrimitiveType::TimestampNtz => {
                Self::TimestampNtz(array.as_primitive_opt::<TimestampMicrosecondType>()?.value(row))
            }
            PrimitiveType::Decimal { precision, scale } => Self::Decimal {
                unscaled: array.as_primitive_opt::<Decimal128Type>()?.value(row),
                precision,
                scale,
            },
            PrimitiveType::Void | PrimitiveType::Variant => return None,
        })
    }

    /// An Arrow array of one value, with the Arrow type of the type; `None` is NULL.
    #[must_use]
    pub fn to_array(value: Option<&Self>, data_type: PrimitiveType) -> ArrayRef {
        Self::to_column(&[value.cloned()], data_type)
    }

    /// An Arrow array of values, with the Arrow type of the type; values of other types are NULL.
    #[must_use]
    pub fn to_column(values: &[Option<Self>], data_type: PrimitiveType) -> ArrayRef {
        macro_rules! column {
            ($array:ty, $variant:ident) => {{
                let pick = |value: &Option<Self>| match value {
                    Some(Self::$variant(value)) => Some(value.clone()),
                    _ => None,
                };
                values.iter().map(pick).collect::<$array>()
            }};
        }
        match data_type {
            PrimitiveType::Boolean => Arc::new(column!(BooleanArray, Boolean)),
            PrimitiveType::Byte => Arc::new(column!(Int8Array, Byte)),
            PrimitiveType::Short => Arc::new(column!(Int16Array, Short)),
            PrimitiveType::Integer => Arc::new(column!(Int32Array, Integer)),
            PrimitiveType::Long => Arc::new(column!(Int64Array, Long)),
            PrimitiveType::Float => Arc::new(column!(Float32Array, Float)),
            PrimitiveType::Double => Arc::new(column!(Float64Array, Double)),
            PrimitiveType::String => Arc::new(column!(StringArray, String)),
            PrimitiveType::Binary => Arc::new(column!(BinaryArray, Binary)),
            PrimitiveType::Date => Arc::new(column!(Date32Array, Date)),
            PrimitiveType::TimestampNtz => Arc::new(column!(TimestampMicrosecondArray, TimestampNtz)),
            PrimitiveType::Timestamp => {
                Arc::new(column!(TimestampMicrosecondArray, Timestamp).with_timezone("UTC"))
            }
            PrimitiveType::Decimal { precision, scale } => {
                let pick = |value: &Option<Self>| match value {
                    Some(Self::Decimal { unscaled, .. }) => Some(*unscaled),
                    _ => None,
                };
                let arrow = arrow_schema::DataType::Decimal128(precision, i8::try_from(scale).unwrap_or(38));
                Arc::new(
                    values
                        .iter()
                        .map(pick)
                        .collect::<Decimal128Array>()
                        .with_data_type(arrow),
                )
            }
            PrimitiveType::Void | PrimitiveType::Variant => Arc::new(NullArray::new(values.len())),
        }
    }
}

fn infinity(positive: bool) -> String {
    if positive { "Infinity" } else { "-Infinity" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// protocol: partition-value-serialization.1
    #[test]
    fn values_survive_the_round_trip_through_text() {
        let values = [
            Scalar::Boolean(true),
            Scalar::Byte(-128),
            Scalar::Short(32767),
            Scalar::Integer(-1),
            Scalar::Long(i64::MIN),
            Scalar::Float(0.1),
            Scalar::Float(f32::INFINITY),
            Scalar::Double(-1e300),
            Scalar::Double(f64::NEG_INFINITY),
            Scalar::Double(-0.0),
            Scalar::Decimal {
                unscaled: -5,
                precision: 10,
                scale: 3,
            },
            Scalar::Decimal {
                unscaled: 99,
                precision: 2,
                scale: 0,
            },
            Scalar::String("ü é".to_owned()),
            Scalar::Binary(b"\x01\x02".to_vec()),
            Scalar::Date(18_690),
            Scalar::Timestamp(1_614_834_367_123_456),
            Scalar::TimestampNtz(-1),
        ];
        for value in values {
            let text = value.to_partition_text();
            assert_eq!(
                text.as_deref()
                    .and_then(|text| Scalar::parse(text, value.data_type())),
                Some(value),
                "{text:?}"
            );
        }
    }
}
