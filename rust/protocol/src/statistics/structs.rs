//! Converts struct statistics of checkpoints, `stats_parsed`, to the types of the schema.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int64Array,
    StringArray, StructArray, TimestampMicrosecondArray, make_array, new_null_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType as ArrowType, TimeUnit};

use super::builder::assemble;
use super::column_builder::{Side, as_written};
use super::leaf_builders::Kind;
use super::schema::{Leaf, Part, Wanted};
use super::{StatisticsColumns, StatisticsSchema};
use crate::schema::PrimitiveType;
use crate::{Error, ErrorKind, Result};

const MICROS_PER_DAY: i64 = 86_400_000_000;
const MILLIS_PER_DAY: i64 = 86_400_000;

impl StatisticsColumns {
    /// Converts `stats_parsed` of a checkpoint: one row per file, with physical names and the types from
    /// Parquet.
    ///
    /// Missing values, and values that the type of the column cannot represent exactly, are NULL. Files
    /// without statistics are NULL in `parsed`.
    pub fn from_struct(parsed: &StructArray, schema: &StatisticsSchema) -> Result<Self> {
        let rows = parsed.len();
        let part = |names: &[&str]| names.iter().find_map(|name| below(parsed, name));
        let num_records = match part(&["numRecords"]) {
            Some(column) => count(&column)?,
            None => new_null_array(&ArrowType::Int64, rows),
        };
        let columns = |names: &[&str], kind: Kind| -> Result<ArrayRef> {
            let mut leaves: Vec<Option<ArrayRef>> = vec![None; schema.leaf_count()];
            convert(part(names).as_ref(), &schema.fields, kind, rows, &mut leaves)?;
            Ok(assemble(&schema.fields, rows, &mut |leaf| {
                leaves.get_mut(leaf).and_then(Option::take)
            }))
        };
        Ok(Self {
            num_records,
            tight_bounds: tight_bounds(parsed, part(&["tightBounds"]).as_ref()),
            min: columns(&["minValues"], Kind::Min)?,
            max: columns(&["maxValues"], Kind::Max)?,
            // An example in the protocol uses the plural.
            null_count: columns(&["nullCount", "nullCounts"], Kind::NullCount)?,
        })
    }
}

/// Bounds are tight by default; NULL for a file without statistics.
fn tight_bounds(parsed: &StructArray, recorded: Option<&ArrayRef>) -> ArrayRef {
    let recorded = recorded.and_then(|recorded| recorded.as_boolean_opt());
    let tight = |row: usize| match recorded {
        Some(recorded) if recorded.is_valid(row) => recorded.value(row),
        _ => true,
    };
    let rows: BooleanArray = (0..parsed.len())
        .map(|row| parsed.is_valid(row).then(|| tight(row)))
        .collect();
    Arc::new(rows)
}

/// The columns of the leaves, each at its index.
fn convert(
    from: Option<&ArrayRef>,
    fields: &[Wanted],
    kind: Kind,
    rows: usize,
    leaves: &mut [Option<ArrayRef>],
) -> Result<()> {
    let from = from.and_then(|from| from.as_struct_opt());
    for field in fields {
        let column = from.and_then(|from| below(from, &field.key));
        match &field.part {
            Part::Fields(inner) => convert(column.as_ref(), inner, kind, rows, leaves)?,
            Part::Leaf(leaf) => {
                if let Some(place) = leaves.get_mut(leaf.index) {
                    *place = converted(column.as_ref(), leaf, kind, rows)?;
                }
            }
        }
    }
    Ok(())
}

/// One column of one kind; `None` if there are no bounds.
fn converted(column: Option<&ArrayRef>, leaf: &Leaf, kind: Kind, rows: usize) -> Result<Option<ArrayRef>> {
    let side = match kind {
        Kind::NullCount => {
            return Ok(Some(match column {
                Some(column) => count(column)?,
                None => new_null_array(&ArrowType::Int64, rows),
            }));
        }
        Kind::Min => Side::Low,
        Kind::Max => Side::High,
    };
    let Some(data_type) = leaf.bounds else {
        return Ok(None);
    };
    let arrow = data_type.to_arrow()?;
    let found = match column {
        Some(column) => bound(&decoded(column)?, data_type, &arrow)?,
        None => None,
    };
    let found = found.unwrap_or_else(|| new_null_array(&arrow, rows));
    Ok(Some(match found.as_primitive_opt::<Float64Type>() {
        Some(doubles) if leaf.was_float => {
            Arc::new(doubles.unary::<_, Float64Type>(|value| as_written(value, Some(side))))
        }
        _ => found,
    }))
}

/// Counts are not negative.
fn count(column: &ArrayRef) -> Result<ArrayRef> {
    Ok(match integers(&decoded(column)?)? {
        Some(counts) => Arc::new(counts.unary_opt::<_, Int64Type>(|count| (count >= 0).then_some(count))),
        None => new_null_array(&ArrowType::Int64, column.len()),
    })
}

/// A column of bounds in its type; `None` if its type cannot be converted.
fn bound(column: &ArrayRef, data_type: PrimitiveType, arrow: &ArrowType) -> Result<Option<ArrayRef>> {
    if column.data_type() == arrow {
        return Ok(Some(Arc::clone(column)));
    }
    Ok(match data_type {
        PrimitiveType::Byte | PrimitiveType::Short | PrimitiveType::Integer | PrimitiveType::Long => {
            match integers(column)? {
                // Values that do not fit are NULL.
                Some(integers) => Some(arrow_cast::cast(&integers, arrow).map_err(failed)?),
                None => None,
            }
        }
        PrimitiveType::Float => doubles(column)?.map(|doubles| {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the nearest float of a bound is a bound of floats"
            )]
            let floats = doubles.iter().map(|value| value.map(|value| value as f32));
            Arc::new(floats.collect::<Float32Array>()) as ArrayRef
        }),
        PrimitiveType::Double => doubles(column)?.map(|doubles| Arc::new(doubles) as ArrayRef),
        PrimitiveType::Decimal { precision, scale } => decimals(column, precision, scale)?
            .map(|decimals| Arc::new(decimals.with_data_type(arrow.clone())) as _),
        PrimitiveType::String => texts(column)?,
        PrimitiveType::Date => dates(column)?.map(|dates| Arc::new(dates) as ArrayRef),
        PrimitiveType::Timestamp | PrimitiveType::TimestampNtz => {
            micros(column)?.map(|micros| Arc::new(micros.with_data_type(arrow.clone())) as _)
        }
        PrimitiveType::Boolean | PrimitiveType::Binary | PrimitiveType::Void | PrimitiveType::Variant => None,
    })
}

fn integers(column: &ArrayRef) -> Result<Option<Int64Array>> {
    if !column.data_type().is_integer() {
        return Ok(None);
    }
    let wide = arrow_cast::cast(column, &ArrowType::Int64).map_err(failed)?;
    Ok(wide.as_primitive_opt::<Int64Type>().cloned())
}

/// Converts floats, and integers that a double represents exactly, to doubles.
fn doubles(column: &ArrayRef) -> Result<Option<Float64Array>> {
    if let Some(integers) = integers(column)? {
        const EXACT: u64 = 1 << 53;
        #[expect(clippy::cast_precision_loss, reason = "exact up to the limit")]
        let exact = |value: i64| (value.unsigned_abs() <= EXACT).then_some(value as f64);
        return Ok(Some(integers.unary_opt(exact)));
    }
    if !column.data_type().is_floating() {
        return Ok(None);
    }
    let wide = arrow_cast::cast(column, &ArrowType::Float64).map_err(failed)?;
    Ok(wide.as_primitive_opt::<Float64Type>().cloned())
}

/// Converts decimals of another scale if the values are preserved and fit.
fn decimals(column: &ArrayRef, precision: u8, scale: u8) -> Result<Option<Decimal128Array>> {
    let (column, from_scale) = match column.data_type() {
        ArrowType::Decimal32(precision, scale) | ArrowType::Decimal64(precision, scale) => {
            let wide = ArrowType::Decimal128(*precision, *scale);
            (arrow_cast::cast(column, &wide).map_err(failed)?, *scale)
        }
        ArrowType::Decimal128(_, scale) => (Arc::clone(column), *scale),
        other if other.is_integer() => {
            let wide = ArrowType::Decimal128(20, 0);
            (arrow_cast::cast(column, &wide).map_err(failed)?, 0)
        }
        _ => return Ok(None),
    };
    let Some(values) = column.as_primitive_opt::<Decimal128Type>() else {
        return Ok(None);
    };
    let limit = 10i128.checked_pow(u32::from(precision)).unwrap_or(0);
    let shift = i32::from(scale) - i32::from(from_scale);
    let power = 10i128.checked_pow(shift.unsigned_abs());
    let rescaled = |value: i128| {
        let value = match power {
            _ if value == 0 => 0,
            None => return None,
            Some(power) if shift >= 0 => value.checked_mul(power)?,
            Some(power) if value % power == 0 => value / power,
            Some(_) => return None,
        };
        (value > -limit && value < limit).then_some(value)
    };
    Ok(Some(values.unary_opt(rescaled)))
}

/// Strings of any layout; bytes that are not UTF-8 are NULL.
fn texts(column: &ArrayRef) -> Result<Option<ArrayRef>> {
    let binary = match column.data_type() {
        ArrowType::LargeUtf8 | ArrowType::Utf8View => {
            return arrow_cast::cast(column, &ArrowType::Utf8)
                .map(Some)
                .map_err(failed);
        }
        ArrowType::Binary => Arc::clone(column),
        ArrowType::LargeBinary | ArrowType::BinaryView => {
            arrow_cast::cast(column, &ArrowType::Binary).map_err(failed)?
        }
        _ => return Ok(None),
    };
    Ok(binary.as_binary_opt::<i32>().map(|binary| {
        let texts = binary.iter().map(|bytes| std::str::from_utf8(bytes?).ok());
        Arc::new(texts.collect::<StringArray>()) as ArrayRef
    }))
}

/// Dates, also from milliseconds; other timestamps are not dates.
fn dates(column: &ArrayRef) -> Result<Option<Date32Array>> {
    Ok(match column.data_type() {
        ArrowType::Date64 => numbers(column)?
            .map(|millis| millis.unary_opt(|millis| i32::try_from(millis.div_euclid(MILLIS_PER_DAY)).ok())),
        _ => None,
    })
}

/// Microseconds of a timestamp in any unit, or of the midnight of a date; finer units are rounded down.
fn micros(column: &ArrayRef) -> Result<Option<TimestampMicrosecondArray>> {
    let (multiply, divide) = match column.data_type() {
        ArrowType::Timestamp(TimeUnit::Second, _) => (1_000_000, 1),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) | ArrowType::Date64 => (1_000, 1),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => (1, 1),
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => (1, 1_000),
        ArrowType::Date32 => (MICROS_PER_DAY, 1),
        _ => return Ok(None),
    };
    Ok(numbers(column)?
        .map(|values| values.unary_opt(|value| value.div_euclid(divide).checked_mul(multiply))))
}

/// The integers of a column of timestamps or dates.
fn numbers(column: &ArrayRef) -> Result<Option<Int64Array>> {
    let wide = match column.data_type() {
        ArrowType::Date32 => {
            let days = arrow_cast::cast(column, &ArrowType::Int32).map_err(failed)?;
            arrow_cast::cast(&days, &ArrowType::Int64).map_err(failed)?
        }
        _ => arrow_cast::cast(column, &ArrowType::Int64).map_err(failed)?,
    };
    Ok(wide.as_primitive_opt::<Int64Type>().cloned())
}

/// A field of a struct; NULL if the struct is NULL.
fn below(parent: &StructArray, name: &str) -> Option<ArrayRef> {
    let child = parent.column_by_name(name)?;
    let Some(parent_nulls) = parent.nulls() else {
        return Some(Arc::clone(child));
    };
    let nulls = NullBuffer::union(Some(parent_nulls), child.nulls());
    let data = child.to_data().into_builder().nulls(nulls).build().ok()?;
    Some(make_array(data))
}

/// Decodes dictionaries and runs.
fn decoded(column: &ArrayRef) -> Result<ArrayRef> {
    match column.data_type() {
        ArrowType::Dictionary(_, values) => arrow_cast::cast(column, values).map_err(failed),
        ArrowType::RunEndEncoded(_, values) => arrow_cast::cast(column, values.data_type()).map_err(failed),
        _ => Ok(Arc::clone(column)),
    }
}

fn failed(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("struct statistics of a checkpoint cannot be read: {error}"),
    )
}
