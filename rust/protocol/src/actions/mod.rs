//! The actions of the Delta log.
//!
//! Protocol: *Actions*. Rare actions are plain structs; file actions, of which a log can contain
//! millions, are decoded into Arrow columns and accessed through [`columns`].

mod add;
mod cdc;
pub mod columns;
mod commit_info;
mod domain_metadata;
mod json;
mod logical_file;
mod metadata;
pub(crate) mod object;
mod protocol;
mod remove;
mod sidecar;
mod text;
mod txn;

pub use crate::json_string::Text;
pub use add::{Add, AddLine};
pub use cdc::Cdc;
pub use commit_info::CommitInfo;
pub use domain_metadata::DomainMetadata;
pub use json::{ActionLine, parse_line};
pub use logical_file::LogicalFileKey;
pub use metadata::{Format, Metadata};
pub use protocol::Protocol;
pub use remove::{Remove, RemoveLine};
pub use sidecar::{CheckpointMetadata, Sidecar};
pub use text::PartitionText;
pub use txn::Txn;
