//! What the files of one stream share: plans that are made once, and memory that is used again.

use deltaic_log::read_buffers::ReadBuffers;

use super::known_plans::KnownPlans;

/// Lives as long as its stream.
#[derive(Debug, Default)]
pub(super) struct AcrossFiles {
    pub(super) plans: KnownPlans,
    pub(super) buffers: ReadBuffers,
}
