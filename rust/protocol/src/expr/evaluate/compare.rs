//! Compares a column with a value or another column.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Datum, PrimitiveArray, RecordBatch};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_ord::cmp;

use super::columns::column_of;
use super::failed::failed;
use super::truth::is;
use crate::Result;
use crate::expr::{Comparison, Operand, Scalar};
use crate::schema::PrimitiveType;

/// `left op right` for each row.
pub(super) fn compare(
    op: Comparison,
    left: &Operand,
    right: &Operand,
    common: PrimitiveType,
    batch: &RecordBatch,
) -> Result<BooleanArray> {
    let (left, right) = (side(left, batch, common)?, side(right, batch, common)?);
    match common {
        PrimitiveType::Float => Ok(floats::<Float32Type>(op, &left, &right, batch.num_rows())),
        PrimitiveType::Double => Ok(floats::<Float64Type>(op, &left, &right, batch.num_rows())),
        _ => {
            let (left, right) = (left.datum(), right.datum());
            let (left, right) = (left.as_ref(), right.as_ref());
            match op {
                Comparison::Equal => cmp::eq(left, right),
                Comparison::NotEqual => cmp::neq(left, right),
                Comparison::Less => cmp::lt(left, right),
                Comparison::LessOrEqual => cmp::lt_eq(left, right),
                Comparison::Greater => cmp::gt(left, right),
                Comparison::GreaterOrEqual => cmp::gt_eq(left, right),
                Comparison::NullSafeEqual => cmp::not_distinct(left, right),
            }
            .map_err(failed)
        }
    }
}

/// An operand, with values of the type of the comparison.
enum Side {
    Rows(ArrayRef),
    /// The same value for each row.
    One(ArrayRef),
}

impl Side {
    fn datum(&self) -> Box<dyn Datum> {
        match self {
            Self::Rows(rows) => Box::new(Arc::clone(rows)),
            Self::One(one) => Box::new(arrow_array::Scalar::new(Arc::clone(one))),
        }
    }
}

fn side(operand: &Operand, batch: &RecordBatch, common: PrimitiveType) -> Result<Side> {
    Ok(match operand {
        Operand::Column(path) => Side::Rows(column_of(batch, path, common)?),
        Operand::Scalar(scalar) => Side::One(Scalar::to_array(Some(scalar), common)),
    })
}

/// A floating point number in Spark's order: NaN equals itself and is greater than all others, and both
/// zeros are equal. Arrow compares bits instead.
trait Floating: ArrowPrimitiveType {
    fn is_nan(value: Self::Native) -> bool;
}

impl Floating for Float32Type {
    fn is_nan(value: f32) -> bool {
        value.is_nan()
    }
}

impl Floating for Float64Type {
    fn is_nan(value: f64) -> bool {
        value.is_nan()
    }
}

fn floats<T: Floating>(op: Comparison, left: &Side, right: &Side, rows: usize) -> BooleanArray
where
    T::Native: PartialOrd,
{
    let of = |side: &Side| match side {
        Side::Rows(array) | Side::One(array) => array.as_primitive_opt::<T>().cloned(),
    };
    let (Some(a), Some(b)) = (of(left), of(right)) else {
        return BooleanArray::new_null(rows);
    };
    let (Side::Rows(_), Side::Rows(_)) = (left, right) else {
        return match (left, right) {
            (Side::Rows(_), _) => beside_one::<T>(op, &a, &b),
            (_, Side::Rows(_)) => beside_one::<T>(op.mirrored(), &b, &a),
            _ => BooleanArray::new_null(rows),
        };
    };
    let (x, y) = (a.values(), b.values());
    let equal = |row: usize| x[row] == y[row] || (T::is_nan(x[row]) && T::is_nan(y[row]));
    let less = |row: usize| x[row] < y[row] || (T::is_nan(y[row]) && !T::is_nan(x[row]));
    let more = |row: usize| x[row] > y[row] || (T::is_nan(x[row]) && !T::is_nan(y[row]));
    let length = a.len();
    let answers = match op {
        Comparison::Equal | Comparison::NullSafeEqual => BooleanBuffer::collect_bool(length, equal),
        Comparison::NotEqual => BooleanBuffer::collect_bool(length, |row| !equal(row)),
        Comparison::Less => BooleanBuffer::collect_bool(length, less),
        Comparison::LessOrEqual => BooleanBuffer::collect_bool(length, |row| !more(row)),
        Comparison::Greater => BooleanBuffer::collect_bool(length, more),
        Comparison::GreaterOrEqual => BooleanBuffer::collect_bool(length, |row| !less(row)),
    };
    if op == Comparison::NullSafeEqual {
        let all = NullBuffer::new_valid(length);
        let (known_a, known_b) = (
            a.nulls().unwrap_or(&all).inner(),
            b.nulls().unwrap_or(&all).inner(),
        );
        let both_known = known_a & known_b;
        let both_null = &!known_a & &!known_b;
        return BooleanArray::new(&(&answers & &both_known) | &both_null, None);
    }
    BooleanArray::new(answers, NullBuffer::union(a.nulls(), b.nulls()))
}

/// Compares a column with one number. If that is not NaN, hardware comparisons have Spark's order except
/// for NaN in the column, which is greater: values that are not less are greater or equal.
fn beside_one<T: Floating>(
    op: Comparison,
    values: &PrimitiveArray<T>,
    one: &PrimitiveArray<T>,
) -> BooleanArray
where
    T::Native: PartialOrd,
{
    let Some(one) = one.iter().next().flatten() else {
        return BooleanArray::new_null(values.len());
    };
    let answers = if T::is_nan(one) {
        match op {
            Comparison::Equal | Comparison::NullSafeEqual | Comparison::GreaterOrEqual => {
                BooleanArray::from_unary(values, T::is_nan)
            }
            Comparison::NotEqual | Comparison::Less => BooleanArray::from_unary(values, |x| !T::is_nan(x)),
            Comparison::LessOrEqual => BooleanArray::from_unary(values, |_| true),
            Comparison::Greater => BooleanArray::from_unary(values, |_| false),
        }
    } else {
        match op {
            Comparison::Equal | Comparison::NullSafeEqual => BooleanArray::from_unary(values, |x| x == one),
            Comparison::NotEqual => BooleanArray::from_unary(values, |x| x != one),
            Comparison::Less => BooleanArray::from_unary(values, |x| x < one),
            Comparison::LessOrEqual => BooleanArray::from_unary(values, |x| x <= one),
            #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "NaN is above every number")]
            Comparison::Greater => BooleanArray::from_unary(values, |x| !(x <= one)),
            #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "NaN is above every number")]
            Comparison::GreaterOrEqual => BooleanArray::from_unary(values, |x| !(x < one)),
        }
    };
    if op == Comparison::NullSafeEqual {
        return is(&answers, Some(true));
    }
    answers
}
