//! State that the files of one stream share: cached plans and reusable buffers.

use super::known_plans::KnownPlans;
use super::read_buffers::ReadBuffers;

/// Lives as long as its stream.
#[derive(Debug, Default)]
pub(super) struct AcrossFiles {
    pub(super) plans: KnownPlans,
    pub(super) buffers: ReadBuffers,
}
