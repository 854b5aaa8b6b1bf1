//! Converts values of a narrower type to the current type of the column, without changing any value.
//!
//! Protocol: *Type Widening*.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, TimestampMicrosecondType, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_schema::{ArrowError, DataType as ArrowType, TimeUnit};

const MICROS_A_DAY: i64 = 86_400_000_000;

/// Returns the values in the wider type; `None` if the protocol does not allow this widening.
pub(crate) fn widen(array: &ArrayRef, wider: &ArrowType) -> Option<Result<ArrayRef, ArrowError>> {
    if let (ArrowType::Date32, ArrowType::Timestamp(TimeUnit::Microsecond, None)) = (array.data_type(), wider)
    {
        return Some(midnights(array.as_primitive()));
    }
    if let (
        ArrowType::Timestamp(TimeUnit::Nanosecond, _),
        ArrowType::Timestamp(TimeUnit::Microsecond, zone),
    ) = (array.data_type(), wider)
    {
        // Rounded down both before and after 1970.
        let nanos = array.as_primitive::<TimestampNanosecondType>();
        let micros: PrimitiveArray<TimestampMicrosecondType> = nanos.unary(|nanos| nanos.div_euclid(1000));
        return Some(Ok(Arc::new(micros.with_timezone_opt(zone.clone()))));
    }
    if !is_wider(array.data_type(), wider) {
        return None;
    }
    let options = arrow_cast::CastOptions {
        safe: false,
        ..Default::default()
    };
    Some(arrow_cast::cast_with_options(array, wider, &options))
}

/// Converts dates to midnight timestamps.
fn midnights(days: &PrimitiveArray<Date32Type>) -> Result<ArrayRef, ArrowError> {
    let micros: PrimitiveArray<TimestampMicrosecondType> = days.try_unary(|day| {
        i64::from(day)
            .checked_mul(MICROS_A_DAY)
            .ok_or_else(|| ArrowError::CastError(format!("the day {day} is out of the range of timestamps")))
    })?;
    Ok(Arc::new(micros))
}

fn is_wider(from: &ArrowType, to: &ArrowType) -> bool {
    use ArrowType as A;
    match (from, to) {
        (A::Float32 | A::Int8 | A::Int16 | A::Int32, A::Float64) => true,
        // Files store all of these in 32 bits, and a byte column is read as such.
        (A::Int8 | A::Int16 | A::Int32, A::Decimal128(precision, scale)) => holds(10, 0, *precision, *scale),
        (A::Int64, A::Decimal128(precision, scale)) => holds(19, 0, *precision, *scale),
        (
            A::Decimal32(before, places)
            | A::Decimal64(before, places)
            | A::Decimal128(before, places)
            // Few digits may be stored in many bytes.
            | A::Decimal256(before, places),
            A::Decimal128(precision, scale),
        ) => holds(*before, *places, *precision, *scale),
        _ => false,
    }
}

/// Whether a decimal type can hold this many digits, of which `places` are after the decimal point.
fn holds(digits: u8, places: i8, precision: u8, scale: i8) -> bool {
    scale >= places && i16::from(precision) - i16::from(scale) >= i16::from(digits) - i16::from(places)
}

#[cfg(test)]
mod tests {
    use arrow_array::types::{Decimal128Type, Float64Type};
    use arrow_array::{Date32Array, Decimal128Array, Int32Array, Int64Array};

    use super::*;

    fn widened(array: ArrayRef, wider: &ArrowType) -> ArrayRef {
        widen(&array, wider).expect("it is a pair").expect("it fits")
    }

    /// protocol: beyond:type-widening.1
    #[test]
    fn values_are_unchanged() {
        let ints: ArrayRef = Arc::new(Int32Array::from(vec![Some(i32::MIN), None, Some(7)]));
        let doubles = widened(Arc::clone(&ints), &ArrowType::Float64);
        assert_eq!(doubles.as_primitive::<Float64Type>().value(0), -2_147_483_648.0);
        let decimals = widened(ints, &ArrowType::Decimal128(12, 2));
        assert_eq!(
            decimals.as_primitive::<Decimal128Type>().value(0),
            -214_748_364_800
        );
        assert!(decimals.is_null(1));
        let longs: ArrayRef = Arc::new(Int64Array::from(vec![i64::MAX]));
        let decimals = widened(longs, &ArrowType::Decimal128(21, 1));
        assert_eq!(
            decimals.as_primitive::<Decimal128Type>().value(0),
            92_233_720_368_547_758_070
        );
        let few = Decimal128Array::from(vec![12_345])
            .with_precision_and_scale(5, 2)
            .expect("it fits");
        let more = widened(Arc::new(few), &ArrowType::Decimal128(8, 4));
        assert_eq!(more.as_primitive::<Decimal128Type>().value(0), 1_234_500);
        let days = widened(
            Arc::new(Date32Array::from(vec![-1, 0, 2_932_896])),
            &ArrowType::Timestamp(TimeUnit::Microsecond, None),
        );
        let days = days.as_primitive::<TimestampMicrosecondType>();
        assert_eq!(
            days.values().to_vec(),
            [-MICROS_A_DAY, 0, 2_932_896 * MICROS_A_DAY]
        );
    }

    #[test]
    fn an_invalid_pair_is_an_error() {
        let ints: ArrayRef = Arc::new(Int32Array::from(vec![7]));
        for narrow in [
            ArrowType::Decimal128(10, 1),
            ArrowType::Float32,
            ArrowType::Utf8,
            ArrowType::Timestamp(TimeUnit::Microsecond, None),
        ] {
            assert!(widen(&ints, &narrow).is_none(), "{narrow}");
        }
        let longs: ArrayRef = Arc::new(Int64Array::from(vec![7]));
        assert!(widen(&longs, &ArrowType::Float64).is_none());
        let far: ArrayRef = Arc::new(Date32Array::from(vec![i32::MAX]));
        let never = widen(&far, &ArrowType::Timestamp(TimeUnit::Microsecond, None));
        assert!(never.is_some_and(|result| result.is_err()));
    }
}
