//! Divides variants into typed values and the rest.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, StringArray, StructArray, new_null_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType as ArrowType};
use deltaic_protocol::{Error, ErrorKind, Result};
use parquet_variant::{
    ObjectBuilder, ParentState, ReadOnlyMetadataBuilder, ValueBuilder, Variant, VariantMetadata,
    VariantObject,
};

use super::shape::Shape;

/// A variant, or a part of it, with the names of its fields.
#[derive(Clone)]
pub(super) struct Row<'a> {
    pub(super) value: Variant<'a, 'a>,
    names: VariantMetadata<'a>,
}

/// The variants of a column that is not shredded; `None` is NULL.
pub(super) fn variants(group: &StructArray) -> Result<Vec<Option<Row<'_>>>> {
    let bytes = |name: &str| -> Result<&BinaryArray> {
        let column = group
            .column_by_name(name)
            .and_then(|column| column.as_binary_opt::<i32>());
        column.ok_or_else(|| Error::internal("a variant has no bytes"))
    };
    let (metadata, value) = (bytes("metadata")?, bytes("value")?);
    let rows = (0..group.len()).map(|row| {
        if group.is_null(row) {
            return Ok(None);
        }
        let names = VariantMetadata::try_new(metadata.value(row)).map_err(damaged)?;
        let value = Variant::try_new_with_metadata(names.clone(), value.value(row)).map_err(damaged)?;
        Ok(Some(Row { value, names }))
    });
    rows.collect()
}

fn damaged(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptData,
        format!("a variant cannot be shredded: {error}"),
    )
}

/// Shreds the variants of a column.
pub(super) fn shred(group: &StructArray, shape: &Shape) -> Result<ArrayRef> {
    let metadata = group
        .column_by_name("metadata")
        .ok_or_else(|| Error::internal("a variant has no metadata"))?;
    let rows = variants(group)?;
    let (value, typed) = split(&rows, shape)?;
    let ArrowType::Struct(fields) = shape.group_with_metadata() else {
        return Err(Error::internal("a shredded variant is a group"));
    };
    let columns = vec![Arc::clone(metadata), value, typed];
    let shredded = StructArray::try_new(fields, columns, group.nulls().cloned());
    Ok(Arc::new(shredded.map_err(damaged)?))
}

/// Returns the untyped and the typed values of rows; both are NULL where there is no value.
fn split(rows: &[Option<Row<'_>>], shape: &Shape) -> Result<(ArrayRef, ArrayRef)> {
    match shape {
        Shape::Leaf(data_type) => {
            let typed = typed(rows, data_type);
            let rest = rows.iter().enumerate().map(|(index, row)| {
                let row = row.as_ref().filter(|_| typed.is_null(index));
                row.map(Row::bytes)
            });
            Ok((binary(rest.collect()), typed))
        }
        Shape::Object(fields) => object(rows, fields, &shape.typed_value()),
    }
}

fn object(
    rows: &[Option<Row<'_>>],
    shapes: &[(String, Shape)],
    data_type: &ArrowType,
) -> Result<(ArrayRef, ArrayRef)> {
    let objects: Vec<Option<&VariantObject<'_, '_>>> = rows
        .iter()
        .map(|row| row.as_ref().and_then(|row| row.value.as_object()))
        .collect();
    let rest: Vec<Option<Vec<u8>>> = rows
        .iter()
        .zip(&objects)
        .map(|(row, object)| match (row, object) {
            (None, _) => Ok(None),
            (Some(row), None) => Ok(Some(row.bytes())),
            (Some(row), Some(object)) => row.other_fields(object, shapes),
        })
        .collect::<Result<_>>()?;
    let ArrowType::Struct(fields) = data_type else {
        return Err(Error::internal("a shredded object is a group"));
    };
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(shapes.len());
    for (name, shape) in shapes {
        let below: Vec<Option<Row<'_>>> = rows
            .iter()
            .zip(&objects)
            .map(|(row, object)| {
                let names = row.as_ref()?.names.clone();
                (*object)?.get(name).map(|value| Row { value, names })
            })
            .collect();
        let (value, typed) = split(&below, shape)?;
        let ArrowType::Struct(parts) = shape.group() else {
            return Err(Error::internal("a shredded field is a group"));
        };
        let part = StructArray::try_new(parts, vec![value, typed], None);
        columns.push(Arc::new(part.map_err(damaged)?));
    }
    let is_object: NullBuffer = objects.iter().map(Option::is_some).collect();
    let typed = StructArray::try_new(fields.clone(), columns, Some(is_object)).map_err(damaged)?;
    Ok((binary(rest), Arc::new(typed)))
}

impl Row<'_> {
    /// The bytes of the value alone.
    fn bytes(&self) -> Vec<u8> {
        let mut values = ValueBuilder::new();
        let mut names = ReadOnlyMetadataBuilder::new(&self.names);
        let place = ParentState::variant(&mut values, &mut names);
        ValueBuilder::append_variant_bytes(place, self.value.clone());
        values.into_inner()
    }

    /// The bytes of an object with the fields that are not shredded; `None` if it has none.
    fn other_fields(
        &self,
        object: &VariantObject<'_, '_>,
        shapes: &[(String, Shape)],
    ) -> Result<Option<Vec<u8>>> {
        let is_typed = |name: &str| shapes.iter().any(|(typed, _)| typed == name);
        if object.iter().all(|(name, _)| is_typed(name)) {
            return Ok(None);
        }
        let mut values = ValueBuilder::new();
        let mut names = ReadOnlyMetadataBuilder::new(&self.names);
        let place = ParentState::variant(&mut values, &mut names);
        let mut rest = ObjectBuilder::new(place, true);
        for (name, value) in object.iter().filter(|(name, _)| !is_typed(name)) {
            rest.try_insert_bytes(name, value).map_err(damaged)?;
        }
        rest.finish();
        Ok(Some(values.into_inner()))
    }
}

fn binary(values: Vec<Option<Vec<u8>>>) -> ArrayRef {
    Arc::new(values.iter().map(Option::as_deref).collect::<BinaryArray>())
}

/// Returns the values that have exactly a type.
fn typed(rows: &[Option<Row<'_>>], data_type: &ArrowType) -> ArrayRef {
    use ArrowType as A;
    let values = || rows.iter().map(|row| row.as_ref().map(|row| &row.value));
    macro_rules! primitive {
        ($arrow:ty, $variant:path, $value:expr) => {
            Arc::new(
                values()
                    .map(|value| match value {
                        Some($variant(value)) => Some($value(value)),
                        _ => None,
                    })
                    .collect::<PrimitiveArray<$arrow>>()
                    .with_data_type(data_type.clone()),
            )
        };
    }
    match data_type {
        A::Boolean => Arc::new(
            values()
                .map(|value| value.and_then(Variant::as_boolean))
                .collect::<BooleanArray>(),
        ),
        A::Int8 => primitive!(Int8Type, Variant::Int8, |value: &i8| *value),
        A::Int16 => primitive!(Int16Type, Variant::Int16, |value: &i16| *value),
        A::Int32 => primitive!(Int32Type, Variant::Int32, |value: &i32| *value),
        A::Int64 => primitive!(Int64Type, Variant::Int64, |value: &i64| *value),
        A::Float32 => primitive!(Float32Type, Variant::Float, |value: &f32| *value),
        A::Float64 => primitive!(Float64Type, Variant::Double, |value: &f64| *value),
        A::Date32 => primitive!(Date32Type, Variant::Date, |day: &chrono::NaiveDate| {
            Date32Type::from_naive_date(*day)
        }),
        A::Timestamp(_, Some(_)) => primitive!(
            TimestampMicrosecondType,
            Variant::TimestampMicros,
            |moment: &chrono::DateTime<chrono::Utc>| moment.timestamp_micros()
        ),
        A::Timestamp(_, None) => primitive!(
            TimestampMicrosecondType,
            Variant::TimestampNtzMicros,
            |moment: &chrono::NaiveDateTime| moment.and_utc().timestamp_micros()
        ),
        A::Utf8 => Arc::new(
            values()
                .map(|value| value.and_then(Variant::as_string))
                .collect::<StringArray>(),
        ),
        A::Binary => Arc::new(
            values()
                .map(|value| match value {
                    Some(Variant::Binary(bytes)) => Some(*bytes),
                    _ => None,
                })
                .collect::<BinaryArray>(),
        ),
        other => new_null_array(other, rows.len()),
    }
}
