//! Looks up the keys of rows of the table among those of the source, on all cores.

use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use arrow_array::{ArrayRef, RecordBatch};
use deltaic_protocol::Result;
use deltaic_protocol::expr::TARGET;
use deltaic_storage::fault::caught;
use futures::{Stream, StreamExt};

use super::key_index::KeyIndex;
use crate::operations::merge::sides::{side, target_rows};
use crate::read::BatchStream;

/// Finds the rows of a source by the keys of rows of the table.
#[derive(Clone)]
pub(in crate::operations::merge) struct Probe(Option<Arc<KeyIndex>>);

/// Rows of the table, and those of them that have the key of a row of the source, each with the first of these.
pub(in crate::operations::merge) struct Probed {
    pub(in crate::operations::merge) batch: RecordBatch,
    pub(in crate::operations::merge) found: Vec<(u32, u32)>,
}

impl Probe {
    /// Finds nothing without an index: every row of the source must then be compared.
    pub(in crate::operations::merge) fn new(index: Option<Arc<KeyIndex>>) -> Self {
        Self(index)
    }

    /// The rows that have the key of a row of the source, each with the first of these.
    ///
    /// # Errors
    ///
    /// Those of evaluating the keys.
    pub(in crate::operations::merge) fn first_matches(&self, target: &ArrayRef) -> Result<Vec<(u32, u32)>> {
        match &self.0 {
            Some(index) => index.first_matches(&side(TARGET, Arc::clone(target))?),
            None => Ok(Vec::new()),
        }
    }

    fn batch(&self, batch: RecordBatch) -> Result<Probed> {
        let found = self.first_matches(&target_rows(&batch)?)?;
        Ok(Probed { batch, found })
    }

    /// Looks up the rows of batches, several at once, in their order. Must be called inside a runtime.
    pub(in crate::operations::merge) fn all(
        self,
        batches: BatchStream,
    ) -> impl Stream<Item = Result<Probed>> + Unpin {
        let cores = available_parallelism().map_or(1, NonZero::get);
        let probed = batches.map(move |batch| {
            let probe = self.clone();
            async move {
                let batch = batch?;
                let probed = tokio::spawn(async move { probe.batch(batch) });
                probed.await.unwrap_or_else(|_| Err(caught()))
            }
        });
        probed.buffered(cores).boxed()
    }
}
