//! Converts arrays to the table's types.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal256Type, TimestampNanosecondType};
use arrow_array::{
    Array, ArrayRef, BinaryArray, Decimal256Array, GenericListArray, ListArray, MapArray, OffsetSizeTrait,
    StringArray, StructArray, new_null_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType as ArrowType, TimeUnit};
use deltaic_protocol::expr::assigned_values;
use deltaic_protocol::schema::{ArrayType, DataType, PrimitiveType, StructField, number_from_arrow};
use deltaic_protocol::{Error, Result};

use super::fits::loses_nothing;
use super::mismatch::{failed, mismatch};
use super::variant::convert_variant;
use crate::visible_values::visible_within;
use crate::write::constrain::not_null::{ensure_present, is_null};
use crate::write::pieces::rebased;
use crate::write::sizes::span;

pub(in crate::write) fn convert_field(
    array: &ArrayRef,
    column: &StructField,
    path: &str,
) -> Result<ArrayRef> {
    let converted = convert(array, &column.data_type, path, None)?;
    if !column.nullable && converted.logical_null_count() > 0 {
        return Err(is_null(
            format!("the column {path} must not be NULL, but is in a row"),
            path,
        ));
    }
    Ok(converted)
}

/// Converts an array to the type of the table. Values that `counting` masks out are ignored.
fn convert(array: &ArrayRef, to: &DataType, path: &str, counting: Option<&NullBuffer>) -> Result<ArrayRef> {
    let failed = |error: ArrowError| failed(&error, path);
    let target = to.to_arrow()?;
    match (array.data_type(), to) {
        (ArrowType::Null, _) => Ok(new_null_array(&target, array.len())),
        (ArrowType::Dictionary(_, value), to) => convert(
            &arrow_cast::cast(array, value).map_err(failed)?,
            to,
            path,
            counting,
        ),
        (ArrowType::RunEndEncoded(_, value), to) => convert(
            &arrow_cast::cast(array, value.data_type()).map_err(failed)?,
            to,
            path,
            counting,
        ),
        (ArrowType::Struct(_), DataType::Primitive(PrimitiveType::Variant)) => {
            convert_variant(array, path, counting)
        }
        (ArrowType::Struct(_), DataType::Struct(columns)) => {
            let rows = array.as_struct();
            let counting = NullBuffer::union(counting, rows.nulls());
            let parts = columns
                .fields
                .iter()
                .map(|column| {
                    let below = format!("{path}.{}", column.name);
                    let index = rows
                        .fields()
                        .iter()
                        .position(|field| field.name().to_lowercase() == column.name.to_lowercase());
                    match index {
                        Some(index) => {
                            let part =
                                convert(rows.column(index), &column.data_type, &below, counting.as_ref())?;
                            if column.nullable {
                                return Ok(part);
                            }
                            ensure_present(part, counting.as_ref(), &below)
                        }
                        None => Ok(new_null_array(&column.data_type.to_arrow()?, rows.len())),
                    }
                })
                .collect::<Result<Vec<_>>>()?;
            let ArrowType::Struct(fields) = target else {
                return Err(mismatch(path, "a struct is expected"));
            };
            Ok(Arc::new(
                StructArray::try_new(fields, parts, rows.nulls().cloned()).map_err(failed)?,
            ))
        }
        (ArrowType::List(_), DataType::Array(element)) => {
            let list = array.as_list::<i32>();
            convert_list(list, element, path, counting)
        }
        (ArrowType::LargeList(_), DataType::Array(element)) => {
            let list = array.as_list::<i64>();
            convert_list(list, element, path, counting)
        }
        (
            ArrowType::ListView(element)
            | ArrowType::LargeListView(element)
            | ArrowType::FixedSizeList(element, _),
            DataType::Array(_),
        ) => {
            let plain = arrow_cast::cast(array, &ArrowType::List(Arc::clone(element))).map_err(failed)?;
            convert(&plain, to, path, counting)
        }
        (ArrowType::Map(..), DataType::Map(map_type)) => {
            let map = array.as_map();
            let (ArrowType::Map(entries, sorted), ..) = (target, ()) else {
                return Err(mismatch(path, "a map is expected"));
            };
            let ArrowType::Struct(names) = entries.data_type() else {
                return Err(mismatch(path, "a map is expected"));
            };
            let rows = NullBuffer::union(counting, map.nulls());
            let (span, offsets) = (span(map.offsets()), rebased(map.offsets()));
            let offsets = offsets.ok_or_else(|| too_long(path))?;
            let counting = visible_within(&offsets, rows.as_ref(), span.len());
            let part = |part: &ArrayRef, to: &DataType, nullable: bool, name: &str| {
                let below = format!("{path}.{name}");
                let part = part.slice(span.start, span.len());
                let part = convert(&part, to, &below, counting.as_ref())?;
                match nullable {
                    true => Ok(part),
                    false => ensure_present(part, counting.as_ref(), &below),
                }
            };
            let keys = part(map.keys(), &map_type.key_type, false, "key")?;
            let values = part(
                map.values(),
                &map_type.value_type,
                map_type.value_contains_null,
                "value",
            )?;
            let pairs = StructArray::try_new(names.clone(), vec![keys, values], None).map_err(failed)?;
            let rebuilt =
                MapArray::try_new(Arc::clone(&entries), offsets, pairs, map.nulls().cloned(), sorted);
            Ok(Arc::new(rebuilt.map_err(failed)?))
        }
        (ArrowType::LargeUtf8, _) => {
            let large = array.as_string::<i64>();
            let offsets = rebased(large.offsets()).ok_or_else(|| too_long(path))?;
            let span = span(large.offsets());
            let values = large.values().slice_with_length(span.start, span.len());
            // The bytes of a NULL may be invalid UTF-8, and are then dropped.
            let strings = StringArray::try_new(offsets, values, large.nulls().cloned());
            Ok(Arc::new(strings.unwrap_or_else(|_| large.iter().collect())))
        }
        (ArrowType::LargeBinary, _) => {
            let large = array.as_binary::<i64>();
            let offsets = rebased(large.offsets()).ok_or_else(|| too_long(path))?;
            let span = span(large.offsets());
            let values = large.values().slice_with_length(span.start, span.len());
            let bytes = BinaryArray::try_new(offsets, values, large.nulls().cloned());
            Ok(Arc::new(bytes.map_err(failed)?))
        }
        (ArrowType::Timestamp(TimeUnit::Nanosecond, _), _) => {
            let nanos = array.as_primitive::<TimestampNanosecondType>();
            if nanos.iter().flatten().any(|value| value % 1000 != 0) {
                return Err(mismatch(
                    path,
                    format!("the column {path} has nanoseconds, but tables have microseconds"),
                )
                .hint("round the times to microseconds first"));
            }
            checked_cast(array, &target, path)
        }
        (from, _) if *from == target => Ok(Arc::clone(array)),
        (from @ ArrowType::Decimal256(..), DataType::Primitive(to)) => {
            let visible = visible_decimals(array, counting);
            match loses_nothing(from, *to) {
                true => checked_cast(&visible, &target, path),
                false => convert_numbers(&visible, *to, path, counting),
            }
        }
        (from, DataType::Primitive(to)) if !loses_nothing(from, *to) => {
            convert_numbers(array, *to, path, counting)
        }
        _ => checked_cast(array, &target, path),
    }
}

/// Decimals of 256 bits without the values of NULLs: Arrow converts those too, and panics if one has too many digits.
fn visible_decimals(array: &ArrayRef, counting: Option<&NullBuffer>) -> ArrayRef {
    let decimals = array.as_primitive::<Decimal256Type>();
    let nulls = NullBuffer::union(counting, decimals.nulls());
    let is_visible = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    let visible: Decimal256Array = (0..decimals.len())
        .map(|row| is_visible(row).then(|| decimals.value(row)))
        .collect();
    Arc::new(visible.with_data_type(array.data_type().clone()))
}

/// Converts numbers, each of which the type must hold. Values that `counting` masks out become NULL.
fn convert_numbers(
    array: &ArrayRef,
    to: PrimitiveType,
    path: &str,
    counting: Option<&NullBuffer>,
) -> Result<ArrayRef> {
    let internal = |what: String| Error::internal(what).with("field", path);
    let unfit = || internal(format!("{} is not converted to {to}", array.data_type()));
    let from = number_from_arrow(array.data_type()).ok_or_else(unfit)?;
    let nulls = NullBuffer::union(counting, array.nulls());
    let visible = array.to_data().into_builder().nulls(nulls).build();
    let visible = arrow_array::make_array(visible.map_err(|error| internal(error.to_string()))?);
    let numbers = checked_cast(&visible, &from.to_arrow()?, path)?;
    assigned_values(&numbers, from, to)?.map_err(|refused| {
        let error = refused.error(path, &numbers, from, to);
        error.hint(format!(
            "round the values, or replace them by values of the type {to}"
        ))
    })
}

fn convert_list<O: OffsetSizeTrait>(
    list: &GenericListArray<O>,
    to: &ArrayType,
    path: &str,
    counting: Option<&NullBuffer>,
) -> Result<ArrayRef> {
    let below = format!("{path}.element");
    let rows = NullBuffer::union(counting, list.nulls());
    let offsets = rebased(list.offsets()).ok_or_else(|| too_long(path))?;
    let span = span(list.offsets());
    let counting = visible_within(&offsets, rows.as_ref(), span.len());
    let values = list.values().slice(span.start, span.len());
    let mut values = convert(&values, &to.element_type, &below, counting.as_ref())?;
    if !to.contains_null {
        values = ensure_present(values, counting.as_ref(), &below)?;
    }
    let field = to.element_type.to_arrow_field("element", to.contains_null)?;
    let rebuilt = ListArray::try_new(Arc::new(field), offsets, values, list.nulls().cloned());
    Ok(Arc::new(rebuilt.map_err(|error| failed(&error, path))?))
}

/// Batches are split into rows before they are converted, so this concerns a single value.
fn too_long(path: &str) -> Error {
    mismatch(
        path,
        format!("the column {path} has a value of 2 GiB or more, which Parquet does not support"),
    )
    .hint("split the value, or drop the row")
}

fn checked_cast(array: &ArrayRef, target: &ArrowType, path: &str) -> Result<ArrayRef> {
    let options = arrow_cast::CastOptions {
        safe: false,
        ..Default::default()
    };
    arrow_cast::cast_with_options(array, target, &options).map_err(|error| match target {
        ArrowType::Timestamp(..) => mismatch(
            path,
            format!("a timestamp in the column {path} is out of range: microseconds since 1970 in 64 bits"),
        )
        .hint("the years from about -290,000 to 294,000 fit: replace or drop the times beyond"),
        ArrowType::Date32 => mismatch(
            path,
            format!("a date in the column {path} is out of range: days since 1970 in 32 bits"),
        )
        .hint("replace or drop the dates beyond"),
        _ => failed(&error, path),
    })
}
