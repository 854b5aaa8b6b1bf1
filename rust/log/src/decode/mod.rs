//! Decoding of a log file's bytes to actions.

pub(crate) mod action_text;
mod actions_file;
pub mod checkpoint;
mod columns_builder;
pub mod commits;
pub(crate) mod distinct;
mod file_batch;
mod file_line;
mod json_text;
mod large_file;
mod line_files;
mod lines;
mod table_actions;

pub use actions_file::{ActionsFile, RowGroupPlace};
pub use columns_builder::StatisticsPlaces;
pub use file_batch::{FileBatch, Span, StatisticsSource};
pub use table_actions::TableActions;
