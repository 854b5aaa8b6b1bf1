//! Data files that an engine writes which knows Parquet, but not Delta: what it needs for those of a table, and what they
//! are in the log.
//!
//! Protocol: *Column Mapping*, *Per-file Statistics*.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::DataType as ArrowType;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use deltaic_protocol::column_mapping::{ColumnMappingMode, field_id, name_in_log, nested_ids};
use deltaic_protocol::properties::Codec;
use deltaic_protocol::schema::{ArrayType, DataType, MapType, PrimitiveType, StructField, StructType};
use deltaic_protocol::{Error, Result, TableConfiguration};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::file_contents::FileContents;
use super::leaf_bounds::{Leaf, LeafBounds, statistics_of};
use super::plan::WritePlan;
use super::write_task::TaskSettings;

/// Engines report bounds of text up to this length, in characters.
const MOST_PREFIX: usize = 100_000;

/// What an engine that knows Parquet needs to write data files of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParquetForm {
    /// The columns under their names in files, as JSON of a schema; field ids are the metadata `parquet.field.id`.
    pub columns: String,
    /// The codec by its name in Parquet, in lower case.
    pub codec: &'static str,
    /// Whether files have data pages of the second version.
    pub second_version: bool,
    /// The length of the random folder names of files; 0 for none.
    pub random_prefix: usize,
    /// The number of bytes of text that bounds need.
    pub text_bytes: usize,
}

impl ParquetForm {
    /// Returns the form; `None` if files of the table have more than rows of its columns as the engine computes them:
    /// partitions, generated identities, padded text, variants, ids below columns, or if NULL is excluded within columns.
    ///
    /// # Errors
    ///
    /// Those of planning a write to the table.
    pub(crate) fn of(table: &TableConfiguration, settings: &TaskSettings) -> Result<Option<Self>> {
        let schema = table.schema()?;
        let mode = table.column_mapping()?;
        let has_more = !table.metadata().partition_columns.is_empty()
            || schema.fields.iter().any(|field| {
                !matches!(field.identity(), Ok(None))
                    || field.declared_lengths().is_some()
                    || (mode.is_mapped() && !nested_ids(field).is_empty())
                    || !is_plain(&field.data_type)
            });
        if has_more {
            return Ok(None);
        }
        let plan = plan_of(table)?;
        if plan.form.string_prefix >= MOST_PREFIX {
            return Ok(None);
        }
        let codec = match settings
            .codec
            .as_deref()
            .map(Codec::parse)
            .transpose()?
            .unwrap_or(plan.form.codec)
        {
            Codec::Uncompressed => "uncompressed",
            Codec::Snappy => "snappy",
            Codec::Gzip => "gzip",
            Codec::Zstd => "zstd",
            Codec::Brotli | Codec::Lz4 | Codec::Lz4Raw => return Ok(None),
        };
        Ok(Some(Self {
            columns: in_files(&schema, mode).to_json(),
            codec,
            second_version: plan.form.second_version,
            random_prefix: plan.form.random_prefix.unwrap_or(0),
            // A bound depends on one character after the prefix.
            text_bytes: (plan.form.string_prefix + 1) * 4,
        }))
    }
}

/// The plan of files with rows of all columns.
pub(crate) fn plan_of(table: &TableConfiguration) -> Result<WritePlan> {
    WritePlan::try_new(table, &table.schema()?.to_arrow()?, FileContents::EvaluatedRows)
}

/// Whether every part of a type is NULL or a value that Parquet defines.
fn is_plain(data_type: &DataType) -> bool {
    match data_type {
        DataType::Primitive(primitive) => !matches!(primitive, PrimitiveType::Variant | PrimitiveType::Void),
        DataType::Struct(fields) => {
            !fields.fields.is_empty()
                && fields
                    .fields
                    .iter()
                    .all(|field| field.nullable && is_plain(&field.data_type))
        }
        DataType::Array(array) => array.contains_null && is_plain(&array.element_type),
        DataType::Map(map) => map.value_contains_null && is_plain(&map.key_type) && is_plain(&map.value_type),
        DataType::Unknown(_) => false,
    }
}

/// Returns the columns under their names in files, with their ids.
fn in_files(schema: &StructType, mode: ColumnMappingMode) -> StructType {
    let field = |field: &StructField| {
        let id = field_id(field).filter(|_| mode.is_mapped());
        StructField {
            name: name_in_log(field, mode).to_owned(),
            data_type: type_in_files(&field.data_type, mode),
            nullable: field.nullable,
            metadata: id
                .map(|id| ("parquet.field.id".to_owned(), Value::from(id)))
                .into_iter()
                .collect::<Map<_, _>>(),
        }
    };
    StructType {
        fields: schema.fields.iter().map(field).collect(),
    }
}

fn type_in_files(data_type: &DataType, mode: ColumnMappingMode) -> DataType {
    match data_type {
        DataType::Struct(fields) => DataType::Struct(in_files(fields, mode)),
        DataType::Array(array) => DataType::Array(Box::new(ArrayType {
            element_type: type_in_files(&array.element_type, mode),
            ..*array.clone()
        })),
        DataType::Map(map) => DataType::Map(Box::new(MapType {
            key_type: type_in_files(&map.key_type, mode),
            value_type: type_in_files(&map.value_type, mode),
            ..*map.clone()
        })),
        other => other.clone(),
    }
}

/// A data file that such an engine wrote.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParquetFile {
    /// The path, relative to the table's root.
    pub path: String,
    /// The size in bytes.
    pub size: i64,
    /// The modification time, in milliseconds since the epoch.
    pub modification_time: i64,
    /// The number of rows.
    rows: u64,
    /// What is known of its leaf columns, and of its arrays and maps.
    columns: Vec<ParquetColumn>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParquetColumn {
    /// The names in the file, outermost first.
    path: Vec<String>,
    /// The number of NULLs.
    nulls: Option<u64>,
    /// The least value in the plain encoding of Parquet, in base64. Text may be cut off after the bytes that bounds need.
    min: Option<String>,
    /// The greatest value; NaN is greater than all others.
    max: Option<String>,
}

impl ParquetFile {
    /// Returns the statistics of the file as JSON.
    ///
    /// # Errors
    ///
    /// `InternalError` if a bound has no value of its type.
    pub(crate) fn statistics(&self, table: &TableConfiguration, plan: &WritePlan) -> Result<String> {
        let statistics = statistics_of(
            plan.statistics(),
            self.rows,
            plan.data_schema(),
            table.column_mapping()?,
            self,
        )?;
        Ok(statistics.to_json())
    }
}

impl LeafBounds for ParquetFile {
    fn rows(&self) -> usize {
        2
    }

    fn leaf(&self, path: &[String], data_type: &DataType) -> Result<Leaf> {
        let Some(column) = self.columns.iter().find(|column| column.path == path) else {
            return Ok(Leaf::default());
        };
        let bounds = match (data_type, &column.min, &column.max) {
            (DataType::Primitive(primitive), Some(min), Some(max)) => {
                let decoded = STANDARD.decode(min).ok().zip(STANDARD.decode(max).ok());
                let bounds = decoded.map(|(min, max)| bounds_of(*primitive, [&min, &max]));
                bounds.flatten().ok_or_else(|| {
                    Error::internal(format!("a bound is no {data_type}")).with("field", path.join("."))
                })?
            }
            _ => None,
        };
        Ok(Leaf {
            bounds,
            nulls: column.nulls,
        })
    }
}

/// Returns two values; `None` inside for a type without bounds, and `None` if they are no values of the type.
#[expect(clippy::option_option, reason = "no bounds are not an error")]
fn bounds_of(primitive: PrimitiveType, both: [&[u8]; 2]) -> Option<Option<ArrayRef>> {
    let [min, max] = both;
    let int = |bytes: &[u8]| bytes.try_into().ok().map(i32::from_le_bytes);
    let long = |bytes: &[u8]| bytes.try_into().ok().map(i64::from_le_bytes);
    let ints = || Some([int(min)?, int(max)?]);
    let longs = || Some([long(min)?, long(max)?]);
    Some(Some(match primitive {
        PrimitiveType::Boolean => {
            let truth = |bytes: &[u8]| bytes.first().map(|byte| *byte != 0);
            Arc::new(BooleanArray::from(vec![truth(min)?, truth(max)?]))
        }
        PrimitiveType::Byte => {
            let [min, max] = ints()?;
            Arc::new(Int8Array::from(vec![
                i8::try_from(min).ok()?,
                i8::try_from(max).ok()?,
            ]))
        }
        PrimitiveType::Short => {
            let [min, max] = ints()?;
            Arc::new(Int16Array::from(vec![
                i16::try_from(min).ok()?,
                i16::try_from(max).ok()?,
            ]))
        }
        PrimitiveType::Integer => Arc::new(Int32Array::from(ints()?.to_vec())),
        PrimitiveType::Date => Arc::new(Date32Array::from(ints()?.to_vec())),
        PrimitiveType::Long => Arc::new(Int64Array::from(longs()?.to_vec())),
        PrimitiveType::Timestamp => {
            Arc::new(TimestampMicrosecondArray::from(longs()?.to_vec()).with_timezone("UTC"))
        }
        PrimitiveType::TimestampNtz => Arc::new(TimestampMicrosecondArray::from(longs()?.to_vec())),
        PrimitiveType::Float => {
            let float = |bytes: &[u8]| bytes.try_into().ok().map(f32::from_le_bytes);
            Arc::new(Float32Array::from(vec![float(min)?, float(max)?]))
        }
        PrimitiveType::Double => {
            let double = |bytes: &[u8]| bytes.try_into().ok().map(f64::from_le_bytes);
            Arc::new(Float64Array::from(vec![double(min)?, double(max)?]))
        }
        PrimitiveType::Decimal { precision, scale } => {
            let unscaled = |bytes: &[u8]| match precision {
                0..=9 => int(bytes).map(i128::from),
                10..=18 => long(bytes).map(i128::from),
                _ => big_endian(bytes),
            };
            let values = Decimal128Array::from(vec![unscaled(min)?, unscaled(max)?]);
            Arc::new(values.with_data_type(ArrowType::Decimal128(precision, i8::try_from(scale).ok()?)))
        }
        PrimitiveType::String => Arc::new(StringArray::from(vec![text(min)?, text(max)?])),
        _ => return Some(None),
    }))
}

/// Returns the whole characters of text that may be cut off within one; `None` if it is not UTF-8.
fn text(bytes: &[u8]) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => bytes
            .get(..error.valid_up_to())
            .and_then(|whole| std::str::from_utf8(whole).ok()),
        Err(_) => None,
    }
}

fn big_endian(bytes: &[u8]) -> Option<i128> {
    let sign = bytes.first()?.cast_signed() >> 7;
    let mut extended = [sign.cast_unsigned(); 16];
    let start = extended.len().checked_sub(bytes.len())?;
    extended.get_mut(start..)?.copy_from_slice(bytes);
    Some(i128::from_be_bytes(extended))
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Decimal128Type;

    use super::*;

    #[test]
    fn decimals_are_extended_by_their_sign() {
        let wide = PrimitiveType::Decimal {
            precision: 38,
            scale: 2,
        };
        let bounds = bounds_of(wide, [&[0xff, 0x85], &[0x01, 0x00, 0x00]])
            .flatten()
            .expect("bounds");
        assert_eq!(
            bounds.as_primitive::<Decimal128Type>().values().to_vec(),
            [-123, 65536]
        );
        let short = PrimitiveType::Decimal {
            precision: 9,
            scale: 2,
        };
        let bounds = bounds_of(short, [&(-5i32).to_le_bytes(), &7i32.to_le_bytes()])
            .flatten()
            .expect("bounds");
        assert_eq!(bounds.as_primitive::<Decimal128Type>().values().to_vec(), [-5, 7]);
        assert!(bounds_of(short, [&[1], &[2]]).is_none());
    }

    #[test]
    fn text_that_is_cut_off_within_a_character_ends_before_it() {
        assert_eq!(text("aé".as_bytes()), Some("aé"));
        assert_eq!(text(&"aé".as_bytes()[..2]), Some("a"));
        assert_eq!(text(b"a\xffb"), None);
    }
}
