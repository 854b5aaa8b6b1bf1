//! The tombstones of a snapshot.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use deltaic_protocol::actions::columns::remove_schema;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::files_batch::typed_partitions;
use super::live::live_rows;
use super::state::Snapshot;
use crate::decode::checkpoint::Checkpoint;
use crate::reconcile::{NewerKeys, Survivors};

impl Snapshot {
    /// The tombstones, including expired ones: the log's columns, with typed partition values if the table is
    /// partitioned. Those of a checkpoint are read by this call. Must be called inside a runtime.
    ///
    /// Protocol: *Action Reconciliation*.
    pub async fn tombstones(&self) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        let all = self.all_removes().await?;
        let fields = self.partition_names();
        let mut batches = Vec::new();
        for survivors in &all {
            for batch in live_rows(survivors)? {
                batches.push(typed_partitions(&batch, &fields)?);
            }
        }
        let schema = typed_partitions(&RecordBatch::new_empty(remove_schema()), &fields)?.schema();
        Ok((schema, batches))
    }

    /// The removes that no newer action overrides, including those of the checkpoint, which is read by this call.
    pub(super) async fn all_removes(&self) -> Result<Vec<Survivors>> {
        let mut all: Vec<Survivors> = self.removes.to_vec();
        if let Some(checkpoint) = &self.checkpoint {
            let keys = self.newer_keys(checkpoint)?;
            let held = checkpoint.read_tombstones().await.map_err(|error| {
                if error.kind() == ErrorKind::StorageError {
                    error
                } else {
                    Error::new(
                        ErrorKind::CorruptLog,
                        format!("the tombstones of the checkpoint cannot be read: {error}"),
                    )
                    .with("version", checkpoint.files.version)
                    .hint("live files are not affected; restore the checkpoint from a backup")
                }
            })?;
            all.extend(held.into_iter().map(|files| keys.probe(&Survivors::all(files))));
        }
        Ok(all)
    }

    /// The keys of all actions newer than the snapshot's checkpoint.
    pub(crate) fn newer_keys(&self, checkpoint: &Checkpoint) -> Result<NewerKeys> {
        let of_commits = |survivors: &[Survivors]| -> Vec<_> {
            let of_commits = survivors
                .iter()
                .filter(|survivors| !survivors.files.spans.is_empty());
            of_commits.map(|survivors| survivors.files.clone()).collect()
        };
        let mut adds = of_commits(&self.adds);
        // The top-level file of a JSON checkpoint has lines too.
        adds.retain(|files| !checkpoint.adds.iter().any(|held| Arc::ptr_eq(held, files)));
        let (keys, _, _) = NewerKeys::reconcile(&adds, &of_commits(&self.removes))?;
        Ok(keys)
    }
}
