//! Arbitrary bytes as a version checksum: accepted checksums are consistent.

use std::collections::BTreeMap;

use deltaic_protocol::ErrorKind;
use deltaic_protocol::actions::Add;
use deltaic_protocol::checksum::{FileSummary, StateSummary, VersionChecksum};

use crate::untrusted::memory::{Bound, bounded};

/// A file of a hundred bytes takes a struct of hundreds of bytes, and a list doubles as it grows.
const BOUND: Bound = Bound {
    per_byte: 128,
    spare: 16 * 1024,
};

pub(in crate::untrusted) fn check_invariants(bytes: &[u8]) {
    let checksum = match bounded(BOUND, bytes.len(), || VersionChecksum::parse(bytes)) {
        Ok(checksum) => checksum,
        Err(error) => return assert_eq!(error.kind(), ErrorKind::CorruptLog),
    };
    assert!(checksum.num_files >= 0 && checksum.table_size_bytes >= 0);
    assert!(checksum.num_deleted_records.is_none_or(|records| records >= 0));
    assert!(checksum.num_deletion_vectors.is_none_or(|vectors| vectors >= 0));
    let again = VersionChecksum::parse(bytes);
    assert_eq!(again.ok().as_ref(), Some(&checksum));
    agrees_with_itself(&checksum, bytes.len());
}

/// A checksum that lists its files is correct for the version that it describes.
fn agrees_with_itself(checksum: &VersionChecksum, length: usize) {
    let (Some(protocol), Some(metadata)) = (&checksum.protocol, &checksum.metadata) else {
        return;
    };
    let files = checksum.all_files.as_deref().unwrap_or_default();
    let for_each_file =
        |take: &mut dyn FnMut(&FileSummary<'_>)| files.iter().for_each(|add| take_add(add, take));
    let state = StateSummary {
        num_files: checksum.num_files,
        size_in_bytes: checksum.table_size_bytes,
        protocol,
        metadata,
        txns: checksum.set_transactions.as_deref().unwrap_or_default(),
        domains: checksum.domain_metadata.as_deref().unwrap_or_default(),
        in_commit_timestamp: checksum.in_commit_timestamp,
        txn_id: checksum.txn_id.as_deref(),
        for_each_file: &for_each_file,
    };
    for found in bounded(BOUND, length, || checksum.disagreements(&state)) {
        // Histograms of sizes and deletions are parsed without verifying them against the files.
        assert!(
            [
                "fileSizeHistogram",
                "numDeletedRecordsOpt",
                "numDeletionVectorsOpt",
                "deletedRecordCountsHistogramOpt"
            ]
            .contains(&found.field()),
            "{found}"
        );
    }
}

fn take_add(add: &Add, take: &mut dyn FnMut(&FileSummary<'_>)) {
    let values = || -> BTreeMap<String, Option<String>> { add.partition_values.clone() };
    take(&FileSummary {
        key: add.key(),
        size: add.size,
        modification_time: add.modification_time,
        deleted_records: add.deletion_vector.as_ref().map(|vector| vector.cardinality),
        partition_values: &values,
    });
}
