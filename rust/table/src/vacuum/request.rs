//! What a vacuum is asked to do.

use std::sync::Arc;

use deltaic_protocol::Version;
use deltaic_storage::TableLocation;

use super::inventory::InventoryEntry;

/// Which files may be deleted if they are not needed.
#[derive(Clone, Debug, Default)]
pub enum Candidates {
    /// The files below the table's root.
    #[default]
    Listed,
    /// The files that the log removed since the last vacuum. The table is not listed; files that no commit names remain.
    Log,
    /// The files of an inventory, as reported by an object store.
    Inventory(Vec<InventoryEntry>),
}

/// Whether a retention shorter than the table's is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetentionCheck {
    /// It is refused.
    #[default]
    Enabled,
    /// It is used: nothing else writes the table, and nothing reads its older versions.
    Disabled,
}

/// Options of a vacuum.
#[derive(Clone, Debug, Default)]
pub struct VacuumRequest {
    /// How long files are retained, in milliseconds; `None` for the table's `delta.deletedFileRetentionDuration`.
    pub retention_ms: Option<i64>,
    /// Whether a shorter retention than the table's is refused.
    pub retention_check: RetentionCheck,
    /// Which files may be deleted.
    pub candidates: Candidates,
    /// Other tables whose logs name files of this one, as shallow clones do.
    pub clones: Vec<Arc<TableLocation>>,
    /// Versions whose data files and deletion vectors remain, so that they can be read afterwards.
    pub keep_versions: Vec<Version>,
    /// Whether to return only what would be deleted.
    pub dry_run: bool,
}
