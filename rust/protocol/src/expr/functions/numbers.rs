//! Functions of numbers.

use std::sync::Arc;

use arrow_array::Float64Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;

use super::call::Call;
use super::function::{Function, Laziness, values};
use super::signature::{Arguments, Signature, Types};
use crate::Result;
use crate::expr::Scalar;
use crate::expr::failure::{Failure, invalid};
use crate::expr::kernels::{Values, by_row, decimals, scalars};
use crate::expr::literal::integers::{integer, is_numeric, whole};
use crate::schema::PrimitiveType::{self, Double};

use Laziness::UntilNull;
use Signature::{Fixed, Of};

#[rustfmt::skip] // a table: a row each
pub(super) static FUNCTIONS: &[Function] = &[
    values(&[("abs", 1, 1)], Of(types_of_abs), UntilNull, |call| each(call, absolute)),
    values(&[("power", 2, 2), ("pow", 2, 2)], Fixed(&[Double, Double], Double), UntilNull, |call| {
        let [base, exponent] = call.arguments()?;
        doubles(base, call.rows, power, Some(exponent))
    }),
    values(&[("sqrt", 1, 1)], Fixed(&[Double], Double), UntilNull, |call| {
        let [value] = call.arguments()?;
        doubles(value, call.rows, |value, _| value.sqrt(), None)
    }),
];

type Computed<V> = std::result::Result<V, Failure>;

fn types_of_abs(call: &Arguments<'_>) -> Result<Types> {
    ensure_number(call)?;
    Ok(Types::new([call.number()], call.number()))
}

/// An argument of a type that is not primitive fails to be converted.
pub(super) fn ensure_number(call: &Arguments<'_>) -> Result<()> {
    match call.first() {
        Some(first) if !is_numeric(call.number()) => {
            call.invalid(call.at, format!("a number is expected, not {first}"))
        }
        _ => Ok(()),
    }
}

/// Computes a number from the first argument of each row.
pub(super) fn each(
    call: &Call<'_>,
    compute: impl Fn(&Scalar, PrimitiveType) -> Computed<Scalar>,
) -> Computed<Values> {
    let (from, to) = (call.type_of(0)?, call.to());
    let Some(values) = call.values.first() else {
        return super::call::wrong_number();
    };
    scalars(&[values], call.rows, to, |row| match values.scalar(row, from) {
        Some(value) => compute(&value, to).map(Some),
        None => Ok(None),
    })
}

fn doubles(
    values: &Values,
    rows: usize,
    compute: impl Fn(f64, f64) -> f64,
    other: Option<&Values>,
) -> Computed<Values> {
    let of = |values: &Values, row: usize| match values.scalar(row, PrimitiveType::Double) {
        Some(Scalar::Double(value)) => Some(value),
        _ => None,
    };
    match other {
        Some(other) => by_row::<_, Float64Array>(&[values, other], rows, |row| {
            Ok(of(values, row).zip(of(other, row)).map(|(a, b)| compute(a, b)))
        }),
        None => match values.array.as_primitive_opt::<Float64Type>() {
            Some(array) => {
                let computed: Float64Array = array.unary(|value| compute(value, 0.0));
                Ok(values.with(Arc::new(computed)))
            }
            None => invalid("a double is expected"),
        },
    }
}

/// The power as Java computes it: C has a number for powers of 1 and -1 that Java has not.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent.is_nan() || (base.abs() == 1.0 && exponent.is_infinite()) {
        return f64::NAN;
    }
    libm::pow(base, exponent)
}

pub(super) fn overflow(to: PrimitiveType) -> Failure {
    Failure::Invalid(format!("the result is out of the range of the type {to}"))
}

fn absolute(value: &Scalar, to: PrimitiveType) -> Computed<Scalar> {
    Ok(match value {
        Scalar::Float(value) => Scalar::Float(value.abs()),
        Scalar::Double(value) => Scalar::Double(value.abs()),
        Scalar::Decimal {
            unscaled,
            precision,
            scale,
        } => Scalar::Decimal {
            unscaled: match *unscaled < 0 {
                true => decimals::negated(*unscaled, to)?,
                false => *unscaled,
            },
            precision: *precision,
            scale: *scale,
        },
        other => {
            let number = i128::from(integer(other).unwrap_or_default());
            whole(number.abs(), to).ok_or_else(|| overflow(to))?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::power;

    #[test]
    fn powers_are_those_of_java() {
        for (base, exponent) in [(1.0, f64::NAN), (1.0, f64::INFINITY), (-1.0, f64::NEG_INFINITY)] {
            assert!(power(base, exponent).is_nan(), "{base} {exponent}");
        }
        assert_eq!(power(f64::NAN, 0.0).to_bits(), 1.0f64.to_bits());
    }
}
