//! Writes record batches to data files and creates their `add` actions.

mod addable;
mod conform;
mod constrain;
mod data_file;
mod encode;
mod file_contents;
mod generate;
mod partition;
mod pieces;
mod plan;
mod row_stream;
mod spill;
mod storable;
mod table_writer;
mod upload;
mod validate;
mod vectors;
mod write_limits;
mod write_task;

pub(crate) use addable::ensure_addable;
pub use conform::Incoming;
pub(crate) use conform::is_index_without_name;
pub(crate) use file_contents::FileContents;
pub(crate) use generate::names as generated_names;
pub(crate) use plan::WritePlan;
pub use row_stream::RowStream;
pub(crate) use storable::ensure_storable;
pub use table_writer::{TableWriter, Written};
pub use validate::{Checked, Fault, MAX_NESTING, validate_batch};
pub(crate) use vectors::UnitedVectors;
pub use write_task::WriteTask;
