//! Integers of fixed sizes, and which types are numbers.

use crate::expr::Scalar;
use crate::schema::PrimitiveType;

/// Whether a type is numeric.
pub(in crate::expr) fn is_numeric(data_type: PrimitiveType) -> bool {
    is_integral(data_type)
        || matches!(
            data_type,
            PrimitiveType::Float | PrimitiveType::Double | PrimitiveType::Decimal { .. }
        )
}

/// Whether a type is an integer of a fixed size.
pub(in crate::expr) fn is_integral(data_type: PrimitiveType) -> bool {
    matches!(
        data_type,
        PrimitiveType::Byte | PrimitiveType::Short | PrimitiveType::Integer | PrimitiveType::Long
    )
}

/// The value of an integer of a fixed size.
pub(in crate::expr) fn integer(value: &Scalar) -> Option<i64> {
    Some(match value {
        Scalar::Byte(value) => i64::from(*value),
        Scalar::Short(value) => i64::from(*value),
        Scalar::Integer(value) => i64::from(*value),
        Scalar::Long(value) => *value,
        _ => return None,
    })
}

/// An integer in a type of fixed size; `None` if it overflows.
pub(in crate::expr) fn whole(value: i128, to: PrimitiveType) -> Option<Scalar> {
    Some(match to {
        PrimitiveType::Byte => Scalar::Byte(i8::try_from(value).ok()?),
        PrimitiveType::Short => Scalar::Short(i16::try_from(value).ok()?),
        PrimitiveType::Integer => Scalar::Integer(i32::try_from(value).ok()?),
        PrimitiveType::Long => Scalar::Long(i64::try_from(value).ok()?),
        _ => return None,
    })
}
