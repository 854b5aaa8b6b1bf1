//! Version checksums beside the state.
//!
//! Protocol: *Version Checksum File*, *State Validation*.

use deltaic_protocol::actions::{DomainMetadata, Txn};
use deltaic_protocol::checksum::{FileSummary, StateSummary, VersionChecksum};

use super::diagnosis::{BROKEN_CHECKSUM, CHECKSUM_DISAGREES, CHECKSUM_WITHOUT_ID, FOREIGN_CHECKSUM};
use super::finding::{Finding, Findings};
use super::state::State;
use crate::listing::LogFile;

/// Judges a checksum, and compares it with the state where that is of its version and whole.
pub(super) fn examine_checksum(file: &LogFile, bytes: &[u8], state: &State, findings: &mut Findings) {
    let (path, version) = (file.relative(), file.path.version);
    let mut say = |finding: Finding| findings.add(finding.at(path.as_str()).of_version(version));
    let checksum = match VersionChecksum::parse(bytes) {
        Ok(checksum) => checksum,
        Err(error) => return say(Finding::of(&BROKEN_CHECKSUM, &error)),
    };
    if checksum.txn_id.is_none() {
        say(Finding::new(
            &CHECKSUM_WITHOUT_ID,
            "the checksum does not say which commit it belongs to",
        ));
    }
    if !state.is_whole || state.version != Some(version) {
        return;
    }
    let (Some(protocol), Some(metadata)) = (&state.protocol, &state.metadata) else {
        return;
    };
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
        say(Finding::new(diagnosis, disagreement.to_string()).in_field(disagreement.field()));
    }
}
