//! Writes record batches to data files and creates their `add` actions.

mod append;
mod check;
mod data_file;
mod give_up;
mod not_null;
mod owner_process;
mod pandas_index;
mod partition;
mod pieces;
mod statistics;
mod storable;
mod table_writer;
mod united_vectors;
mod validate;
mod vector_file;

pub use append::append_stream;
pub(crate) use append::write_stream;
pub use check::Incoming;
pub(crate) use give_up::{give_up, names_no_file};
pub use owner_process::OwnerProcess;
pub(crate) use storable::ensure_storable;
pub use table_writer::{TableWriter, Written};
pub(crate) use united_vectors::UnitedVectors;
pub use validate::{Checked, Fault, MAX_NESTING, validate_batch};
