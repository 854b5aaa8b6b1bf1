//! Log files in every form of the protocol, written and read by hand.

mod action_parquet;
pub(crate) mod checkpoint_form;
pub mod checkpoint_reader;
pub mod checkpoint_writer;
pub mod checksum_writer;
pub mod compaction_writer;
pub(crate) mod file_actions;
