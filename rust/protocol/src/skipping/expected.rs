//! The result of a predicate that a row is to have.

use crate::expr::{Comparison, Operand};

/// The expected result: NOT inverts it, and NULL is neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    True,
    False,
}

impl Expected {
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
        }
    }
}

/// The comparison that must be true for two values that are not NULL; `None` if NULL may have the result
/// too.
pub(super) fn asked(op: Comparison, answer: Expected, left: &Operand, right: &Operand) -> Option<Comparison> {
    let one_is_a_value = matches!(left, Operand::Scalar(_)) || matches!(right, Operand::Scalar(_));
    Some(match (op, answer) {
        (Comparison::NullSafeEqual, Expected::True) if one_is_a_value => Comparison::Equal,
        (Comparison::NullSafeEqual, _) => return None,
        (op, Expected::True) => op,
        (Comparison::Equal, Expected::False) => Comparison::NotEqual,
        (Comparison::NotEqual, Expected::False) => Comparison::Equal,
        (Comparison::Less, Expected::False) => Comparison::GreaterOrEqual,
        (Comparison::LessOrEqual, Expected::False) => Comparison::Greater,
        (Comparison::Greater, Expected::False) => Comparison::LessOrEqual,
        (Comparison::GreaterOrEqual, Expected::False) => Comparison::Less,
    })
}
