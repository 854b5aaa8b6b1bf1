//! Consumer of surviving file actions with all their fields, a few thousand at a time.

use std::future::Future;

use arrow_array::{RecordBatch, StructArray};
use deltaic_protocol::Result;

/// Consumes file actions.
pub(super) trait TakeActions: Send {
    /// Consumes adds of [`super::columns::add_schema`], with their existing `stats_parsed`.
    fn adds(
        &mut self,
        adds: &RecordBatch,
        parsed: Option<&StructArray>,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Consumes tombstones of [`super::columns::remove_schema`].
    fn removes(&mut self, removes: RecordBatch) -> impl Future<Output = Result<()>> + Send;
}
