//! Converts a value of a typed column of a shredded variant back to a variant.
//!
//! Parquet: *Variant Shredding*, the table of shredded value types.

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{
    date32_to_datetime, time64us_to_time, timestamp_ns_to_datetime, timestamp_us_to_datetime,
};
use arrow_array::types::{
    Date32Type, Decimal32Type, Decimal64Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType as ArrowType, TimeUnit};
use deltaic_protocol::schema::arrow_type_name;
use parquet_variant::{Uuid, Variant, VariantDecimal4, VariantDecimal8, VariantDecimal16};

use super::damaged::reported;

/// Whether values of a variant may be shredded into a column of this type.
pub(super) fn is_leaf(arrow: &ArrowType) -> bool {
    use ArrowType as A;
    match arrow {
        A::Boolean | A::Int8 | A::Int16 | A::Int32 | A::Int64 | A::Float32 | A::Float64 => true,
        A::Date32 | A::Utf8 | A::Binary | A::FixedSizeBinary(16) => true,
        A::Time64(TimeUnit::Microsecond) => true,
        A::Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, _) => true,
        A::Decimal32(_, scale) | A::Decimal64(_, scale) | A::Decimal128(_, scale) => *scale >= 0,
        _ => false,
    }
}

/// Returns the value of a row that is not NULL.
pub(super) fn leaf(array: &ArrayRef, row: usize) -> Result<Variant<'static, '_>, String> {
    use ArrowType as A;
    let far = || {
        format!(
            "a {} is out of the range of variants",
            arrow_type_name(array.data_type())
        )
    };
    Ok(match array.data_type() {
        A::Boolean => Variant::from(array.as_boolean().value(row)),
        A::Int8 => Variant::Int8(array.as_primitive::<Int8Type>().value(row)),
        A::Int16 => Variant::Int16(array.as_primitive::<Int16Type>().value(row)),
        A::Int32 => Variant::Int32(array.as_primitive::<Int32Type>().value(row)),
        A::Int64 => Variant::Int64(array.as_primitive::<Int64Type>().value(row)),
        A::Float32 => Variant::Float(array.as_primitive::<Float32Type>().value(row)),
        A::Float64 => Variant::Double(array.as_primitive::<Float64Type>().value(row)),
        A::Utf8 => Variant::from(array.as_string::<i32>().value(row)),
        A::Binary => Variant::Binary(array.as_binary::<i32>().value(row)),
        A::FixedSizeBinary(16) => {
            let bytes = array.as_fixed_size_binary().value(row);
            Variant::Uuid(Uuid::from_slice(bytes).map_err(|error| error.to_string())?)
        }
        A::Date32 => {
            let days = array.as_primitive::<Date32Type>().value(row);
            Variant::Date(date32_to_datetime(days).ok_or_else(far)?.date())
        }
        A::Time64(TimeUnit::Microsecond) => {
            let micros = array.as_primitive::<Time64MicrosecondType>().value(row);
            Variant::Time(time64us_to_time(micros).ok_or_else(far)?)
        }
        A::Timestamp(TimeUnit::Microsecond, zone) => {
            let micros = array.as_primitive::<TimestampMicrosecondType>().value(row);
            let moment = timestamp_us_to_datetime(micros).ok_or_else(far)?;
            match zone {
                Some(_) => Variant::TimestampMicros(moment.and_utc()),
                None => Variant::TimestampNtzMicros(moment),
            }
        }
        A::Timestamp(TimeUnit::Nanosecond, zone) => {
            let nanos = array.as_primitive::<TimestampNanosecondType>().value(row);
            let moment = timestamp_ns_to_datetime(nanos).ok_or_else(far)?;
            match zone {
                Some(_) => Variant::TimestampNanos(moment.and_utc()),
                None => Variant::TimestampNtzNanos(moment),
            }
        }
        A::Decimal32(precision, scale) => decimal(
            array.as_primitive::<Decimal32Type>().value(row),
            *precision,
            *scale,
        )?,
        A::Decimal64(precision, scale) => decimal(
            array.as_primitive::<Decimal64Type>().value(row),
            *precision,
            *scale,
        )?,
        A::Decimal128(precision, scale) => decimal(
            array.as_primitive::<Decimal128Type>().value(row),
            *precision,
            *scale,
        )?,
        other => return Err(format!("a variant has no values of type {other}")),
    })
}

/// Returns a decimal of the width of its column, whatever the Arrow type is.
fn decimal(unscaled: impl Into<i128>, precision: u8, scale: i8) -> Result<Variant<'static, 'static>, String> {
    let unscaled = unscaled.into();
    let too_many = || format!("a decimal has more than the {precision} digits of its column");
    let wrong = |error: ArrowError| reported(&error);
    let scale = u8::try_from(scale).map_err(|_| too_many())?;
    Ok(match precision {
        0..=9 => {
            let unscaled = i32::try_from(unscaled).map_err(|_| too_many())?;
            Variant::Decimal4(VariantDecimal4::try_new(unscaled, scale).map_err(wrong)?)
        }
        10..=18 => {
            let unscaled = i64::try_from(unscaled).map_err(|_| too_many())?;
            Variant::Decimal8(VariantDecimal8::try_new(unscaled, scale).map_err(wrong)?)
        }
        _ => Variant::Decimal16(VariantDecimal16::try_new(unscaled, scale).map_err(wrong)?),
    })
}
