//! Comparison of version checksums with the replayed state.
//!
//! Protocol: *Version Checksum File*, *State Validation*.

use deltaic_protocol::actions::{DomainMetadata, Txn};
use deltaic_protocol::checksum::{FileSummary, StateSummary, VersionChecksum};

use crate::check::findings::diagnosis::{
    BROKEN_CHECKSUM, CHECKSUM_DISAGREES, CHECKSUM_WITHOUT_ID, FOREIGN_CHECKSUM, NOT_ALL_COMPARED,
};
use crate::check::findings::finding::{Finding, Findings};
use crate::check::state::State;
use crate::listing::LogFile;

/// Maximum number of files compared with all checksums together: each comparison may need all files of its
/// version.
const MOST_FILES: u64 = 1 << 28;

/// Checks version checksums one after the other.
#[derive(Debug)]
pub(in crate::check) struct ChecksumExaminer {
    files_left: u64,
}

impl Default for ChecksumExaminer {
    fn default() -> Self {
        Self {
            files_left: MOST_FILES,
        }
    }
}

impl ChecksumExaminer {
    /// Removes the per-file fields of a checksum if comparing them would exceed the limit; returns whether it
    /// did.
    fn spare(&mut self, checksum: &mut VersionChecksum, files: usize) -> bool {
        let needs_files = checksum.file_size_histogram.is_some()
            || checksum.all_files.is_some()
            || checksum.num_deleted_records.is_some()
            || checksum.num_deletion_vectors.is_some()
            || checksum.deleted_record_counts_histogram.is_some();
        if !needs_files {
            return false;
        }
        let files = u64::try_from(files).unwrap_or(u64::MAX);
        if let Some(left) = self.files_left.checked_sub(files) {
            self.files_left = left;
            return false;
        }
        checksum.file_size_histogram = None;
        checksum.all_files = None;
        checksum.num_deleted_records = None;
        checksum.num_deletion_vectors = None;
        checksum.deleted_record_counts_histogram = None;
        true
    }

    /// Checks a checksum, and compares it with the state if that is complete and of the same version.
    pub(in crate::check) fn examine(
        &mut self,
        file: &LogFile,
        bytes: &[u8],
        state: &State,
        findings: &mut Findings,
    ) {
        let (path, version) = (file.relative(), file.path.version);
        let mut report = |finding: Finding| findings.add(finding.at(path.as_str()).of_version(version));
        let mut checksum = match VersionChecksum::parse(bytes) {
            Ok(checksum) => checksum,
            Err(error) => return report(Finding::of(&BROKEN_CHECKSUM, &error)),
        };
        if checksum.txn_id.is_none() {
            report(Finding::new(
                &CHECKSUM_WITHOUT_ID,
                "the checksum has no `txnId`, so its commit is unknown",
            ));
        }
        if !state.is_whole || state.version != Some(version) {
            return;
        }
        let (Some(protocol), Some(metadata)) = (&state.protocol, &state.metadata) else {
            return;
        };
        if self.spare(&mut checksum, state.files.len()) {
            let message = "the checksum's histograms and list of files were not compared with the log";
            report(Finding::new(&NOT_ALL_COMPARED, message));
        }
        let txns: Vec<Txn> = state.txns.values().cloned().collect();
        let domains: Vec<DomainMetadata> = state.domains.values().cloned().collect();
        let for_each_file = |visit: &mut dyn FnMut(&FileSummary<'_>)| {
            for file in state.files.iter() {
                visit(&FileSummary {
                    key: file.key(),
                    size: file.size,
                    modification_time: file.modification_time,
                    deleted_records: file.deletion_vector.as_ref().map(|vector| vector.cardinality),
                    partition_values: &|| file.partition_values.as_ref().clone(),
                });
            }
        };
        let summary = StateSummary {
            num_files: i64::try_from(state.files.len()).unwrap_or(i64::MAX),
            size_in_bytes: state.files.size_in_bytes(),
            protocol,
            metadata,
            txns: &txns,
            domains: &domains,
            in_commit_timestamp: state.commit_info.in_commit_timestamp,
            txn_id: state.commit_info.txn_id.as_deref(),
            for_each_file: &for_each_file,
        };
        for disagreement in checksum.disagreements(&summary) {
            let diagnosis = if disagreement.field() == "txnId" {
                &FOREIGN_CHECKSUM
            } else {
                &CHECKSUM_DISAGREES
            };
            report(Finding::new(diagnosis, disagreement.to_string()).in_field(disagreement.field()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_that_take_too_long_are_left_out() -> deltaic_protocol::Result<()> {
        let text = br#"{"tableSizeBytes":0,"numFiles":0,"numMetadata":1,"numProtocol":1,"allFiles":[]}"#;
        let mut examiner = ChecksumExaminer { files_left: 10 };
        let mut checksum = VersionChecksum::parse(text)?;
        assert!(!examiner.spare(&mut checksum, 6));
        assert!(examiner.spare(&mut checksum, 6));
        assert!(checksum.all_files.is_none());
        assert!(
            !examiner.spare(&mut checksum, 6),
            "the checksum has no per-file fields left"
        );
        assert_eq!(examiner.files_left, 4);
        Ok(())
    }
}
