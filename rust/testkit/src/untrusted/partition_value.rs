//! Arbitrary strings as a partition value of any type: a parsed value serializes to a string that parses to the same
//! value.

use std::sync::Arc;

use arrow_array::builder::{MapBuilder, StringBuilder};
use arrow_array::{Array, ArrayRef, MapArray};
use deltaic_protocol::ErrorKind;
use deltaic_protocol::expr::Scalar;
use deltaic_protocol::partition::{folder, parse_texts, parse_value, unreadable_texts};
use deltaic_protocol::path_encoding::{decode_path, encode_path};
use deltaic_protocol::schema::{PrimitiveType, StructField};

use super::memory::{Bound, bounded};

/// A value is copied once or twice; the columns have an initial capacity.
const BOUND: Bound = Bound {
    per_byte: 64,
    spare: 64 * 1024,
};

const TYPES: [PrimitiveType; 14] = [
    PrimitiveType::String,
    PrimitiveType::Long,
    PrimitiveType::Integer,
    PrimitiveType::Short,
    PrimitiveType::Byte,
    PrimitiveType::Float,
    PrimitiveType::Double,
    PrimitiveType::Boolean,
    PrimitiveType::Binary,
    PrimitiveType::Date,
    PrimitiveType::Timestamp,
    PrimitiveType::TimestampNtz,
    PrimitiveType::Void,
    PrimitiveType::Variant,
];

/// The first byte selects the type; values after `z` the scale of a decimal. The rest is the string.
fn chosen(bytes: &[u8]) -> Option<(PrimitiveType, &str)> {
    let (first, rest) = bytes.split_first()?;
    let text = std::str::from_utf8(rest).ok()?;
    let number = usize::from(*first);
    // Letters are the primitive types, so that seeds are readable; everything from 128 on is a decimal.
    let data_type = match number.checked_sub(128) {
        None => *TYPES.get((number % 32) % TYPES.len())?,
        Some(decimal) => {
            let precision = u8::try_from(decimal % 38 + 1).ok()?;
            let scale = u8::try_from(decimal / 38 * 12).ok()?.min(precision);
            PrimitiveType::Decimal { precision, scale }
        }
    };
    Some((data_type, text))
}

pub(super) fn check_invariants(bytes: &[u8]) {
    let Some((data_type, text)) = chosen(bytes) else {
        return;
    };
    let column = StructField::new("p", data_type.into(), true);
    let parsed = bounded(BOUND, bytes.len(), || parse_value(&column, Some(text)));
    // A column has the same values as single parsing, except that an invalid value is NULL there.
    let Some(logged) = logged(text) else {
        panic!("one row must give one map");
    };
    let read = bounded(BOUND, bytes.len(), || parse_texts(&column, &logged));
    let unreadable = unreadable_texts(&column, &logged).value(0);
    let expected: ArrayRef =
        Scalar::to_array(parsed.as_ref().ok().and_then(|value| value.as_ref()), data_type);
    assert_eq!(read.ok(), Some(Arc::clone(&expected)), "{text:?} as {data_type}");
    match parsed {
        Ok(value) => {
            assert!(!unreadable);
            if let Some(value) = value {
                round_trip(&column, &value, text);
            }
        }
        Err(error) => {
            assert!(unreadable && expected.logical_null_count() == 1);
            assert_eq!(error.kind(), ErrorKind::CorruptLog);
        }
    }
    // For every string, the partition folder is one path segment that survives the log.
    let named = folder([("p", Some(text))]);
    assert!(!named.contains('/'), "{named}");
    assert_eq!(decode_path(&encode_path(&named)).ok().as_ref(), Some(&named));
}

fn round_trip(column: &StructField, value: &Scalar, text: &str) {
    let Some(written) = value.to_partition_text() else {
        panic!("{text:?} was read as {value:?}, which cannot be serialized");
    };
    let again = parse_value(column, Some(&written));
    let same = match (value, &again) {
        // NaN does not equal itself, and its sign is ignored.
        (Scalar::Float(value), Ok(Some(Scalar::Float(again)))) if value.is_nan() => again.is_nan(),
        (Scalar::Double(value), Ok(Some(Scalar::Double(again)))) if value.is_nan() => again.is_nan(),
        (Scalar::Float(value), Ok(Some(Scalar::Float(again)))) => value.to_bits() == again.to_bits(),
        (Scalar::Double(value), Ok(Some(Scalar::Double(again)))) => value.to_bits() == again.to_bits(),
        (value, Ok(Some(again))) => value == again,
        _ => false,
    };
    assert!(
        same,
        "{text:?} is {value:?}, serialized as {written:?}, which is {again:?}"
    );
}

/// The partition values of one file.
fn logged(text: &str) -> Option<MapArray> {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    builder.keys().append_value("p");
    builder.values().append_value(text);
    builder.append(true).ok()?;
    Some(builder.finish())
}
