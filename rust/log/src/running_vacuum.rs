//! Finds a vacuum that may still delete files.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use deltaic_protocol::actions::columns::KeyColumns;
use deltaic_protocol::actions::{Add, CommitInfo, LogicalFileKey};
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::properties::tombstone_retention_ms;
use deltaic_protocol::{Result, Version};
use deltaic_storage::TableLocation;
use futures::StreamExt;

use crate::history::read_commit_info;
use crate::listing::{Listing, LogFile};
use crate::snapshot::Snapshot;
use crate::transaction::Operation;

const COMMITS_IN_FLIGHT: usize = 16;

/// After this time, a vacuum that did not record its end is regarded as failed: a day, more than deleting millions of
/// files from an object store takes.
const LONGEST_VACUUM_MS: i64 = 24 * 3_600_000;

/// A vacuum without an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningVacuum {
    /// The version that records its start; of several vacuums, the newest start.
    pub version: Version,
    /// The shortest retention in milliseconds, if one was specified.
    specified_ms: Option<i64>,
}

impl RunningVacuum {
    /// Returns the newest recorded vacuum of the last 24 hours that did not record its end. Reads the commits of this
    /// time only.
    ///
    /// # Errors
    ///
    /// `StorageError`; `CorruptLog` for a commit that cannot be read.
    pub async fn find(location: &Arc<TableLocation>, now_ms: i64) -> Result<Option<Self>> {
        let listing = Listing::whole(location).await?;
        let since_ms = now_ms.saturating_sub(LONGEST_VACUUM_MS);
        let young = listing.commits().rev();
        let young: Vec<_> = young.take_while(|file| file.modified_ms >= since_ms).collect();
        let read = |file: &Arc<LogFile>| {
            let (location, file) = (Arc::clone(location), Arc::clone(file));
            async move {
                let info = read_commit_info(&location, &file).await;
                info.map(|info| (file.path.version, info))
            }
        };
        let reads: Vec<_> = young.into_iter().map(read).collect();
        let mut infos = futures::stream::iter(reads).buffered(location.at_once(COMMITS_IN_FLIGHT));
        // Each end belongs to a start before it: two vacuums may run at once.
        let mut ends = 0_usize;
        let mut found: Option<Self> = None;
        while let Some(read) = infos.next().await {
            let (version, info) = read?;
            let info = info.and_then(|text| serde_json::from_str::<CommitInfo>(&text).ok());
            let operation = info.as_ref().and_then(|info| info.operation.as_deref());
            match operation.and_then(Operation::parse) {
                Some(Operation::VacuumEnd) => ends = ends.saturating_add(1),
                Some(Operation::VacuumStart) if ends > 0 => ends = ends.saturating_sub(1),
                Some(Operation::VacuumStart) => {
                    let specified_ms = info.as_ref().and_then(specified_ms);
                    let newest = found.get_or_insert(Self {
                        version,
                        specified_ms,
                    });
                    // The shortest retention of all.
                    newest.specified_ms = newest.specified_ms.into_iter().chain(specified_ms).min();
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// Returns the number of files that the vacuum may delete, because no tombstone of the version younger than the
    /// retention names them.
    ///
    /// # Errors
    ///
    /// `CorruptLog` for an invalid property or tombstones that cannot be read; `StorageError`.
    pub async fn threatened<'a>(
        &self,
        snapshot: &Snapshot,
        files: impl Iterator<Item = &'a Add>,
        now_ms: i64,
    ) -> Result<usize> {
        let retention_ms = tombstone_retention_ms(snapshot.metadata())?;
        let retention_ms = self.specified_ms.map_or(retention_ms, |ms| ms.min(retention_ms));
        let cutoff_ms = now_ms.saturating_sub(retention_ms);
        let (_, tombstones) = snapshot.tombstones().await?;
        let mut keys = Vec::with_capacity(tombstones.len());
        for batch in &tombstones {
            keys.push(KeyColumns::of(batch)?);
        }
        let mut wanted: HashSet<LogicalFileKey<'_>> = files
            .map(|add| {
                let vector = add.deletion_vector.as_ref().map(Descriptor::key);
                LogicalFileKey::new(&add.path, vector)
            })
            .collect();
        for (batch, keys) in tombstones.iter().zip(&keys) {
            let times = batch.column_by_name("deletion_timestamp");
            let times = times.and_then(|times| times.as_primitive_opt::<Int64Type>());
            for row in 0..batch.num_rows() {
                let time = times.filter(|times| times.is_valid(row));
                if time.is_some_and(|times| times.value(row) >= cutoff_ms) {
                    wanted.remove(&keys.key(row));
                }
            }
        }
        Ok(wanted.len())
    }
}

/// The retention in the parameters, which are JSON numbers or text.
fn specified_ms(info: &CommitInfo) -> Option<i64> {
    let value = info
        .operation_parameters
        .as_ref()?
        .get("specifiedRetentionMillis")?;
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}
