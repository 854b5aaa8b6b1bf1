//! The columns of a batch, cast to the type of a comparison.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Decimal128Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, Float64Array, PrimitiveArray, RecordBatch, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, TimeUnit};

use super::failed::failed;
use crate::expr::cast::double_of;
use crate::schema::PrimitiveType;
use crate::{Error, ErrorKind, Result};

const DAY: i64 = 86_400_000_000;
/// A smaller integer is represented exactly by a double.
const EXACT: u128 = 1 << 53;

/// A column or a nested field; a field of a NULL struct is NULL.
pub(in crate::expr) fn column(batch: &RecordBatch, path: &[String]) -> Result<ArrayRef> {
    let missing = || {
        Error::new(
            ErrorKind::InvalidPredicate,
            format!("the column {} is not in the batch", path.join(".")),
        )
    };
    let (first, rest) = path.split_first().ok_or_else(missing)?;
    let mut array = Arc::clone(batch.column_by_name(first).ok_or_else(missing)?);
    for part in rest {
        let parent = array.as_struct_opt().ok_or_else(missing)?;
        let child = Arc::clone(parent.column_by_name(part).ok_or_else(missing)?);
        array = match parent.nulls() {
            None => child,
            Some(parent_nulls) => {
                let nulls = NullBuffer::union(Some(parent_nulls), child.nulls());
                let data = child
                    .to_data()
                    .into_builder()
                    .nulls(nulls)
                    .build()
                    .map_err(failed)?;
                make_array(data)
            }
        };
    }
    Ok(array)
}

/// The values of a column in the type of a comparison, cast only if necessary.
pub(in crate::expr) fn column_of(
    batch: &RecordBatch,
    path: &[String],
    common: PrimitiveType,
) -> Result<ArrayRef> {
    let array = column(batch, path)?;
    let wanted = common.to_arrow()?;
    if *array.data_type() == wanted {
        return Ok(array);
    }
    match (array.data_type(), &wanted) {
        (DataType::Decimal128(_, scale), DataType::Float64) => doubles(&array, *scale),
        (DataType::Date32, DataType::Timestamp(..)) => midnights(&array, &wanted),
        // The time zone is UTC.
        (DataType::Timestamp(TimeUnit::Microsecond, _), DataType::Timestamp(TimeUnit::Microsecond, _)) => {
            let data = array.to_data().into_builder().data_type(wanted).build();
            Ok(make_array(data.map_err(failed)?))
        }
        _ => {
            let options = arrow_cast::CastOptions {
                safe: false,
                ..Default::default()
            };
            arrow_cast::cast_with_options(&array, &wanted, &options).map_err(failed)
        }
    }
}

/// The doubles that are nearest to decimals.
fn doubles(array: &ArrayRef, scale: i8) -> Result<ArrayRef> {
    let decimals = array
        .as_primitive_opt::<Decimal128Type>()
        .ok_or_else(|| Error::new(ErrorKind::InvalidPredicate, "a decimal is expected"))?;
    let scale = u8::try_from(scale).unwrap_or_default();
    // Powers of ten up to here are exact doubles, and one division rounds only once.
    let unit = (scale <= 22).then(|| 10f64.powi(i32::from(scale)));
    let double = |unscaled: i128| match unit {
        #[expect(clippy::cast_precision_loss, reason = "it is small enough to be exact")]
        Some(unit) if unscaled.unsigned_abs() < EXACT => unscaled as f64 / unit,
        _ => double_of(unscaled, scale),
    };
    let found: Float64Array = decimals.unary(double);
    Ok(Arc::new(found))
}

/// Dates as timestamps at midnight.
fn midnights(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    let dates = array
        .as_primitive_opt::<Date32Type>()
        .ok_or_else(|| Error::new(ErrorKind::InvalidPredicate, "a date is expected"))?;
    let micros = dates.try_unary::<_, TimestampMicrosecondType, _>(|days| {
        i64::from(days)
            .checked_mul(DAY)
            .ok_or_else(|| ArrowError::ComputeError("a date is out of the range of a timestamp".to_owned()))
    });
    let micros: PrimitiveArray<TimestampMicrosecondType> = micros.map_err(failed)?;
    Ok(Arc::new(micros.with_data_type(wanted.clone())))
}
