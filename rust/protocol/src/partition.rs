//! Partition values and partition folders.
//!
//! Protocol: *Partition Value Serialization*, *Data Files*. Values are read from the log; folders are
//! only a convention.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, BooleanArray, MapArray, NullArray, cast::AsArray};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::expr::Scalar;
use crate::schema::{DataType, DeclaredLength, DeclaredType, PrimitiveType, StructField};
use crate::{Error, ErrorKind, Result};

/// The folder name of NULL.
pub const HIVE_NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Whether text in the log means NULL: the empty string does for every type, and readers also accept the
/// folder name of NULL.
fn is_null_text(text: &str) -> bool {
    text.is_empty() || text == HIVE_NULL
}

/// Parses a value in the log; `Ok(None)` is NULL, `Err` is text that is not a valid value of the type of
/// the column. Text of `char(n)` is padded, as all that is read.
pub fn parse_value(column: &StructField, text: Option<&str>) -> Result<Option<Scalar>> {
    let Some(text) = text.filter(|text| !is_null_text(text)) else {
        return Ok(None);
    };
    let data_type = primitive(column)?;
    match Scalar::parse(text, data_type) {
        Some(Scalar::String(text)) => Ok(Some(Scalar::String(match length(column) {
            Some(length) => length.padded(&text).into_owned(),
            None => text,
        }))),
        Some(scalar) => Ok(Some(scalar)),
        None => Err(Error::new(
            ErrorKind::CorruptLog,
            format!("the partition value {text:?} is not a {data_type}"),
        )
        .with("field", column.name.as_str())
        .hint("the action that added the file is damaged: restore its commit from a backup")),
    }
}

/// The declared length of a string column.
fn length(column: &StructField) -> Option<DeclaredLength> {
    match column.declared_lengths() {
        Some(DeclaredType::Length(length)) => Some(length),
        _ => None,
    }
}

fn primitive(column: &StructField) -> Result<PrimitiveType> {
    match column.data_type {
        DataType::Primitive(primitive) => Ok(primitive),
        _ => Err(Error::new(
            ErrorKind::CorruptLog,
            format!("the partition column is a {}", column.data_type),
        )
        .with("field", column.name.as_str())),
    }
}

/// Calls `take` with the text of one partition column for each file; `None` if the value is null or
/// missing.
fn for_each_text<'a>(partition_values: &'a MapArray, column: &str, mut take: impl FnMut(Option<&'a str>)) {
    let keys = partition_values.keys().as_string::<i32>();
    let values = partition_values.values().as_string::<i32>();
    // Writers use the same order of columns in every file, so the previous position is the best guess.
    let mut guess = 0usize;
    for Range { start, end } in entries_of_rows(partition_values) {
        let hit = (start + guess < end && keys.value(start + guess) == column)
            .then_some(start + guess)
            .or_else(|| (start..end).find(|entry| keys.value(*entry) == column));
        match hit {
            Some(entry) => {
                guess = entry - start;
                take(values.is_valid(entry).then(|| values.value(entry)));
            }
            None => take(None),
        }
    }
}

/// The range of the entries of each row.
fn entries_of_rows(map: &MapArray) -> impl Iterator<Item = Range<usize>> {
    let place = |offset: &i32| usize::try_from(*offset).unwrap_or(0);
    map.value_offsets().windows(2).map(move |window| match window {
        [start, end] => place(start)..place(end),
        _ => 0..0,
    })
}

/// The files with a missing or invalid value of a partition column.
#[must_use]
pub fn unreadable_texts(column: &StructField, partition_values: &MapArray) -> BooleanArray {
    let keys = partition_values.keys().as_string::<i32>();
    let values = partition_values.values().as_string::<i32>();
    // A table has far more files than partitions, so each text is validated once, unless they are all
    // different.
    let mut known: HashMap<&str, bool> = HashMap::new();
    let mut unreadable = Vec::with_capacity(partition_values.len());
    for Range { start, end } in entries_of_rows(partition_values) {
        let entry = (start..end).find(|entry| keys.value(*entry) == column.name);
        unreadable.push(match entry {
            None => true,
            Some(entry) if values.is_null(entry) => false,
            Some(entry) => {
                let text = values.value(entry);
                match known.get(text) {
                    Some(known) => *known,
                    None => {
                        let checked = parse_value(column, Some(text)).is_err();
                        if known.len() < 4096 {
                            known.insert(text, checked);
                        }
                        checked
                    }
                }
            }
        });
    }
    BooleanArray::from(unreadable)
}

/// The partition columns of one file and their text or null.
#[must_use]
pub fn values_of_row(partition_values: &MapArray, row: usize) -> BTreeMap<String, Option<String>> {
    let entries = partition_values.value(row);
    let (keys, values) = (
        entries.column(0).as_string::<i32>(),
        entries.column(1).as_string::<i32>(),
    );
    (0..entries.len())
        .map(|entry| {
            let value = values.is_valid(entry).then(|| values.value(entry).to_owned());
            (keys.value(entry).to_owned(), value)
        })
        .collect()
}

/// Parses one partition value of a file. A missing partition column is an error.
pub fn value_of(column: &StructField, values: &BTreeMap<String, Option<String>>) -> Result<Option<Scalar>> {
    match values.get(&column.name) {
        Some(text) => parse_value(column, text.as_deref()),
        None => Err(Error::new(
            ErrorKind::CorruptLog,
            format!("the file has no value for the partition column {:?}", column.name),
        )
        .with("field", column.name.as_str())
        .hint("the action that added the file is damaged: restore its commit from a backup")),
    }
}

/// Parses a partition column of every file. Invalid text becomes NULL, so that `files()` still lists the
/// file; a scan that reads such a file fails (see [`parse_value`]).
pub fn parse_texts(column: &StructField, partition_values: &MapArray) -> Result<ArrayRef> {
    let data_type = primitive(column)?;
    macro_rules! numbers {
        ($arrow:ty, $variant:ident) => {{
            collect::<$arrow>(partition_values, column, data_type, |scalar| match scalar {
                Scalar::$variant(value) => Some(value),
                _ => None,
            })?
        }};
    }
    Ok(match data_type {
        PrimitiveType::Byte => numbers!(Int8Type, Byte),
        PrimitiveType::Short => numbers!(Int16Type, Short),
        PrimitiveType::Integer => numbers!(Int32Type, Integer),
        PrimitiveType::Long => numbers!(Int64Type, Long),
        PrimitiveType::Float => numbers!(Float32Type, Float),
        PrimitiveType::Double => numbers!(Float64Type, Double),
        PrimitiveType::Date => numbers!(Date32Type, Date),
        PrimitiveType::Timestamp => numbers!(TimestampMicrosecondType, Timestamp),
        PrimitiveType::TimestampNtz => numbers!(TimestampMicrosecondType, TimestampNtz),
        PrimitiveType::Decimal { .. } => {
            collect::<Decimal128Type>(partition_values, column, data_type, |scalar| match scalar {
                Scalar::Decimal { unscaled, .. } => Some(unscaled),
                _ => None,
            })?
        }
        PrimitiveType::String => {
            let mut builder = StringBuilder::new();
            let length = length(column);
            for_each_text(partition_values, &column.name, |text| {
                let text = text.filter(|text| !is_null_text(text));
                match (text, length) {
                    (Some(text), Some(length)) => builder.append_value(length.padded(text)),
                    (text, _) => builder.append_option(text),
                }
            });
            Arc::new(builder.finish())
        }
        PrimitiveType::Binary => {
            let mut builder = BinaryBuilder::new();
            for_each_text(partition_values, &column.name, |text| {
                builder.append_option(text.filter(|text| !is_null_text(text)).map(str::as_bytes));
            });
            Arc::new(builder.finish())
        }
        PrimitiveType::Boolean => {
            let mut builder = BooleanBuilder::new();
            for_each_text(partition_values, &column.name, |text| {
                builder.append_option(match scalar(text, data_type) {
                    Some(Scalar::Boolean(value)) => Some(value),
                    _ => None,
                });
            });
            Arc::new(builder.finish())
        }
        PrimitiveType::Void | PrimitiveType::Variant => Arc::new(NullArray::new(partition_values.len())),
    })
}

fn scalar(text: Option<&str>, data_type: PrimitiveType) -> Option<Scalar> {
    text.filter(|text| !is_null_text(text))
        .and_then(|text| Scalar::parse(text, data_type))
}

fn collect<T: ArrowPrimitiveType>(
    partition_values: &MapArray,
    column: &StructField,
    data_type: PrimitiveType,
    pick: fn(Scalar) -> Option<T::Native>,
) -> Result<ArrayRef> {
    let mut builder =
        PrimitiveBuilder::<T>::with_capacity(partition_values.len()).with_data_type(data_type.to_arrow()?);
    // A table has far more files than partitions, so each text is parsed once, unless they are all
    // different.
    let mut known: HashMap<&str, Option<T::Native>> = HashMap::new();
    for_each_text(partition_values, &column.name, |text| {
        let value = text.and_then(|text| match known.get(text) {
            Some(value) => *value,
            None => {
                let value = scalar(Some(text), data_type).and_then(pick);
                if known.len() < 4096 {
                    known.insert(text, value);
                }
                value
            }
        });
        builder.append_option(value);
    });
    Ok(Arc::new(builder.finish()))
}

/// Characters that Hive and Spark escape in the name of a partition folder.
const HIVE_ESCAPED: &AsciiSet = &CONTROLS
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'\'')
    .add(b'*')
    .add(b'/')
    .add(b':')
    .add(b'=')
    .add(b'?')
    .add(b'\\')
    .add(b'{')
    .add(b'[')
    .add(b']')
    .add(b'^');

/// Maximum length of a folder name in bytes on common file systems.
const MAX_NAME_BYTES: usize = 255;

/// Maximum length of a partition folder in bytes: object stores allow keys of 1,024 bytes, which also
/// contain the root of the table and the name of the file.
const MAX_FOLDER_BYTES: usize = 768;

/// The folder of a partition, `a=1/b=x`, as stored; empty for an unpartitioned table. If it may be too
/// long for a store, the folder is named after its hash: values are read from the log, never from
/// folders.
///
/// ```
/// use deltaic_protocol::partition::folder;
/// assert_eq!(folder([("a", Some("1")), ("b", Some("x"))]), "a=1/b=x");
/// let long = folder([("a", Some("1")), ("b", Some("x".repeat(254).as_str()))]);
/// assert!(long.starts_with("partition-") && !long.contains(['=', '/']));
/// ```
#[must_use]
pub fn folder<'a>(values: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> String {
    let spelled = spelled_folder(values);
    let is_short = |name: &str| name.len() <= MAX_NAME_BYTES;
    if spelled.len() <= MAX_FOLDER_BYTES && spelled.split('/').all(is_short) {
        return spelled;
    }
    // Two partitions with the same hash share a folder, which is harmless: the names of data files are unique.
    let mut hasher = DefaultHasher::new();
    spelled.hash(&mut hasher);
    format!("partition-{:016x}", hasher.finish())
}

fn spelled_folder<'a>(values: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> String {
    values
        .into_iter()
        .map(|(name, value)| {
            let escaped = |text: &str| hive_escape(text);
            format!(
                "{}={}",
                escaped(name),
                value.map_or_else(|| HIVE_NULL.to_owned(), escaped)
            )
        })
        .collect::<Vec<_>>()
        .join("/")
}

fn hive_escape(text: &str) -> String {
    // Non-ASCII text is not escaped in a folder name; the percent-encoder would escape it.
    let mut escaped = String::with_capacity(text.len());
    for part in text.split_inclusive(|c: char| !c.is_ascii()) {
        let ascii_end = part
            .char_indices()
            .last()
            .filter(|(_, c)| !c.is_ascii())
            .map_or(part.len(), |(at, _)| at);
        let (ascii, rest) = part.split_at(ascii_end);
        escaped.extend(utf8_percent_encode(ascii, HIVE_ESCAPED));
        escaped.push_str(rest);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::MapBuilder;

    use super::*;
    use crate::path_encoding::encode_path;

    #[test]
    fn folders_are_escaped_as_spark_escapes_them() {
        assert_eq!(folder([("s", Some("a/b c%ü"))]), "s=a%2Fb c%25ü");
        assert_eq!(
            folder([("a", None), ("b", Some("2021-03-04 05:06:07"))]),
            format!("a={HIVE_NULL}/b=2021-03-04 05%3A06%3A07")
        );
        assert_eq!(encode_path(&folder([("s", Some("a/b"))])), "s=a%252Fb");
    }

    /// The limit counts stored bytes: `%` is escaped to three, `ü` has two.
    #[test]
    fn folders_fit_into_every_file_system() {
        let one = |value: &str| folder([("p", Some(value))]);
        for (value, count, is_spelled) in [
            ("x", 253, true),
            ("x", 254, false),
            ("ü", 126, true),
            ("ü", 127, false),
            ("%", 84, true),
            ("%", 85, false),
        ] {
            let value = value.repeat(count);
            assert_eq!(one(&value).starts_with("p="), is_spelled, "{value}");
        }
        let value = "x".repeat(200);
        let many = |count: usize| {
            let names: Vec<String> = (0..count).map(|number| number.to_string()).collect();
            folder(names.iter().map(|name| (name.as_str(), Some(value.as_str()))))
        };
        assert!(many(3).starts_with("0=x"));
        assert!(many(4).len() <= MAX_NAME_BYTES && !many(4).contains(['=', '/']));
        assert_ne!(many(4), many(5));
        assert_eq!(one(&"x".repeat(999)), one(&"x".repeat(999)));
    }

    /// The values of the column `p` of some files, as recorded in the log.
    fn logged(texts: &[Option<&str>]) -> Result<MapArray> {
        let mut builder = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
        for text in texts {
            builder.keys().append_value("p");
            builder.values().append_option(*text);
            let appended = builder.append(true);
            appended.map_err(|error| Error::new(ErrorKind::CorruptLog, error.to_string()))?;
        }
        Ok(builder.finish())
    }

    /// protocol: partition-value-serialization.1
    #[test]
    fn empty_text_is_null_for_every_type() -> Result<()> {
        for data_type in [
            PrimitiveType::String,
            PrimitiveType::Long,
            PrimitiveType::Binary,
            PrimitiveType::Date,
        ] {
            let column = StructField::new("p", data_type.into(), true);
            assert_eq!(parse_value(&column, Some(""))?, None);
            assert_eq!(parse_value(&column, None)?, None);
            let array = parse_texts(&column, &logged(&[Some(""), None, Some("1970-01-01")])?)?;
            assert_eq!((array.is_null(0), array.is_null(1)), (true, true));
        }
        Ok(())
    }

    #[test]
    fn text_that_is_not_a_value_is_an_error_for_a_scan_and_null_in_a_list() -> Result<()> {
        let column = StructField::new("p", PrimitiveType::Integer.into(), true);
        assert!(parse_value(&column, Some("x")).is_err());
        let array = parse_texts(&column, &logged(&[Some("7"), Some("x"), Some("x")])?)?;
        assert_eq!(
            array.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(),
            [Some(7), None, None]
        );
        Ok(())
    }
}
