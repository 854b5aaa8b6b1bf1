//! What to load, and how.

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

/// What to load, and how.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) location: Arc<TableLocation>,
    pub(super) version: Option<Version>,
    pub(super) options: LoadOptions,
    pub(super) tail: features::LogTail,
    /// When the log was listed for this request, or earlier; `None` if it was not, or was listed for an older version.
    pub(super) listed: Option<Observed>,
}
