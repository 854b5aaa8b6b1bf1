//! The order of values.

use std::cmp::Ordering;

use crate::expr::literal::integers::integer;
use crate::expr::literal::value_set::{word_of_double, word_of_float};
use crate::expr::{Comparison, Scalar};

/// Compares two values of one type in Spark's order.
pub(in crate::expr) fn compare_values(op: Comparison, left: &Scalar, right: &Scalar) -> bool {
    let order = match (left, right) {
        (Scalar::Boolean(a), Scalar::Boolean(b)) => a.cmp(b),
        (Scalar::Float(a), Scalar::Float(b)) => word_of_float(*a).cmp(&word_of_float(*b)),
        (Scalar::Double(a), Scalar::Double(b)) => word_of_double(*a).cmp(&word_of_double(*b)),
        (Scalar::Decimal { unscaled: a, .. }, Scalar::Decimal { unscaled: b, .. }) => a.cmp(b),
        (Scalar::String(a), Scalar::String(b)) => a.cmp(b),
        (Scalar::Binary(a), Scalar::Binary(b)) => a.cmp(b),
        (Scalar::Date(a), Scalar::Date(b)) => a.cmp(b),
        (Scalar::Timestamp(a), Scalar::Timestamp(b)) | (Scalar::TimestampNtz(a), Scalar::TimestampNtz(b)) => {
            a.cmp(b)
        }
        (a, b) => integer(a).cmp(&integer(b)),
    };
    holds(op, order)
}

/// Whether a comparison holds for two values in this order.
pub(in crate::expr) fn holds(op: Comparison, order: Ordering) -> bool {
    match op {
        Comparison::Equal | Comparison::NullSafeEqual => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
    }
}
