//! Expressions and predicates: parsing, binding and evaluation.
//!
//! `parse` converts SQL text to a [`Predicate`] or a [`ValueExpr`] (`syntax`), `bind` resolves it against a schema and folds
//! constants (`bound`), and `evaluate` returns TRUE, FALSE or NULL, or a value, for each row of a batch, by Spark's rules. It
//! computes whole columns, by `kernels` and `functions`.

mod bind;
mod bound;
mod cast;
mod evaluate;
mod failure;
mod functions;
mod kernels;
mod literal;
mod operators;
mod parse;
#[cfg(test)]
mod reference;
mod span;
mod syntax;
mod time;

pub use bind::{JoinCondition, JoinKey, SOURCE, Side, Sides, TARGET};
pub use bound::{BoundPredicate, BoundValue, ComputedPart, Operand};
pub use cast::assign::{NotKept, assigned_values, is_assignable};
pub use evaluate::evaluate;
pub use literal::{LikePattern, Scalar, ValueSet};
pub use operators::Comparison;
pub use parse::parse_predicate;
pub use span::Subject;
pub use syntax::{Predicate, ValueExpr};
pub use time::{format_date, format_timestamp, parse_date, parse_timestamp, parse_timestamp_ntz};
