//! Computes whole columns, with Spark's ANSI semantics, by Arrow's kernels and loops over arrays.

pub(in crate::expr) mod arithmetic;
mod cast;
pub(in crate::expr) mod decimals;
pub(in crate::expr) mod intervals;
pub(in crate::expr) mod negation;
pub(in crate::expr) mod nested;
pub(in crate::expr) mod text_tests;
mod values;

pub(in crate::expr) use cast::{cast_or_null, cast_values};
pub(in crate::expr) use values::{Values, by_row, primitive, scalars};
