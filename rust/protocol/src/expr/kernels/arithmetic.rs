//! Arithmetic with the types, precision and errors of Spark's ANSI mode.
//!
//! A [`Plan`] is made once from the types of both sides; it computes whole arrays.

use arrow_arith::numeric;
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float32Type, Float64Type};
use arrow_array::{Array, Date32Array, Decimal128Array};
use arrow_schema::ArrowError;

use super::cast::cast_values;
use super::decimals;
use super::decimals::Digits;
use super::values::{Values, by_row, scalars};
use crate::expr::Scalar;
use crate::expr::cast::cast;
use crate::expr::cast::coercion::wider;
use crate::expr::cast::known::{Known, by_zero};
use crate::expr::failure::{Failure, invalid};
use crate::expr::literal::integers::{is_integral, is_numeric};
use crate::expr::operators::Arithmetic;
use crate::schema::PrimitiveType;

/// How two sides are combined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::expr) struct Plan {
    op: Arithmetic,
    /// The types of both sides before they are cast to `common`.
    sides: [PrimitiveType; 2],
    kind: Kind,
    pub(in crate::expr) data_type: PrimitiveType,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Adds days to the date on this side, or subtracts them.
    Days {
        date: usize,
    },
    /// Integers or floating point numbers of one type.
    Native(PrimitiveType),
    Decimals(Digits, Digits),
}

/// Determines how `left op right` is computed.
pub(in crate::expr) fn plan(op: Arithmetic, left: &Known, right: &Known) -> Result<Plan, Failure> {
    use PrimitiveType::{Date, Decimal, Double, Float, Long, String, Void};
    let sides = [left.data_type, right.data_type];
    let plan = |kind, data_type| {
        Ok(Plan {
            op,
            sides,
            kind,
            data_type,
        })
    };
    let is_few = |data_type| is_integral(data_type) && data_type != Long;
    match (op, sides) {
        (Arithmetic::Add | Arithmetic::Subtract, [Date, days]) if is_few(days) => {
            return plan(Kind::Days { date: 0 }, Date);
        }
        (Arithmetic::Add, [days, Date]) if is_few(days) => return plan(Kind::Days { date: 1 }, Date),
        _ => {}
    }
    let mismatch = || {
        let [left, right] = sides;
        Failure::Invalid(format!(
            "the types {left} and {right} cannot be combined with {op}"
        ))
    };
    let number = |data_type| is_numeric(data_type) || data_type == Void;
    let [a, b] = match sides {
        [String, to] if is_numeric(to) => [wider(String, to).ok_or_else(mismatch)?, to],
        [to, String] if is_numeric(to) => [to, wider(String, to).ok_or_else(mismatch)?],
        [a, b] if number(a) && number(b) => [a, b],
        _ => return Err(mismatch()),
    };
    let is_floating = |data_type| matches!(data_type, Float | Double);
    if op == Arithmetic::Divide && matches!(sides, [Void, Decimal { .. }]) {
        return plan(Kind::Native(Double), Double);
    }
    if is_floating(a) || is_floating(b) {
        if op == Arithmetic::WholeQuotient {
            return invalid("DIV divides whole numbers and decimals");
        }
        let common = match (a, b) {
            (Float, Float) if op != Arithmetic::Divide => Float,
            (Float, Void) | (Void, Float) if op != Arithmetic::Divide => Float,
            _ => Double,
        };
        return plan(Kind::Native(common), common);
    }
    if matches!(a, Decimal { .. }) || matches!(b, Decimal { .. }) {
        // An untyped NULL has the type of the other operand.
        let (Some(x), Some(y)) = (
            left.digits().or_else(|| right.digits()),
            right.digits().or_else(|| left.digits()),
        ) else {
            return invalid("a number is expected");
        };
        return plan(Kind::Decimals(x, y), decimals::result_type(op, x, y));
    }
    if op == Arithmetic::Divide {
        return plan(Kind::Native(Double), Double);
    }
    let common = match wider(a, b) {
        Some(Void) | None => Double,
        Some(_) if op == Arithmetic::WholeQuotient => Long,
        Some(common) => common,
    };
    plan(Kind::Native(common), common)
}

/// `left op right` of constants.
pub(in crate::expr) fn compute(op: Arithmetic, left: &Known, right: &Known) -> Result<Known, Failure> {
    let plan = plan(op, left, right)?;
    let values = plan.apply(&Values::of_known(left), &Values::of_known(right), 1)?;
    Ok(Known::computed(values.scalar(0, plan.data_type), plan.data_type))
}

impl Plan {
    /// Computes the results of rows.
    pub(in crate::expr) fn apply(
        &self,
        left: &Values,
        right: &Values,
        rows: usize,
    ) -> Result<Values, Failure> {
        if [left, right]
            .iter()
            .any(|side| side.is_constant && side.is_null(0))
        {
            let nulls = Scalar::to_array(None, self.data_type);
            return Ok(Values::constant(nulls));
        }
        match self.kind {
            Kind::Days { date } => {
                let (dates, days) = if date == 0 { (left, right) } else { (right, left) };
                by_row::<_, Date32Array>(&[left, right], rows, |row| {
                    let (Some(date), Some(days)) = (dates.int(row), days.int(row)) else {
                        return Ok(None);
                    };
                    let days = if self.op == Arithmetic::Subtract {
                        -days
                    } else {
                        days
                    };
                    match i32::try_from(date + days) {
                        Ok(date) => Ok(Some(date)),
                        Err(_) => invalid("the date is out of range"),
                    }
                })
            }
            Kind::Native(common) => {
                // Only the operand that Spark evaluates first is cast if the other one is NULL.
                let (left, right) = match self.divides() {
                    true => {
                        let divisor = operand(right, self.sides, 1, common, rows, None)?;
                        (operand(left, self.sides, 0, common, rows, Some(right))?, divisor)
                    }
                    false => (
                        operand(left, self.sides, 0, common, rows, None)?,
                        operand(right, self.sides, 1, common, rows, Some(left))?,
                    ),
                };
                self.native(&left, &right, rows)
            }
            Kind::Decimals(x, y) => self.decimals((left, x), (right, y), rows),
        }
    }

    /// Whether the right side must not be zero.
    pub(in crate::expr) fn divides(&self) -> bool {
        matches!(
            self.op,
            Arithmetic::Divide | Arithmetic::Remainder | Arithmetic::WholeQuotient
        )
    }

    fn native(&self, left: &Values, right: &Values, rows: usize) -> Result<Values, Failure> {
        if self.divides() && divides_by_zero(left, right, rows) {
            return by_zero();
        }
        let (a, b) = (left.datum(), right.datum());
        let computed = match self.op {
            Arithmetic::Add => numeric::add(a.as_ref(), b.as_ref()),
            Arithmetic::Subtract => numeric::sub(a.as_ref(), b.as_ref()),
            Arithmetic::Multiply => numeric::mul(a.as_ref(), b.as_ref()),
            Arithmetic::Divide | Arithmetic::WholeQuotient => numeric::div(a.as_ref(), b.as_ref()),
            Arithmetic::Remainder => numeric::rem(a.as_ref(), b.as_ref()),
        };
        let array = computed.map_err(|error| of_arrow(&error, self.data_type))?;
        Ok(Values {
            array,
            is_constant: left.is_constant && right.is_constant,
        })
    }

    fn decimals(
        &self,
        (left, x): (&Values, Digits),
        (right, y): (&Values, Digits),
        rows: usize,
    ) -> Result<Values, Failure> {
        let (left_side, right_side) = (Unscaled::of(left), Unscaled::of(right));
        let pair = |row: usize| left_side.value(row).zip(right_side.value(row));
        if self.op == Arithmetic::WholeQuotient {
            return by_row::<_, arrow_array::Int64Array>(&[left, right], rows, |row| {
                let Some((a, b)) = pair(row) else {
                    return Ok(None);
                };
                let quotient = decimals::value(self.op, (a, x), (b, y), self.data_type)?;
                Ok(Some(
                    i64::try_from(quotient).map_err(|_| out_of_range(self.data_type))?,
                ))
            });
        }
        let mut values = by_row::<_, Decimal128Array>(&[left, right], rows, |row| match pair(row) {
            Some((a, b)) => decimals::value(self.op, (a, x), (b, y), self.data_type).map(Some),
            None => Ok(None),
        })?;
        values.set_decimal(self.data_type);
        Ok(values)
    }
}

/// The operand at an index as the common type. Strings beside an integer are cast to BIGINT; those of rows in which
/// `first` is NULL are not cast.
fn operand(
    values: &Values,
    sides: [PrimitiveType; 2],
    index: usize,
    common: PrimitiveType,
    rows: usize,
    first: Option<&Values>,
) -> Result<Values, Failure> {
    let [left, right] = sides;
    let (from, other) = if index == 0 { (left, right) } else { (right, left) };
    if from != PrimitiveType::String {
        return cast_values(values, from, common, rows);
    }
    let by = if is_integral(other) {
        PrimitiveType::Long
    } else {
        common
    };
    let inputs: Vec<&Values> = std::iter::once(values).chain(first).collect();
    let cast = scalars(&inputs, rows, by, |row| match values.scalar(row, from) {
        Some(value) if first.is_none_or(|first| !first.is_null(row)) => cast(&value, by).map(Some),
        _ => Ok(None),
    })?;
    cast_values(&cast, by, common, rows)
}

/// The unscaled values of decimals and integers.
struct Unscaled<'v> {
    values: &'v Values,
    decimals: Option<&'v Decimal128Array>,
}

impl<'v> Unscaled<'v> {
    fn of(values: &'v Values) -> Self {
        Self {
            values,
            decimals: values.array.as_primitive_opt::<Decimal128Type>(),
        }
    }

    fn value(&self, row: usize) -> Option<i128> {
        match self.decimals {
            Some(decimals) => {
                let at = self.values.at(row);
                decimals.is_valid(at).then(|| decimals.value(at))
            }
            None => self.values.int(row).map(i128::from),
        }
    }
}

/// Whether a row divides a value by zero.
fn divides_by_zero(left: &Values, right: &Values, rows: usize) -> bool {
    let array = &right.array;
    let any = |is_zero: &dyn Fn(usize) -> bool| {
        let row_count = if left.is_constant && right.is_constant {
            1
        } else {
            rows
        };
        match right.is_constant {
            true => array.is_valid(0) && is_zero(0) && (0..row_count).any(|row| !left.is_null(row)),
            false => (0..row_count).any(|row| is_zero(row) && array.is_valid(row) && !left.is_null(row)),
        }
    };
    if let Some(values) = array.as_primitive_opt::<Float64Type>() {
        any(&|at| values.value(at) == 0.0)
    } else if let Some(values) = array.as_primitive_opt::<Float32Type>() {
        any(&|at| values.value(at) == 0.0)
    } else {
        any(&|at| right.int(at) == Some(0))
    }
}

pub(in crate::expr) fn out_of_range(data_type: PrimitiveType) -> Failure {
    Failure::Invalid(format!("the result is out of the range of the type {data_type}"))
}

pub(in crate::expr) fn of_arrow(error: &ArrowError, data_type: PrimitiveType) -> Failure {
    match error {
        ArrowError::DivideByZero => Failure::Invalid("division by zero".to_owned()),
        _ => out_of_range(data_type),
    }
}
