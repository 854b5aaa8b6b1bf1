//! The request to load a snapshot, and its options.

use std::sync::Arc;

use deltaic_protocol::{Version, features};

use crate::decode::commits::MAX_LINE_BYTES;
use deltaic_storage::clock::Observed;
use deltaic_storage::location::TableLocation;

/// Options of loading a table.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// Maximum length of a line of a commit, in bytes.
    pub max_line_bytes: usize,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            max_line_bytes: MAX_LINE_BYTES,
        }
    }
}

/// A request to load a snapshot.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) location: Arc<TableLocation>,
    pub(super) version: Option<Version>,
    pub(super) options: LoadOptions,
    pub(super) tail: features::CatalogTail,
    /// Time of the log's listing, or an earlier time; `None` if it was not listed, or only for an older version.
    pub(super) listed: Option<Observed>,
}
