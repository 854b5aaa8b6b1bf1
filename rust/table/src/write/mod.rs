//! Writes record batches to data files and creates their `add` actions.

mod check;
mod conditions;
mod data_file;
mod declared_length;
mod file_contents;
mod file_schema;
mod not_null;
mod pandas_index;
mod partition;
mod pieces;
mod statistics;
mod storable;
mod stream;
mod table_writer;
mod united_vectors;
mod validate;
mod vector_file;

pub use check::Incoming;
pub(crate) use file_contents::FileContents;
pub(crate) use storable::ensure_storable;
pub(crate) use stream::next_batch;
pub use table_writer::{TableWriter, Written};
pub(crate) use united_vectors::UnitedVectors;
pub use validate::{Checked, Fault, MAX_NESTING, validate_batch};
