//! The findings of a check, and what they mean. They do not depend on the files that are checked.

pub mod diagnosis;
pub(super) mod finding;
pub(super) mod severity;
