//! Incoming data against the table's schema: what fits is taken, losslessly, and nothing else.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampNanosecondType;
use arrow_array::{
    Array, ArrayRef, BinaryArray, GenericListArray, ListArray, MapArray, OffsetSizeTrait, RecordBatch,
    RecordBatchOptions, StringArray, StructArray, new_null_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType as ArrowType, Field, Schema, SchemaRef, TimeUnit};
use deltaic_protocol::error::nearest;
use deltaic_protocol::schema::{
    ArrayType, DataType, PrimitiveType, StructField, StructType, schema_from_arrow,
};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::not_null::{counting_within, ensure_present, is_null};
use super::pandas_index::{ensure_no_index_lost, is_index_without_name};
use super::pieces::{rebased, span};
use super::storable::without_void;

/// A stream's schema, proved to fit a table's.
#[derive(Debug)]
pub struct Incoming {
    /// The columns that data files hold.
    table: StructType,
    arrow: SchemaRef,
    /// For each of these columns, its position in the incoming data.
    sources: Vec<Option<usize>>,
}

impl Incoming {
    /// Proves that data of a schema can be appended: every column is one of the table's and has a type that
    /// converts without loss, and no column that must have values is missing. Else a `SchemaMismatch` that names
    /// the column.
    pub fn try_new(incoming: &Schema, table: &Arc<StructType>, partition_columns: &[String]) -> Result<Self> {
        ensure_no_index_lost(incoming, table)?;
        let mut sources = vec![None; table.fields.len()];
        for (index, field) in incoming.fields().iter().enumerate() {
            let target = table
                .fields
                .iter()
                .position(|column| column.name == *field.name())
                .or_else(|| {
                    table
                        .fields
                        .iter()
                        .position(|column| column.name.to_lowercase() == field.name().to_lowercase())
                });
            let Some((target, column)) = target.and_then(|target| Some((target, table.fields.get(target)?)))
            else {
                let hint = match nearest(field.name(), table.names()) {
                    _ if is_index_without_name(field.name()) => {
                        "it is the index of a pandas frame: call df.reset_index(drop=True) first".to_owned()
                    }
                    Some(near) => format!("did you mean {near}? Drop or rename the column"),
                    None => format!(
                        "drop it; the table's columns are: {}",
                        table.names().collect::<Vec<_>>().join(", ")
                    ),
                };
                return Err(mismatch(
                    field.name(),
                    format!("the table has no column {:?}", field.name()),
                )
                .hint(hint));
            };
            fits(field.data_type(), &column.data_type, &column.name)?;
            match sources.get_mut(target) {
                Some(slot @ None) => *slot = Some(index),
                _ => {
                    return Err(mismatch(
                        field.name(),
                        format!(
                            "two columns of the data are the table's {:?}: {:?} is the second",
                            column.name,
                            field.name()
                        ),
                    )
                    .hint("drop or rename one of them"));
                }
            }
        }
        for (column, source) in table.fields.iter().zip(&sources) {
            if source.is_none() && !column.nullable {
                return Err(mismatch(
                    &column.name,
                    format!("the column {:?} is missing and may not be NULL", column.name),
                )
                .hint("add the column to the data"));
            }
        }
        let stored = without_void(table, partition_columns);
        let is_stored = |column: &StructField| stored.fields.iter().any(|field| field.name == column.name);
        let sources = table.fields.iter().zip(sources);
        let sources = sources
            .filter(|(column, _)| is_stored(column))
            .map(|(_, source)| source)
            .collect();
        let table = stored;
        Ok(Self {
            arrow: Arc::new(table.to_arrow()?),
            table,
            sources,
        })
    }

    /// A batch as the columns that data files hold, in the table's types; a column that the data do not have is NULL.
    ///
    /// A NULL where the table allows none is a `ConstraintViolation`.
    pub fn conform(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self
            .table
            .fields
            .iter()
            .zip(&self.sources)
            .map(|(column, source)| match source {
                Some(index) => convert_field(batch.column(*index), column, &column.name),
                None => Ok(new_null_array(&column.data_type.to_arrow()?, batch.num_rows())),
            })
            .collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.arrow), columns, &options)
            .map_err(|error| failed(&error, ""))
    }
}

fn mismatch(path: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::SchemaMismatch, message).with("field", path)
}

fn failed(error: &ArrowError, path: &str) -> Error {
    let text = error.to_string();
    let text = text
        .split_once("error: ")
        .map_or(text.as_str(), |(_, what)| what)
        .to_owned();
    mismatch(path, format!("the data do not fit the table's schema: {text}"))
}

fn fits(from: &ArrowType, to: &DataType, path: &str) -> Result<()> {
    let misfit = |hint: &str| {
        Err(mismatch(
            path,
            format!(
                "the column {path} is {to} in the table and {} in the data",
                type_of_data(from)
            ),
        )
        .hint(hint))
    };
    match (from, to) {
        (ArrowType::Null, _) => Ok(()),
        (ArrowType::Dictionary(_, value), to) => fits(value, to, path),
        (ArrowType::RunEndEncoded(_, value), to) => fits(value.data_type(), to, path),
        (ArrowType::Struct(fields), DataType::Struct(columns)) => {
            let mut seen = std::collections::HashSet::new();
            for field in fields {
                if !seen.insert(field.name().to_lowercase()) {
                    return Err(mismatch(
                        path,
                        format!(
                            "two fields of {path} in the data are named {:?} (case does not count)",
                            field.name()
                        ),
                    )
                    .hint("drop or rename one of them"));
                }
                let Some(column) = columns.field_ignoring_case(field.name()) else {
                    return Err(
                        mismatch(path, format!("the table has no field {path}.{}", field.name()))
                            .hint("drop the field; the table's schema does not have it"),
                    );
                };
                fits(
                    field.data_type(),
                    &column.data_type,
                    &format!("{path}.{}", column.name),
                )?;
            }
            let missing = columns.fields.iter().find(|column| {
                !column.nullable
                    && !fields
                        .iter()
                        .any(|field| field.name().to_lowercase() == column.name.to_lowercase())
            });
            match missing {
                Some(column) => Err(mismatch(
                    path,
                    format!("the field {path}.{} is missing and may not be NULL", column.name),
                )),
                None => Ok(()),
            }
        }
        (
            ArrowType::List(element)
            | ArrowType::LargeList(element)
            | ArrowType::ListView(element)
            | ArrowType::LargeListView(element)
            | ArrowType::FixedSizeList(element, _),
            DataType::Array(array),
        ) => fits(
            element.data_type(),
            &array.element_type,
            &format!("{path}.element"),
        ),
        (ArrowType::Map(entries, _), DataType::Map(map)) => match entries.data_type() {
            ArrowType::Struct(parts) if parts.len() == 2 => {
                fits(parts[0].data_type(), &map.key_type, &format!("{path}.key"))?;
                fits(parts[1].data_type(), &map.value_type, &format!("{path}.value"))
            }
            _ => misfit("a map's entries are a key and a value"),
        },
        (from, DataType::Primitive(primitive)) if loses_nothing(from, *primitive) => Ok(()),
        (ArrowType::Timestamp(_, None), DataType::Primitive(PrimitiveType::Timestamp)) => {
            misfit("timestamps need a time zone: use .dt.tz_localize('UTC'), or a timestamp_ntz column")
        }
        (ArrowType::Timestamp(_, Some(_)), DataType::Primitive(PrimitiveType::TimestampNtz)) => {
            misfit("remove the time zone: use .dt.tz_localize(None), or a timestamp column")
        }
        (ArrowType::Timestamp(..), DataType::Primitive(PrimitiveType::Date)) => {
            misfit("convert the timestamps to dates: use .dt.date")
        }
        _ => misfit("cast the column to the table's type"),
    }
}

/// The type of a column of the data, by its name in Delta if it has one.
fn type_of_data(arrow: &ArrowType) -> String {
    let column = Schema::new(vec![Field::new("column", arrow.clone(), true)]);
    let schema = schema_from_arrow(&column).ok();
    let field = schema.as_ref().and_then(|schema| schema.fields.first());
    field.map_or_else(|| arrow.to_string(), |field| field.data_type.to_string())
}

fn loses_nothing(from: &ArrowType, to: PrimitiveType) -> bool {
    use ArrowType as A;
    use PrimitiveType as P;
    match (from, to) {
        (A::Boolean, P::Boolean)
        | (A::Int8, P::Byte | P::Short | P::Integer | P::Long | P::Float | P::Double)
        | (A::Int16 | A::UInt8, P::Short | P::Integer | P::Long | P::Float | P::Double)
        | (A::Int32 | A::UInt16, P::Integer | P::Long | P::Double)
        | (A::Int64 | A::UInt32, P::Long)
        | (A::UInt32, P::Double)
        | (A::Float16 | A::Float32, P::Float | P::Double)
        | (A::Float64, P::Double)
        | (A::Utf8 | A::LargeUtf8 | A::Utf8View, P::String)
        | (A::Binary | A::LargeBinary | A::BinaryView | A::FixedSizeBinary(_), P::Binary)
        | (A::Date32 | A::Date64, P::Date)
        | (A::Date32, P::TimestampNtz)
        | (A::Timestamp(_, None), P::TimestampNtz)
        | (A::Timestamp(_, Some(_)), P::Timestamp) => true,
        (A::Int8 | A::Int16 | A::Int32 | A::Int64, P::Decimal { precision, scale }) => {
            let digits = match from {
                A::Int8 => 3,
                A::Int16 => 5,
                A::Int32 => 10,
                _ => 19,
            };
            precision.saturating_sub(scale) >= digits
        }
        (
            A::Decimal32(from_precision, from_scale)
            | A::Decimal64(from_precision, from_scale)
            | A::Decimal128(from_precision, from_scale)
            | A::Decimal256(from_precision, from_scale),
            P::Decimal { precision, scale },
        ) => {
            let (from_precision, from_scale) = (i16::from(*from_precision), i16::from(*from_scale));
            let (precision, scale) = (i16::from(precision), i16::from(scale));
            from_scale <= scale && from_precision - from_scale <= precision - scale
        }
        _ => false,
    }
}

fn convert_field(array: &ArrayRef, column: &StructField, path: &str) -> Result<ArrayRef> {
    let converted = convert(array, &column.data_type, path, None)?;
    if !column.nullable && converted.logical_null_count() > 0 {
        return Err(is_null(
            format!("the column {path} may not be NULL, and a row is"),
            path,
        ));
    }
    Ok(converted)
}

/// An array as a table's type has it. Where `counting` says no, a value means nothing.
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
            let counting = counting_within(&offsets, rows.as_ref(), span.len());
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
            // What a NULL hides need not be UTF-8, and is left out.
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
                    format!("the column {path} holds nanoseconds, and the table microseconds"),
                )
                .hint("round the times to microseconds first"));
            }
            checked_cast(array, &target, path)
        }
        (from, _) if *from == target => Ok(Arc::clone(array)),
        _ => checked_cast(array, &target, path),
    }
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
    let counting = counting_within(&offsets, rows.as_ref(), span.len());
    let values = list.values().slice(span.start, span.len());
    let mut values = convert(&values, &to.element_type, &below, counting.as_ref())?;
    if !to.contains_null {
        values = ensure_present(values, counting.as_ref(), &below)?;
    }
    let field = Field::new("element", to.element_type.to_arrow()?, to.contains_null);
    let rebuilt = ListArray::try_new(Arc::new(field), offsets, values, list.nulls().cloned());
    Ok(Arc::new(rebuilt.map_err(|error| failed(&error, path))?))
}

/// A batch is cut into rows before it is converted, so this is about one value.
fn too_long(path: &str) -> Error {
    mismatch(
        path,
        format!("the column {path} holds a value of 2 GiB or more, which Parquet cannot hold"),
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
            format!("a time in the column {path} is too far away: a table counts microseconds from 1970 in 64 bits"),
        )
        .hint("the years from about -290,000 to 294,000 fit: replace or drop the times beyond"),
        ArrowType::Date32 => mismatch(
            path,
            format!("a date in the column {path} is too far away: a table counts days from 1970 in 32 bits"),
        )
        .hint("replace or drop the dates beyond"),
        _ => failed(&error, path),
    })
}

#[cfg(test)]
mod tests;
