//! Handwritten tables, commits of deltaic to them, and tables that other implementations wrote.

pub mod data_file;
mod log_state;
pub mod maintenance;
mod opened;
pub mod own_commits;
pub mod reference_logs;
pub mod table_builder;
