//! Compares a version with its version checksum.
//!
//! Protocol: *Version Checksum File*, *State Validation*.

use std::collections::HashSet;

use deltaic_protocol::Result;
use deltaic_protocol::actions::columns::AddColumns;
use deltaic_protocol::actions::{CommitInfo, DomainMetadata, LogicalFileKey, Txn};
use deltaic_protocol::checksum::{FileCount, FileSummary, StateSummary, VersionChecksum};
use deltaic_protocol::partition::values_of_row;

use super::state::Snapshot;
use crate::listing::LogFile;
use deltaic_storage::location::TableLocation;

/// Maximum size of a version checksum. Writers omit its list of files if there are more than a few.
const MOST_BYTES: u64 = 64 << 20;

/// Reads a checksum if it exists; the error text says why it cannot be used.
pub(crate) async fn read_checksum(
    location: &TableLocation,
    file: Option<&LogFile>,
) -> std::result::Result<Option<VersionChecksum>, String> {
    let Some(file) = file else {
        return Ok(None);
    };
    let relative = file.relative();
    if file.size > MOST_BYTES {
        return Err(format!(
            "{relative} has {} bytes, more than a version checksum can have",
            file.size
        ));
    }
    let bytes = match location.read(&relative).await {
        Ok(bytes) => bytes,
        // It was cleaned up after the listing.
        Err(object_store::Error::NotFound { .. }) => return Ok(None),
        Err(_) => return Err(format!("{relative} cannot be read")),
    };
    VersionChecksum::parse(&bytes)
        .map(Some)
        .map_err(|error| error.with("path", relative).to_string())
}

impl Snapshot {
    /// The `commitInfo` of the version's own commit; default if it was not read or has none.
    pub(crate) fn own_commit_info(&self) -> CommitInfo {
        let info = self
            .commit_info()
            .and_then(|text| serde_json::from_str(text).ok());
        info.unwrap_or_default()
    }

    /// Passes a summary of the version's state, as far as a checksum covers it, with these transactions and this
    /// `commitInfo`.
    pub(crate) fn summarize<T>(
        &self,
        txns: &[Txn],
        info: &CommitInfo,
        check: impl FnOnce(&StateSummary<'_>) -> T,
    ) -> Result<T> {
        let columns = self
            .adds
            .iter()
            .map(|survivors| AddColumns::of(&survivors.files.batch))
            .collect::<Result<Vec<_>>>()?;
        let domains: Vec<DomainMetadata> = self.domains().values().cloned().collect();
        let for_each_file = |visit: &mut dyn FnMut(&FileSummary<'_>)| {
            for (survivors, columns) in self.adds.iter().zip(&columns) {
                for row in survivors.live.set_indices() {
                    visit(&FileSummary {
                        key: survivors.files.keys.key(row),
                        size: columns.size.value(row),
                        modification_time: columns.modification_time.value(row),
                        deleted_records: columns.cardinality(row),
                        partition_values: &|| values_of_row(&columns.partition_values, row),
                    });
                }
            }
        };
        Ok(check(&StateSummary {
            num_files: i64::try_from(self.num_files()).unwrap_or(i64::MAX),
            size_in_bytes: self.size_in_bytes()?,
            protocol: self.protocol(),
            metadata: self.metadata(),
            txns,
            domains: &domains,
            in_commit_timestamp: info.in_commit_timestamp,
            txn_id: info.txn_id.as_deref(),
            for_each_file: &for_each_file,
        }))
    }

    /// Describes the differences between a version checksum and the log; empty if they agree.
    pub(super) fn disagreements(&self, checksum: &VersionChecksum) -> Result<Vec<String>> {
        let txns: Vec<Txn> = self.txns().values().cloned().collect();
        let found = self.summarize(&txns, &self.own_commit_info(), |state| {
            checksum.disagreements(state)
        })?;
        Ok(found
            .iter()
            .map(|disagreement| {
                let version = self.version();
                format!("the version checksum of version {version} disagrees with the log: {disagreement}")
            })
            .collect())
    }

    /// Calls `visit` for each live file whose key has one of the hashes, with the key and what checksums count of the
    /// file.
    pub(crate) fn for_live_files(
        &self,
        hashes: &HashSet<u32>,
        visit: &mut dyn FnMut(LogicalFileKey<'_>, FileCount),
    ) -> Result<()> {
        for survivors in self.adds.iter() {
            let columns = AddColumns::of(&survivors.files.batch)?;
            for row in survivors.live.set_indices() {
                let hash = survivors.files.hashes.get(row);
                if hash.is_some_and(|hash| hashes.contains(hash)) {
                    let file = FileCount {
                        size: columns.size.value(row),
                        deleted_records: columns.cardinality(row),
                    };
                    visit(survivors.files.keys.key(row), file);
                }
            }
        }
        Ok(())
    }
}
