//! A change of a table: propose, check what a winner did, propose again.

mod append;
mod commit_info;
mod conflict;
mod create;

pub use append::{Append, append};
pub use commit_info::{Operation, UserInfo};
pub use conflict::check_blind_append;
pub use create::{IfExists, NewTable, create};

use deltaic_protocol::Version;

/// A commit that was made.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The version it made.
    pub version: Version,
    /// When, in milliseconds since the epoch, by this machine's clock.
    pub timestamp_ms: i64,
    /// Its `commitInfo` as JSON text.
    pub commit_info: String,
    /// What a retry met on the way, for people.
    pub conflicts_resolved: Vec<String>,
}
