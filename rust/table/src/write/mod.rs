//! From record batches to data files and the `add` actions that name them.

mod append;
mod check;
mod data_file;
mod partition;
mod statistics;
mod table_writer;

pub use append::{AppendOptions, append_stream};
pub use check::Incoming;
pub use table_writer::{TableWriter, Written};
