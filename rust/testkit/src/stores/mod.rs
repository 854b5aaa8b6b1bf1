//! Slow and failing stores, networks and file systems that record their requests.

pub mod fault;
pub mod hold;
pub mod listing_form;
pub mod recorded_files;
pub mod remote_table;
pub mod requests;
pub mod scripted_network;
pub mod scripted_store;
mod services;
pub mod store_clock;
