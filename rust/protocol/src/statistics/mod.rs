//! Statistics of data files.
//!
//! Protocol: *Per-file Statistics*. Statistics are optional: text that cannot be parsed and invalid
//! values count as absent.

mod as_text;
mod bounds;
mod builder;
mod column_builder;
mod columns;
mod leaf_builders;
mod one_pass;
mod ordinary;
mod scanner;
mod schema;
mod structs;
mod text;
mod times;
mod typed;
mod words;

pub use bounds::{STRING_PREFIX, lower_bound, upper_bound};
pub use builder::{StatisticsBuilder, StatisticsText};
pub use columns::StatisticsColumns;
pub(crate) use schema::Nulls;
pub use schema::StatisticsSchema;
pub use text::{Statistics, num_records};
pub use times::{Cut, day_text, time_text};

#[cfg(test)]
mod reference_tests;
#[cfg(test)]
mod structs_tests;
