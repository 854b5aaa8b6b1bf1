//! Expressions and predicates: parsing, binding and evaluation.
//!
//! `parse` converts SQL text to a [`Predicate`], `bind` resolves it against a schema and folds constants,
//! `evaluate` returns TRUE, FALSE or NULL for each row of a batch, by Spark's rules. Values are computed by `compute`, over
//! whole columns.

mod bind;
mod bound;
mod bound_value;
mod cast;
mod compute;
mod evaluate;
mod failure;
mod functions;
mod kernels;
mod literal;
mod operators;
mod padded;
mod parse;
#[cfg(test)]
mod reference;
mod span;
mod syntax;
mod time;

pub use bind::{JoinCondition, JoinKey, SOURCE, Side, Sides, TARGET};
pub use bound::{BoundPredicate, ComputedPart, Operand};
pub use bound_value::BoundValue;
pub use cast::assign::{NotKept, assigned_values, is_assignable};
pub use evaluate::evaluate;
pub use literal::{LikePattern, Scalar, ValueSet};
pub use operators::Comparison;
pub use parse::parse_predicate;
pub use span::Subject;
pub use syntax::{Predicate, ValueExpr};
pub use time::{format_date, format_timestamp, parse_date, parse_timestamp, parse_timestamp_ntz};

use evaluate::column;
use literal::order::compare_values;
