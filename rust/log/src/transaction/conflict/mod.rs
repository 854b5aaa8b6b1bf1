//! Checks a commit for conflicts with a winning commit.

mod attempt;
mod cause;
mod check;
#[cfg(test)]
mod matrix_tests;
mod metadata_change;
mod row_level;
mod shared_files;

pub use attempt::{Attempt, Granularity, SupportCheck};
pub use cause::ConflictCause;
pub use check::check;
#[cfg(test)]
pub(super) use check::{Rule, check_without};
pub use row_level::{SharedFile, UnitedVector, follow, unite};
