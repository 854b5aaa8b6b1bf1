//! The row groups of the files of a checkpoint, and their common allowance.

use std::sync::Arc;

use super::allowance::Allowance;
use crate::decode::ActionsFile;

/// Maximum number of row groups fetched and decoded concurrently.
pub(super) const ROW_GROUPS_IN_FLIGHT: usize = 16;

pub(super) fn groups_of(files: &[Arc<ActionsFile>]) -> impl Iterator<Item = (Arc<ActionsFile>, usize)> + '_ {
    files
        .iter()
        .flat_map(|file| (0..file.row_groups()).map(move |group| (Arc::clone(file), group)))
}

/// Returns the common allowance for files.
pub(super) fn allowance_of(files: &[Arc<ActionsFile>]) -> Arc<Allowance> {
    let bytes = files.iter().map(|file| file.size());
    Arc::new(Allowance::of(bytes.fold(0, u64::saturating_add)))
}
