//! The common type of two values, by the rules of Spark's ANSI mode.

use crate::expr::literal::integers::{is_integral, is_numeric};
use crate::schema::PrimitiveType;

/// The decimal type that can represent every value of an integer type.
pub(in crate::expr) fn decimal_for(data_type: PrimitiveType) -> Option<(u8, u8)> {
    Some(match data_type {
        PrimitiveType::Byte => (3, 0),
        PrimitiveType::Short => (5, 0),
        PrimitiveType::Integer => (10, 0),
        PrimitiveType::Long => (20, 0),
        PrimitiveType::Decimal { precision, scale } => (precision, scale),
        _ => return None,
    })
}

/// The common type of two types, as Spark selects it; `None` if there is none or if decimals would lose
/// digits. For an untyped NULL, it is the other type.
pub(in crate::expr) fn wider(left: PrimitiveType, right: PrimitiveType) -> Option<PrimitiveType> {
    use PrimitiveType::{Boolean, Date, Decimal, Double, Float, Long, String, Timestamp, TimestampNtz, Void};
    if left == right {
        return Some(left);
    }
    let rank = |data_type| {
        let order = [
            PrimitiveType::Byte,
            PrimitiveType::Short,
            PrimitiveType::Integer,
            Long,
        ];
        order.into_iter().position(|known| known == data_type)
    };
    match (left, right) {
        (Void, other) | (other, Void) => Some(other),
        (String, other) | (other, String) => match other {
            _ if is_integral(other) => Some(Long),
            _ if is_numeric(other) => Some(Double),
            Boolean | PrimitiveType::Binary | Date | Timestamp | TimestampNtz => Some(other),
            _ => None,
        },
        (a, b) if is_integral(a) && is_integral(b) => Some(if rank(a) < rank(b) { b } else { a }),
        (Float | Double, b) if is_numeric(b) => Some(Double),
        (a, Float | Double) if is_numeric(a) => Some(Double),
        (a, b) if is_numeric(a) && is_numeric(b) => {
            let ((left_precision, left_scale), (right_precision, right_scale)) =
                (decimal_for(a)?, decimal_for(b)?);
            let scale = left_scale.max(right_scale);
            let whole = left_precision
                .saturating_sub(left_scale)
                .max(right_precision.saturating_sub(right_scale));
            let precision = whole.checked_add(scale)?;
            (precision <= 38).then_some(Decimal { precision, scale })
        }
        (Timestamp, Date | TimestampNtz) | (Date | TimestampNtz, Timestamp) => Some(Timestamp),
        (TimestampNtz, Date) | (Date, TimestampNtz) => Some(TimestampNtz),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_meet_as_in_spark() {
        use PrimitiveType::{
            Binary, Boolean, Byte, Date, Double, Float, Integer, Long, Short, String, Timestamp,
            TimestampNtz, Void,
        };
        let decimal = |precision, scale| PrimitiveType::Decimal { precision, scale };
        for (left, right, expected) in [
            (Byte, Integer, Some(Integer)),
            (Long, Short, Some(Long)),
            (Integer, Float, Some(Double)),
            (Float, Double, Some(Double)),
            (Float, decimal(5, 2), Some(Double)),
            (Integer, decimal(5, 2), Some(decimal(12, 2))),
            (decimal(10, 2), decimal(4, 3), Some(decimal(11, 3))),
            (decimal(38, 10), decimal(38, 0), None),
            (String, Integer, Some(Long)),
            (decimal(5, 2), String, Some(Double)),
            (Date, String, Some(Date)),
            (Binary, String, Some(Binary)),
            (Date, Timestamp, Some(Timestamp)),
            (TimestampNtz, Timestamp, Some(Timestamp)),
            (Date, TimestampNtz, Some(TimestampNtz)),
            (Void, Boolean, Some(Boolean)),
            (Boolean, Integer, None),
            (Date, Integer, None),
            (Binary, Integer, None),
        ] {
            assert_eq!(wider(left, right), expected, "{left} {right}");
            assert_eq!(wider(right, left), expected, "{right} {left}");
        }
    }
}
