//! Expressions and predicates: parsing, binding and evaluation.
//!
//! `parse` converts SQL text to a [`Predicate`], `bind` resolves it against a schema and folds constants,
//! `evaluate` returns TRUE, FALSE or NULL for each row of a batch, by Spark's rules. Values are computed by `compute`, over
//! whole columns.

mod bind;
mod bound;
mod calendar;
mod coercion;
mod columns;
mod compute;
mod convert;
mod convert_literal;
mod current_time;
mod display;
mod evaluate;
mod failure;
mod function;
mod integers;
mod known;
mod like;
mod moments;
mod order;
mod padded;
mod parse;
mod predicate;
#[cfg(test)]
mod reference;
mod scalar;
mod sides;
mod span;
mod texts;
mod time;
mod time_reader;
mod value_expr;
mod values;
mod zones;

pub use bind::{JoinCondition, JoinKey};
pub use bound::{BoundPredicate, Comparison, ComputedPart, Operand};
pub use compute::{NotKept, assigned_values, is_assignable};
pub use evaluate::evaluate;
pub use like::LikePattern;
pub use parse::parse_predicate;
pub use predicate::Predicate;
pub use scalar::Scalar;
pub use sides::{SOURCE, Side, Sides, TARGET};
pub use time::{format_date, format_timestamp, parse_date, parse_timestamp, parse_timestamp_ntz};
pub use value_expr::{BoundValue, ValueExpr};
pub use values::ValueSet;

use evaluate::column;
use order::compare_values;
