//! Decoding of a log file's bytes to actions.

pub(crate) mod action_text;
pub mod checkpoint;
mod columns_builder;
pub mod commits;
mod file_batch;
mod file_line;
mod json_text;
mod large_file;
mod lines;
mod table_actions;

pub use columns_builder::StatisticsPlaces;
pub use file_batch::{FileBatch, Span, StatisticsSource};
pub use table_actions::TableActions;
