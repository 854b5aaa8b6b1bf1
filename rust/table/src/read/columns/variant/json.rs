//! Converts variants to text: JSON as Spark's `to_json` writes it, and a comparable form.

use std::fmt::{self, Write};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, StructArray};
use arrow_schema::{ArrowError, DataType as ArrowType};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, NaiveDateTime, NaiveTime, Timelike, Utc};
use deltaic_protocol::Result;
use deltaic_protocol::schema::{DataType, PrimitiveType, arrow_type_name};
use parquet_variant::Variant;

use super::damaged::{damaged, reported};
use crate::scan::VariantAs;

/// Converts every variant in a column to text; a column without variants is unchanged.
pub(crate) fn to_json(array: &ArrayRef, data_type: &DataType, path: &str) -> Result<ArrayRef> {
    let target = VariantAs::Json.of_type(data_type);
    if target == *data_type {
        return Ok(Arc::clone(array));
    }
    let failed = |error: ArrowError| damaged(path, reported(&error));
    let odd = || damaged(path, format!("it came as {}", arrow_type_name(array.data_type())));
    Ok(match (data_type, target.to_arrow()?) {
        (DataType::Primitive(PrimitiveType::Variant), _) => {
            texts(array.as_struct_opt().ok_or_else(odd)?, write_json).map_err(failed)?
        }
        (DataType::Struct(fields), ArrowType::Struct(arrow)) => {
            let rows = array.as_struct_opt().ok_or_else(odd)?;
            let parts = fields.fields.iter().zip(rows.columns());
            let parts =
                parts.map(|(field, part)| to_json(part, &field.data_type, &format!("{path}.{}", field.name)));
            let parts = parts.collect::<Result<Vec<_>>>()?;
            Arc::new(StructArray::try_new(arrow, parts, rows.nulls().cloned()).map_err(failed)?)
        }
        (DataType::Array(of), ArrowType::List(element)) => {
            let list = array.as_list_opt::<i32>().ok_or_else(odd)?;
            let values = to_json(list.values(), &of.element_type, &format!("{path}.element"))?;
            let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
            Arc::new(ListArray::try_new(element, offsets, values, nulls).map_err(failed)?)
        }
        (DataType::Map(of), ArrowType::Map(entries, sorted)) => {
            let map = array.as_map_opt().ok_or_else(odd)?;
            let ArrowType::Struct(names) = entries.data_type() else {
                return Err(odd());
            };
            let keys = to_json(map.keys(), &of.key_type, &format!("{path}.key"))?;
            let values = to_json(map.values(), &of.value_type, &format!("{path}.value"))?;
            let pairs = StructArray::try_new(names.clone(), vec![keys, values], None).map_err(failed)?;
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            Arc::new(MapArray::try_new(entries, offsets, pairs, nulls, sorted).map_err(failed)?)
        }
        _ => return Err(odd()),
    })
}

/// Converts variants to texts that are equal exactly if the variants are, however encoded: integers and decimals of any
/// width are the same kind of number, and a date differs from a string.
pub(crate) fn comparable_variants(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.as_struct_opt() {
        Some(rows) => texts(rows, write_comparable),
        None => Err(ArrowError::InvalidArgumentError("it is not a variant".to_owned())),
    }
}

fn texts(
    rows: &StructArray,
    write: fn(&mut String, &Variant<'_, '_>) -> fmt::Result,
) -> Result<ArrayRef, ArrowError> {
    let (Some(metadata), Some(values)) = (rows.column_by_name("metadata"), rows.column_by_name("value"))
    else {
        return Err(ArrowError::InvalidArgumentError(
            "it has no metadata or no value".to_owned(),
        ));
    };
    let (metadata, values) = (metadata.as_binary::<i32>(), values.as_binary::<i32>());
    let mut texts = StringBuilder::with_capacity(rows.len(), values.value_data().len());
    let mut text = String::new();
    for row in 0..rows.len() {
        if rows.is_null(row) {
            texts.append_null();
            continue;
        }
        let variant = Variant::try_new(metadata.value(row), values.value(row))?;
        text.clear();
        // Writing to a String cannot fail.
        let _ = write(&mut text, &variant);
        texts.append_value(&text);
    }
    Ok(Arc::new(texts.finish()))
}

fn write_json(out: &mut String, variant: &Variant<'_, '_>) -> fmt::Result {
    write_value(out, variant, false)
}

fn write_comparable(out: &mut String, variant: &Variant<'_, '_>) -> fmt::Result {
    write_value(out, variant, true)
}

/// Returns a letter for each type that JSON does not have.
fn type_of(variant: &Variant<'_, '_>) -> Option<char> {
    Some(match variant {
        Variant::Float(_) => 'f',
        Variant::Double(_) => 'd',
        Variant::Date(_) => 'D',
        Variant::Time(_) => 'T',
        Variant::TimestampMicros(_) | Variant::TimestampNanos(_) => 'Z',
        Variant::TimestampNtzMicros(_) | Variant::TimestampNtzNanos(_) => 'N',
        Variant::Binary(_) => 'B',
        Variant::Uuid(_) => 'U',
        _ => return None,
    })
}

/// Variants were validated, so the nesting depth is limited.
fn write_value(out: &mut String, variant: &Variant<'_, '_>, tells_types: bool) -> fmt::Result {
    if tells_types && let Some(letter) = type_of(variant) {
        out.write_char(letter)?;
    }
    match variant {
        Variant::Null => out.write_str("null"),
        Variant::BooleanTrue => out.write_str("true"),
        Variant::BooleanFalse => out.write_str("false"),
        Variant::Int8(number) => write!(out, "{number}"),
        Variant::Int16(number) => write!(out, "{number}"),
        Variant::Int32(number) => write!(out, "{number}"),
        Variant::Int64(number) => write!(out, "{number}"),
        Variant::Float(number) if !number.is_finite() => write_odd(out, f64::from(*number)),
        Variant::Float(number) => {
            let two = format!("{number:.1e}");
            let is_it = two.parse() == Ok(*number);
            write_float(out, &if is_it { two } else { format!("{number:e}") })
        }
        Variant::Double(number) if !number.is_finite() => write_odd(out, *number),
        Variant::Double(number) => {
            let two = format!("{number:.1e}");
            let is_it = two.parse() == Ok(*number);
            write_float(out, &if is_it { two } else { format!("{number:e}") })
        }
        // These omit trailing zeros.
        Variant::Decimal4(number) => write!(out, "{number}"),
        Variant::Decimal8(number) => write!(out, "{number}"),
        Variant::Decimal16(number) => write!(out, "{number}"),
        Variant::Date(date) => write!(out, "\"{date:?}\""),
        Variant::Time(time) => {
            out.write_char('"')?;
            write_time(out, *time)?;
            out.write_char('"')
        }
        Variant::TimestampMicros(moment) | Variant::TimestampNanos(moment) => write_instant(out, moment),
        Variant::TimestampNtzMicros(moment) | Variant::TimestampNtzNanos(moment) => {
            out.write_char('"')?;
            write_moment(out, *moment)?;
            out.write_char('"')
        }
        Variant::Binary(bytes) => write!(out, "\"{}\"", STANDARD.encode(bytes)),
        Variant::Uuid(uuid) => write!(out, "\"{uuid}\""),
        Variant::String(text) => write_text(out, text),
        Variant::ShortString(text) => write_text(out, text.as_str()),
        Variant::Object(object) => {
            out.write_char('{')?;
            for (index, (name, value)) in object.iter().enumerate() {
                if index > 0 {
                    out.write_char(',')?;
                }
                write_text(out, name)?;
                out.write_char(':')?;
                write_value(out, &value, tells_types)?;
            }
            out.write_char('}')
        }
        Variant::List(list) => {
            out.write_char('[')?;
            for (index, value) in list.iter().enumerate() {
                if index > 0 {
                    out.write_char(',')?;
                }
                write_value(out, &value, tells_types)?;
            }
            out.write_char(']')
        }
    }
}

/// JSON has no such number, so it is a string, as in Spark's `to_json` of a double.
fn write_odd(out: &mut String, number: f64) -> fmt::Result {
    out.write_str(if number.is_nan() {
        "\"NaN\""
    } else if number > 0.0 {
        "\"Infinity\""
    } else {
        "\"-Infinity\""
    })
}

/// Writes a number as Java does, from its digits and exponent: always with a decimal point, with an exponent below 10⁻³
/// and from 10⁷. The digits are the fewest that identify the number, but at least two, which matters only for the
/// smallest numbers.
fn write_float(out: &mut String, scientific: &str) -> fmt::Result {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(positive) => ("-", positive),
        None => ("", mantissa),
    };
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let rest = rest.trim_end_matches('0');
    out.write_str(sign)?;
    let or_zero = |digits: String| if digits.is_empty() { "0".to_owned() } else { digits };
    match exponent {
        -3..=-1 => {
            let zeros = usize::try_from(-1 - exponent).unwrap_or(0);
            write!(out, "0.{}{first}{rest}", "0".repeat(zeros))
        }
        0..=6 => {
            let places = usize::try_from(exponent).unwrap_or(0);
            let whole: String = rest.chars().chain(std::iter::repeat('0')).take(places).collect();
            let part: String = rest.chars().skip(places).collect();
            write!(out, "{first}{whole}.{}", or_zero(part))
        }
        _ => write!(out, "{first}.{}E{exponent}", or_zero(rest.to_owned())),
    }
}

fn write_instant(out: &mut String, moment: &DateTime<Utc>) -> fmt::Result {
    out.write_char('"')?;
    write_moment(out, moment.naive_utc())?;
    out.write_str("+00:00\"")
}

fn write_moment(out: &mut String, moment: NaiveDateTime) -> fmt::Result {
    write!(out, "{:?} ", moment.date())?;
    write_time(out, moment.time())
}

/// Writes fractional seconds without trailing zeros.
fn write_time(out: &mut String, time: NaiveTime) -> fmt::Result {
    write!(
        out,
        "{:02}:{:02}:{:02}",
        time.hour(),
        time.minute(),
        time.second()
    )?;
    match time.nanosecond() {
        0 => Ok(()),
        nanos => write!(out, ".{}", format!("{nanos:09}").trim_end_matches('0')),
    }
}

fn write_text(out: &mut String, text: &str) -> fmt::Result {
    out.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\u{8}' => out.write_str("\\b")?,
            '\t' => out.write_str("\\t")?,
            '\n' => out.write_str("\\n")?,
            '\u{c}' => out.write_str("\\f")?,
            '\r' => out.write_str("\\r")?,
            control if control < ' ' => write!(out, "\\u{:04X}", u32::from(control))?,
            other => out.write_char(other)?,
        }
    }
    out.write_char('"')
}
