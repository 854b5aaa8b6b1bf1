//! What the files of one stream share: plans that are made once, and memory that is used again.

use super::known_plans::KnownPlans;
use super::read_buffers::ReadBuffers;

/// Lives as long as its stream.
#[derive(Debug, Default)]
pub(super) struct AcrossFiles {
    pub(super) plans: KnownPlans,
    pub(super) buffers: ReadBuffers,
}
