//! Generated histories of a table, and the properties that are tested with them.

pub mod property;
mod steps;
pub mod strategies;
