//! Checks a commit for conflicts with a winning commit.

mod attempt;
mod check;
#[cfg(test)]
mod matrix_tests;
mod metadata_change;
mod shared_files;

pub use attempt::{Attempt, Granularity, SupportCheck};
pub use check::check;
#[cfg(test)]
pub(super) use check::{Rule, check_without};
