//! What takes file actions that stand, a few thousand at a time, with every field.

use std::future::Future;

use arrow_array::{RecordBatch, StructArray};
use deltaic_protocol::Result;

/// Takes file actions.
pub(super) trait TakeActions: Send {
    /// Takes adds of [`super::columns::add_schema`], with the `stats_parsed` that they have where they come from.
    fn adds(
        &mut self,
        adds: &RecordBatch,
        parsed: Option<&StructArray>,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Takes tombstones of [`super::columns::remove_schema`].
    fn removes(&mut self, removes: RecordBatch) -> impl Future<Output = Result<()>> + Send;
}
