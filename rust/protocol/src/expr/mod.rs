//! Predicates: from text to an answer for every row.
//!
//! `parse` turns SQL text into a [`Predicate`], `bind` gives every name and literal the type that a schema asks
//! for, `evaluate` answers TRUE, FALSE or NULL for each row of a batch, by Spark's rules.

mod bind;
mod display;
mod evaluate;
mod parse;
mod predicate;
mod scalar;
mod time;

pub use bind::{BoundPredicate, Comparison, Operand};
pub use evaluate::evaluate;
pub use parse::parse_predicate;
pub use predicate::{Literal, Predicate, Term};
pub use scalar::Scalar;
pub use time::{format_date, format_timestamp, parse_date, parse_timestamp, parse_timestamp_ntz};
