//! Casts of whole arrays.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;

use super::values::{Values, scalars};
use crate::expr::cast;
use crate::expr::failure::Failure;
use crate::expr::literal::integers::is_integral;
use crate::schema::PrimitiveType;

/// Casts values to another type.
pub(in crate::expr) fn cast_values(
    values: &Values,
    from: PrimitiveType,
    to: PrimitiveType,
    rows: usize,
) -> Result<Values, Failure> {
    if from == to {
        return Ok(values.clone());
    }
    if is_native(from, to)
        && let Ok(arrow) = to.to_arrow()
        && let Ok(cast) = arrow_cast::cast(&values.array, &arrow)
    {
        return Ok(values.with(cast));
    }
    if let (PrimitiveType::Timestamp | PrimitiveType::TimestampNtz, Some(times)) =
        (to, values.array.as_primitive_opt::<TimestampMicrosecondType>())
    {
        // The time zone is UTC.
        let zone = (to == PrimitiveType::Timestamp).then_some("UTC");
        return Ok(values.with(Arc::new(times.clone().with_timezone_opt(zone))));
    }
    scalars(&[values], rows, to, |row| match values.scalar(row, from) {
        Some(value) => cast::cast_or_missing(&value, to),
        None => Ok(None),
    })
}

/// The same; a value that cannot be cast becomes NULL.
pub(in crate::expr) fn cast_or_null(
    values: &Values,
    from: PrimitiveType,
    to: PrimitiveType,
    rows: usize,
) -> Result<Values, Failure> {
    scalars(&[values], rows, to, |row| {
        let cast = values
            .scalar(row, from)
            .map(|value| cast::cast_or_missing(&value, to));
        match cast.transpose() {
            Err(Failure::Invalid(_) | Failure::Malformed(_)) => Ok(None),
            other => Ok(other?.flatten()),
        }
    })
}

/// Whether Arrow's cast has Spark's meaning and never fails.
fn is_native(from: PrimitiveType, to: PrimitiveType) -> bool {
    use PrimitiveType::{Byte, Double, Float, Integer, Long, Short};
    match to {
        Float | Double => is_integral(from) || (from, to) == (Float, Double),
        Long => matches!(from, Byte | Short | Integer),
        Integer => matches!(from, Byte | Short),
        Short => from == Byte,
        _ => false,
    }
}
