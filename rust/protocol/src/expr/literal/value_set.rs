//! The values of IN, with a hash index.

use std::fmt;
use std::sync::Arc;

use hashbrown::HashSet;

use crate::expr::Scalar;

type Set<V> = HashSet<V, foldhash::fast::RandomState>;

/// Distinct values of one type in Spark's order. Clones share them.
#[derive(Clone)]
pub struct ValueSet {
    values: Arc<[Scalar]>,
    index: Arc<Index>,
}

/// The index of the values.
enum Index {
    /// Integers, dates, timestamps, and floating point numbers by their bits.
    Words(Set<i64>),
    Decimals(Set<i128>),
    /// Strings and bytes.
    Bytes(Set<Box<[u8]>>),
}

impl fmt::Debug for ValueSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}

impl PartialEq for ValueSet {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

/// One word for each value that fits into one: equal values have equal words, in Spark's order.
fn word(value: &Scalar) -> Option<i64> {
    Some(match value {
        Scalar::Boolean(value) => i64::from(*value),
        Scalar::Byte(value) => i64::from(*value),
        Scalar::Short(value) => i64::from(*value),
        Scalar::Integer(value) | Scalar::Date(value) => i64::from(*value),
        Scalar::Long(value) | Scalar::Timestamp(value) | Scalar::TimestampNtz(value) => *value,
        Scalar::Float(value) => word_of_float(*value),
        Scalar::Double(value) => word_of_double(*value),
        Scalar::Decimal { .. } | Scalar::String(_) | Scalar::Binary(_) => return None,
    })
}

/// NaN is greater than all numbers, and both zeros are equal.
pub(in crate::expr) fn word_of_double(value: f64) -> i64 {
    let value = if value.is_nan() {
        f64::NAN.abs()
    } else {
        value + 0.0
    };
    let bits = value.to_bits().cast_signed();
    // The bits of negative numbers have the opposite order.
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

/// The word of the double, which represents every float exactly.
pub(in crate::expr) fn word_of_float(value: f32) -> i64 {
    word_of_double(f64::from(value))
}

impl ValueSet {
    /// Creates a set of values of one type; duplicates are removed.
    #[must_use]
    pub fn new(mut values: Vec<Scalar>) -> Self {
        values.sort_by(|a, b| match (a, b) {
            (Scalar::String(a), Scalar::String(b)) => a.cmp(b),
            (Scalar::Binary(a), Scalar::Binary(b)) => a.cmp(b),
            (Scalar::Decimal { unscaled: a, .. }, Scalar::Decimal { unscaled: b, .. }) => a.cmp(b),
            (a, b) => word(a).cmp(&word(b)),
        });
        values.dedup_by(|a, b| match (word(a), word(b)) {
            (Some(a), Some(b)) => a == b,
            _ => a == b,
        });
        let bytes = |value: &Scalar| match value {
            Scalar::String(text) => Some(text.as_bytes().into()),
            Scalar::Binary(bytes) => Some(bytes.as_slice().into()),
            _ => None,
        };
        let index = match values.first() {
            Some(Scalar::Decimal { .. }) => Index::Decimals(
                values
                    .iter()
                    .filter_map(|value| match value {
                        Scalar::Decimal { unscaled, .. } => Some(*unscaled),
                        _ => None,
                    })
                    .collect(),
            ),
            Some(Scalar::String(_) | Scalar::Binary(_)) => {
                Index::Bytes(values.iter().filter_map(bytes).collect())
            }
            _ => Index::Words(values.iter().filter_map(word).collect()),
        };
        Self {
            values: values.into(),
            index: Arc::new(index),
        }
    }

    /// The values in ascending order; NaN is the largest number.
    #[must_use]
    pub fn values(&self) -> &[Scalar] {
        &self.values
    }

    pub(in crate::expr) fn has_word(&self, word: i64) -> bool {
        matches!(self.index.as_ref(), Index::Words(set) if set.contains(&word))
    }

    pub(in crate::expr) fn has_decimal(&self, unscaled: i128) -> bool {
        matches!(self.index.as_ref(), Index::Decimals(set) if set.contains(&unscaled))
    }

    pub(in crate::expr) fn has_bytes(&self, bytes: &[u8]) -> bool {
        matches!(self.index.as_ref(), Index::Bytes(set) if set.contains(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_retained_once_and_in_sparks_order() {
        let set = ValueSet::new(vec![
            Scalar::Double(f64::NAN),
            Scalar::Double(-0.0),
            Scalar::Double(f64::NEG_INFINITY),
            Scalar::Double(0.0),
            Scalar::Double(-f64::NAN),
            Scalar::Double(f64::INFINITY),
            Scalar::Double(-5e-324),
        ]);
        let shown: Vec<String> = set.values().iter().map(|value| format!("{value:?}")).collect();
        assert_eq!(
            shown,
            [
                "Double(-inf)",
                "Double(-5e-324)",
                "Double(-0.0)",
                "Double(inf)",
                "Double(NaN)"
            ]
        );
        for value in [f64::NAN, -f64::NAN, 0.0, -0.0, -5e-324] {
            assert!(set.has_word(word_of_double(value)), "{value}");
        }
        assert!(!set.has_word(word_of_double(5e-324)) && !set.has_bytes(b"") && !set.has_decimal(0));
    }
}
