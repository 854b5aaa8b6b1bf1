//! Shared test utilities of the crates: handwritten tables in every form of a log, an oracle that is too simple to be
//! wrong, generated histories, a slow and failing store and network, and the contract of every committer. Never
//! published.

pub mod catalog;
pub mod committer_contract;
pub mod counted_memory;
pub mod facts;
mod generated;
mod log_files;
pub mod oracle;
pub mod secrets;
mod stores;
mod tables;
pub mod test_seed;
pub mod untrusted;

pub use generated::{property, strategies};
pub use log_files::{checkpoint_reader, checkpoint_writer, checksum_writer, compaction_writer};
pub use stores::{
    fault, hold, listing_form, recorded_files, remote_table, requests, scripted_network, scripted_store,
    store_clock,
};
pub use tables::{data_file, maintenance, own_commits, reference_logs, table_builder};
