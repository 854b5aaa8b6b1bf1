//! Evaluates IN with a hash lookup.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};

use super::columns::column_of;
use crate::expr::ValueSet;
use crate::expr::literal::value_set::{word_of_double, word_of_float};
use crate::schema::arrow_type_name;
use crate::{Error, ErrorKind, Result};

/// TRUE for values in the set; for others FALSE, or NULL if the set contains NULL; NULL for NULL.
pub(super) fn is_in(
    batch: &RecordBatch,
    path: &[String],
    values: &ValueSet,
    has_null: bool,
) -> Result<BooleanArray> {
    let Some(first) = values.values().first() else {
        return Err(Error::internal("a list of values has none"));
    };
    let array = &column_of(batch, path, first.data_type())?;
    let found = match array.data_type() {
        DataType::Int8 => by_word::<Int8Type>(array, |value| values.has_word(i64::from(value))),
        DataType::Int16 => by_word::<Int16Type>(array, |value| values.has_word(i64::from(value))),
        DataType::Int32 => by_word::<Int32Type>(array, |value| values.has_word(i64::from(value))),
        DataType::Date32 => by_word::<Date32Type>(array, |value| values.has_word(i64::from(value))),
        DataType::Int64 => by_word::<Int64Type>(array, |value| values.has_word(value)),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            by_word::<TimestampMicrosecondType>(array, |value| values.has_word(value))
        }
        DataType::Float32 => by_word::<Float32Type>(array, |value| values.has_word(word_of_float(value))),
        DataType::Float64 => by_word::<Float64Type>(array, |value| values.has_word(word_of_double(value))),
        DataType::Decimal128(..) => by_word::<Decimal128Type>(array, |value| values.has_decimal(value)),
        DataType::Utf8 => array
            .as_string_opt::<i32>()
            .map(|texts| BooleanArray::from_unary(texts, |text| values.has_bytes(text.as_bytes()))),
        DataType::Binary => array
            .as_binary_opt::<i32>()
            .map(|texts| BooleanArray::from_unary(texts, |bytes| values.has_bytes(bytes))),
        _ => None,
    };
    let found = found.ok_or_else(|| {
        let message = format!(
            "IN does not support the type {}",
            arrow_type_name(array.data_type())
        );
        Error::new(ErrorKind::InvalidPredicate, message)
    })?;
    if !has_null {
        return Ok(found);
    }
    // The result is known only for values that are found.
    let known = NullBuffer::new(found.values().clone());
    let nulls = NullBuffer::union(found.nulls(), Some(&known));
    Ok(BooleanArray::new(found.values().clone(), nulls))
}

fn by_word<T: ArrowPrimitiveType>(array: &ArrayRef, has: impl Fn(T::Native) -> bool) -> Option<BooleanArray> {
    Some(BooleanArray::from_unary(array.as_primitive_opt::<T>()?, has))
}
