//! Casts between types as in Spark's ANSI mode: with the same result, or an error.

pub(in crate::expr) mod assign;
pub(in crate::expr) mod coercion;
mod exact_decimals;
pub(in crate::expr) mod known;
mod scalar;
pub(in crate::expr) mod texts;

pub(in crate::expr) use scalar::{cast, cast_or_missing, castable, double_of, typed_literal, with_34_digits};
