//! Bound expressions: resolved columns and typed values, as one tree of conditions and computed values.
//!
//! [`BoundPredicate`] has a closed form over columns, by which data skipping judges it. Other conditions are
//! [`ComputedPart`]s.

mod computed;
mod condition;
mod display;
mod padded;
mod predicate;
mod tree;
mod value;

pub(super) use computed::operand_name;
pub(super) use padded::trimmed;
pub use tree::{BoundPredicate, ComputedPart, Operand};
pub(super) use tree::{Compared, Computed, Node, PaddedComparison, Test};
pub use value::BoundValue;
