//! The assignment of values to columns of other types: between numbers, and from dates to timestamps.
//!
//! As Spark's ANSI store assignment, except that each value is kept: converted back, it is the same value. So 0.1 fits into
//! `decimal(10,2)`, and `decimal(10,2)` into `double`, if it has at most 15 digits.

use std::sync::Arc;

use arrow_array::builder::PrimitiveBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType as ArrowType;

use crate::expr::cast::coercion::decimal_for;
use crate::expr::cast::exact_decimals::{
    decimal_of_double, decimal_of_float, double_of_decimal, float_of_decimal,
};
use crate::expr::literal::integers::is_numeric;
use crate::schema::PrimitiveType;
use crate::shown_row::shown_value;
use crate::{Error, ErrorKind, Result};

/// Whether values of a type may be assigned to a column of another, if they are kept.
#[must_use]
pub fn is_assignable(from: PrimitiveType, to: PrimitiveType) -> bool {
    use PrimitiveType::{Date, Timestamp, TimestampNtz};
    from == to
        || (is_numeric(from) && is_numeric(to))
        || matches!((from, to), (Date, Timestamp | TimestampNtz))
}

/// Whether every value of a type is kept in another.
pub(in crate::expr) fn keeps_all(from: PrimitiveType, to: PrimitiveType) -> bool {
    use PrimitiveType::{Byte, Date, Decimal, Double, Float, Integer, Long, Short, Timestamp, TimestampNtz};
    match (from, to) {
        (Byte, Short | Integer | Long | Float | Double)
        | (Short, Integer | Long | Float | Double)
        | (Integer, Long | Double)
        | (Float, Double)
        | (Date, Timestamp | TimestampNtz) => true,
        (from, Decimal { precision, scale }) => decimal_for(from).is_some_and(|(digits, fraction)| {
            // A bigint has 19 digits; Spark counts 20.
            let digits = digits - u8::from(from == Long);
            fraction <= scale && digits - fraction <= precision.saturating_sub(scale)
        }),
        (from, to) => from == to,
    }
}

/// The first value that a type cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotKept {
    /// Its position in the array.
    pub row: usize,
}

impl NotKept {
    /// The error: a `SchemaMismatch` with the `field` and the `value`.
    #[must_use]
    pub fn error(self, column: &str, values: &ArrayRef, from: PrimitiveType, to: PrimitiveType) -> Error {
        let value = shown_value(values, self.row);
        let what = format!("the column {column} is {to}, which cannot hold the {from} {value}");
        Error::new(ErrorKind::SchemaMismatch, what)
            .with("field", column)
            .with("value", value)
    }
}

/// Converts numbers to another type; NULL stays NULL.
///
/// The outer error is internal: arrays of other types than these.
pub fn assigned_values(
    values: &ArrayRef,
    from: PrimitiveType,
    to: PrimitiveType,
) -> Result<std::result::Result<ArrayRef, NotKept>> {
    use PrimitiveType::{Decimal, Double, Float};
    macro_rules! each {
        ($from:ty, $to:ty, $convert:expr) => {{
            let found = each_of::<$from, $to>(values, $convert)?;
            Ok(match found {
                Ok(array) => Ok(Arc::new(array.with_data_type(to.to_arrow()?)) as ArrayRef),
                Err(refused) => Err(refused),
            })
        }};
    }
    match (from, to) {
        (Double, Decimal { precision, scale }) => {
            each!(Float64Type, Decimal128Type, |value| decimal_of_double(
                value, precision, scale
            ))
        }
        (Float, Decimal { precision, scale }) => {
            each!(Float32Type, Decimal128Type, |value| decimal_of_float(
                value, precision, scale
            ))
        }
        (Decimal { precision, scale }, Double) => {
            each!(Decimal128Type, Float64Type, |value| double_of_decimal((
                value, precision, scale
            )))
        }
        (Decimal { precision, scale }, Float) => {
            each!(Decimal128Type, Float32Type, |value| float_of_decimal((
                value, precision, scale
            )))
        }
        _ => by_arrow(values, from, to),
    }
}

/// Converts each value, up to the first for which there is none.
fn each_of<From: ArrowPrimitiveType, To: ArrowPrimitiveType>(
    values: &ArrayRef,
    convert: impl Fn(From::Native) -> Option<To::Native>,
) -> Result<std::result::Result<PrimitiveArray<To>, NotKept>> {
    let unfit = || {
        Error::internal(format!(
            "{} is not converted to {}",
            values.data_type(),
            To::DATA_TYPE
        ))
    };
    let values = values.as_primitive_opt::<From>().ok_or_else(unfit)?;
    let mut found = PrimitiveBuilder::<To>::with_capacity(values.len());
    for (row, value) in values.iter().enumerate() {
        match value.map(&convert) {
            None => found.append_null(),
            Some(Some(value)) => found.append_value(value),
            Some(None) => return Ok(Err(NotKept { row })),
        }
    }
    Ok(Ok(found.finish()))
}

/// Integers to other numbers, and between two kinds of decimals or floats: Arrow's conversions are exact, or differ from the
/// value when they are converted back.
fn by_arrow(
    values: &ArrayRef,
    from: PrimitiveType,
    to: PrimitiveType,
) -> Result<std::result::Result<ArrayRef, NotKept>> {
    let converted = converted(values, from, to)?;
    let back = converted_back(&converted, to, from, values.data_type())?;
    Ok(match first_difference(values, &back) {
        None => Ok(converted),
        Some(row) => Err(NotKept { row }),
    })
}

fn converted_back(
    values: &ArrayRef,
    from: PrimitiveType,
    to: PrimitiveType,
    arrow: &ArrowType,
) -> Result<ArrayRef> {
    let back = converted(values, from, to)?;
    match back.data_type() == arrow {
        true => Ok(back),
        false => Err(Error::internal(format!(
            "values of the type {to} are {arrow} instead of {}",
            back.data_type()
        ))),
    }
}

/// The nearest values of another type; NULL for those out of its range.
fn converted(values: &ArrayRef, from: PrimitiveType, to: PrimitiveType) -> Result<ArrayRef> {
    let options = CastOptions {
        safe: true,
        ..CastOptions::default()
    };
    cast_with_options(values, &to.to_arrow()?, &options)
        .map_err(|error| Error::internal(format!("{from} is cast to {to}: {error}")))
}

/// The first value that another array of the type does not have. NaN is equal to NaN.
fn first_difference(values: &ArrayRef, others: &ArrayRef) -> Option<usize> {
    fn of<T: ArrowPrimitiveType>(
        values: &ArrayRef,
        others: &ArrayRef,
        same: impl Fn(T::Native, T::Native) -> bool,
    ) -> Option<usize> {
        let (values, others) = (values.as_primitive_opt::<T>()?, others.as_primitive_opt::<T>()?);
        let differs = |(value, other): (Option<T::Native>, Option<T::Native>)| match (value, other) {
            (Some(value), Some(other)) => !same(value, other),
            (value, other) => value.is_some() != other.is_some(),
        };
        values.iter().zip(others.iter()).position(differs)
    }
    match values.data_type() {
        ArrowType::Int8 => of::<Int8Type>(values, others, |a, b| a == b),
        ArrowType::Int16 => of::<Int16Type>(values, others, |a, b| a == b),
        ArrowType::Int32 => of::<Int32Type>(values, others, |a, b| a == b),
        ArrowType::Int64 => of::<Int64Type>(values, others, |a, b| a == b),
        ArrowType::Decimal128(..) => of::<Decimal128Type>(values, others, |a, b| a == b),
        ArrowType::Float32 => of::<Float32Type>(values, others, |a, b| a == b || (a.is_nan() && b.is_nan())),
        ArrowType::Float64 => of::<Float64Type>(values, others, |a, b| a == b || (a.is_nan() && b.is_nan())),
        _ => (0..values.len()).next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Scalar;

    const NUMBERS: [PrimitiveType; 6] = [
        PrimitiveType::Byte,
        PrimitiveType::Short,
        PrimitiveType::Integer,
        PrimitiveType::Long,
        PrimitiveType::Float,
        PrimitiveType::Double,
    ];

    fn decimal(precision: u8, scale: u8) -> PrimitiveType {
        PrimitiveType::Decimal { precision, scale }
    }

    /// The text of the assigned value; `None` if it is not kept.
    fn assigned(text: &str, from: PrimitiveType, to: PrimitiveType) -> Option<String> {
        let value = Scalar::parse(text, from).expect("a value");
        let array = Scalar::to_array(Some(&value), from);
        let kept = assigned_values(&array, from, to)
            .expect("arrays of numbers")
            .ok()?;
        Scalar::of_row(&kept, 0, to)?.to_partition_text()
    }

    #[test]
    fn values_are_kept_or_refused() {
        use PrimitiveType::{Byte, Double, Float, Integer, Long};
        for (text, from, to, expected) in [
            ("5", Long, Integer, Some("5")),
            ("2147483648", Long, Integer, None),
            ("-128", Integer, Byte, Some("-128")),
            ("128", Integer, Byte, None),
            ("2.0", Double, Integer, Some("2")),
            ("-0.0", Double, Integer, Some("0")),
            ("1.5", Double, Integer, None),
            ("NaN", Double, Integer, None),
            ("Infinity", Double, Long, None),
            ("9223372036854775808", Double, Long, None),
            ("9007199254740992", Long, Double, Some("9007199254740992.0")),
            ("9007199254740993", Long, Double, None),
            ("9223372036854775807", Long, Double, None),
            ("16777217", Integer, Float, None),
            ("0.5", Double, Float, Some("0.5")),
            ("0.1", Double, Float, None),
            ("NaN", Double, Float, Some("NaN")),
            ("1e39", Double, Float, None),
            ("5", Integer, decimal(10, 2), Some("5.00")),
            ("5", Long, decimal(2, 1), Some("5.0")),
            ("50", Long, decimal(2, 1), None),
            ("1.2500", decimal(20, 4), decimal(10, 2), Some("1.25")),
            ("1.2550", decimal(20, 4), decimal(10, 2), None),
            ("123456789.0000", decimal(20, 4), decimal(10, 2), None),
            ("2.00", decimal(10, 2), Integer, Some("2")),
            ("2.01", decimal(10, 2), Integer, None),
            ("0.10", decimal(10, 2), Double, Some("0.1")),
            ("0.10", decimal(10, 2), Float, Some("0.1")),
            ("1234567890123456.7891", decimal(20, 4), Double, None),
            ("0.1", Double, decimal(10, 2), Some("0.10")),
            ("0.1", Float, decimal(10, 2), Some("0.10")),
            ("0.125", Double, decimal(10, 2), None),
            ("NaN", Double, decimal(10, 2), None),
            (
                "1152921504606846976",
                Double,
                decimal(20, 0),
                Some("1152921504606846976"),
            ),
            (
                "1152921504606846976",
                decimal(20, 0),
                Double,
                Some("1.152921504606847e18"),
            ),
            ("1152921504606846977", decimal(20, 0), Double, None),
            ("1e30", Double, decimal(10, 2), None),
        ] {
            let found = assigned(text, from, to);
            assert_eq!(found.as_deref(), expected, "{text} from {from} to {to}");
        }
    }

    #[test]
    fn types_that_keep_all_values_keep_their_extremes() {
        let numbers = || {
            let decimals = [
                decimal(3, 0),
                decimal(5, 2),
                decimal(10, 0),
                decimal(19, 0),
                decimal(38, 10),
            ];
            NUMBERS.into_iter().chain(decimals)
        };
        let extremes = |data_type: PrimitiveType| match data_type {
            PrimitiveType::Byte => vec!["-128".to_owned(), "127".to_owned()],
            PrimitiveType::Short => vec!["-32768".to_owned(), "32767".to_owned()],
            PrimitiveType::Integer => vec!["-2147483648".to_owned(), "2147483647".to_owned()],
            PrimitiveType::Long => vec![i64::MIN.to_string(), i64::MAX.to_string()],
            PrimitiveType::Float => vec!["3.4028235e38".to_owned(), "0.1".to_owned()],
            PrimitiveType::Double => vec!["1.7976931348623157e308".to_owned(), "0.1".to_owned()],
            PrimitiveType::Decimal { precision, scale } => {
                let digits = "9".repeat(usize::from(precision));
                let (whole, fraction) = digits.split_at(usize::from(precision - scale));
                vec![match scale {
                    0 => whole.to_owned(),
                    _ => format!("{whole}.{fraction}"),
                }]
            }
            _ => Vec::new(),
        };
        for from in numbers() {
            for to in numbers().filter(|to| *to != from) {
                assert!(is_assignable(from, to), "{from} to {to}");
                let kept = extremes(from)
                    .iter()
                    .all(|text| assigned(text, from, to).is_some());
                // A type of integers may hold all decimals of few digits.
                assert!(kept || !keeps_all(from, to), "{from} to {to}");
                assert!(
                    !kept || keeps_all(from, to) || decimal_for(from).is_some(),
                    "{from} to {to}"
                );
            }
        }
    }
}
