//! Shared test utilities of the crates: handwritten tables in every form of a log, an oracle that is too simple to be
//! wrong, generated histories, a slow and failing store and network, and the contract of every committer. Never
//! published.

mod action_parquet;
pub mod catalog;
mod checkpoint_form;
pub mod checkpoint_reader;
pub mod checkpoint_writer;
pub mod checksum_writer;
pub mod committer_contract;
pub mod compaction_writer;
pub mod counted_memory;
pub mod data_file;
pub mod facts;
pub mod fault;
mod file_actions;
pub mod hold;
pub mod listing_form;
mod log_state;
pub mod maintenance;
mod opened;
pub mod oracle;
pub mod own_commits;
pub mod property;
pub mod recorded_files;
pub mod reference_logs;
pub mod remote_table;
pub mod requests;
pub mod scripted_network;
pub mod scripted_store;
pub mod secrets;
mod services;
mod steps;
pub mod store_clock;
pub mod strategies;
pub mod table_builder;
pub mod test_seed;
pub mod untrusted;
