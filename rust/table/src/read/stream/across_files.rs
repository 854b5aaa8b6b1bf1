//! State that the files of one stream share: cached plans and reusable buffers.

use crate::read::file::known_plans::KnownPlans;
use crate::read::parquet::read_buffers::ReadBuffers;

/// Lives as long as its stream.
#[derive(Debug, Default)]
pub(crate) struct AcrossFiles {
    pub(crate) plans: KnownPlans,
    pub(crate) buffers: ReadBuffers,
}
