//! Tests of casts.

use super::*;

fn text(value: &str) -> Scalar {
    Scalar::String(value.to_owned())
}

fn decimal(unscaled: i128, precision: u8, scale: u8) -> Scalar {
    Scalar::Decimal {
        unscaled,
        precision,
        scale,
    }
}

#[test]
fn no_decimal_is_infinite() {
    let to = PrimitiveType::Decimal {
        precision: 5,
        scale: 2,
    };
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(cast_or_missing(&Scalar::Double(value), to), Ok(None), "{value}");
    }
}

/// Spark computes another instant, so that TRY_CAST must not return NULL.
#[test]
fn numbers_beyond_the_instants_are_not_computed() {
    for value in [
        decimal(10i128.pow(20) - 1, 20, 0),
        Scalar::Long(9_999_999_999_999),
        Scalar::Long(i64::MIN),
    ] {
        let failure = cast(&value, PrimitiveType::Timestamp);
        assert!(
            matches!(failure, Err(Failure::Unsupported(_))),
            "{value:?}: {failure:?}"
        );
    }
    let of_double = cast(&Scalar::Double(9.3e12), PrimitiveType::Timestamp);
    assert!(matches!(of_double, Err(Failure::Invalid(_))), "{of_double:?}");
}

#[test]
fn casts_are_sparks() {
    let money = PrimitiveType::Decimal {
        precision: 5,
        scale: 2,
    };
    for (value, to, expected) in [
        (text(" 5 "), PrimitiveType::Integer, Some(Scalar::Integer(5))),
        (text("5.7"), PrimitiveType::Integer, None),
        (
            Scalar::Double(-5.7),
            PrimitiveType::Integer,
            Some(Scalar::Integer(-5)),
        ),
        (
            Scalar::Double(127.9),
            PrimitiveType::Byte,
            Some(Scalar::Byte(127)),
        ),
        (Scalar::Double(128.0), PrimitiveType::Byte, None),
        (Scalar::Double(f64::NAN), PrimitiveType::Long, None),
        (Scalar::Integer(300), PrimitiveType::Byte, None),
        (text("1.5d"), PrimitiveType::Double, Some(Scalar::Double(1.5))),
        (
            text("-inf"),
            PrimitiveType::Double,
            Some(Scalar::Double(f64::NEG_INFINITY)),
        ),
        (text("-nan"), PrimitiveType::Double, None),
        (text("0x1p3"), PrimitiveType::Double, None),
        (text("1.005"), money, Some(decimal(101, 5, 2))),
        (text("-1.005"), money, Some(decimal(-101, 5, 2))),
        (text("999.995"), money, None),
        (text("1e2"), money, Some(decimal(10_000, 5, 2))),
        (text("1e-9"), money, Some(decimal(0, 5, 2))),
        (text(""), money, None),
        (Scalar::Double(1.015), money, Some(decimal(102, 5, 2))),
        (
            decimal(575, 5, 2),
            PrimitiveType::Integer,
            Some(Scalar::Integer(5)),
        ),
        (text("YES"), PrimitiveType::Boolean, Some(Scalar::Boolean(true))),
        (
            Scalar::Boolean(true),
            PrimitiveType::Double,
            Some(Scalar::Double(1.0)),
        ),
        (
            Scalar::Integer(0),
            PrimitiveType::Boolean,
            Some(Scalar::Boolean(false)),
        ),
        (
            Scalar::Date(1),
            PrimitiveType::Timestamp,
            Some(Scalar::Timestamp(DAY)),
        ),
        (Scalar::Timestamp(-1), PrimitiveType::Date, Some(Scalar::Date(-1))),
        (decimal(150, 3, 2), PrimitiveType::String, Some(text("1.50"))),
        (Scalar::Date(0), PrimitiveType::String, Some(text("1970-01-01"))),
        (Scalar::Double(1e7), PrimitiveType::String, Some(text("1.0E7"))),
        (Scalar::Float(-0.0), PrimitiveType::String, Some(text("-0.0"))),
        (
            Scalar::Double(-1.5),
            PrimitiveType::Timestamp,
            Some(Scalar::Timestamp(-1_500_000)),
        ),
        (Scalar::Double(f64::NAN), PrimitiveType::Timestamp, None),
        (
            Scalar::Timestamp(1_500_000),
            PrimitiveType::Double,
            Some(Scalar::Double(1.5)),
        ),
        (
            decimal(15, 2, 1),
            PrimitiveType::Timestamp,
            Some(Scalar::Timestamp(1_500_000)),
        ),
        (Scalar::Integer(1), PrimitiveType::Binary, None),
        (
            decimal(10i128.pow(38) - 1, 38, 37),
            PrimitiveType::Integer,
            Some(Scalar::Integer(10)),
        ),
        (
            decimal(10i128.pow(38) - 1, 38, 37),
            PrimitiveType::Long,
            Some(Scalar::Long(9)),
        ),
        (
            decimal(10i128.pow(38) - 1, 38, 37),
            PrimitiveType::Timestamp,
            Some(Scalar::Timestamp(10_000_000)),
        ),
        (
            decimal(128 * 10i128.pow(36) - 1, 38, 36),
            PrimitiveType::Byte,
            None,
        ),
        (Scalar::Date(0), PrimitiveType::Integer, None),
    ] {
        assert_eq!(cast(&value, to).ok(), expected, "{value:?} to {to}");
    }
}
