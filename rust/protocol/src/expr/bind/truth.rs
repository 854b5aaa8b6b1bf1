//! Combines and tests the results of conditions.

use crate::expr::BoundPredicate;

pub(super) fn not(inner: BoundPredicate) -> BoundPredicate {
    BoundPredicate::Not(Box::new(inner))
}

/// Tests the result of a condition.
pub(in crate::expr) fn is(condition: BoundPredicate, truth: Option<bool>) -> BoundPredicate {
    match (condition, truth) {
        (BoundPredicate::Constant(value), truth) => BoundPredicate::Constant(Some(value == truth)),
        (BoundPredicate::Column(path), None) => BoundPredicate::IsNull(path),
        (condition, truth) => BoundPredicate::Is(Box::new(condition), truth),
    }
}

/// AND of two results.
pub(super) fn both(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}
