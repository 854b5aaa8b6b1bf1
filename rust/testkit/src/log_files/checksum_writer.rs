//! Version checksums.
//!
//! Protocol: *Version Checksum File*.

use serde_json::{Value, json};

use super::checkpoint_writer::File;
use crate::oracle::State;

/// The form of a version checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumForm {
    /// Required fields only.
    Minimal,
    /// All fields.
    Full,
    /// The first half of a file.
    Torn,
    /// One whose file count is one too high.
    Miscounted,
}

/// Bin boundaries of the file size histogram, in bytes.
const BINS: [i64; 4] = [0, 100, 1_000, 1_000_000];

/// The checksum of a version.
#[must_use]
pub fn checksum(state: &State, version: usize, form: ChecksumForm) -> File {
    let sizes: Vec<i64> = state
        .files
        .values()
        .map(|add| add["size"].as_i64().unwrap_or_default())
        .collect();
    let mut checksum = json!({
        "tableSizeBytes": sizes.iter().sum::<i64>(),
        "numFiles": sizes.len() + usize::from(form == ChecksumForm::Miscounted),
        "numMetadata": 1,
        "numProtocol": 1,
        "metadata": state.metadata,
        "protocol": state.protocol,
    });
    if form == ChecksumForm::Full {
        let vectors = state.files.values().filter_map(|add| add.get("deletionVector"));
        let deleted: Vec<i64> = vectors
            .map(|vector| vector["cardinality"].as_i64().unwrap_or_default())
            .collect();
        checksum["txnId"] = json!("3a0d65cd-4056-49b8-937b-95f9e0ee90e5");
        checksum["setTransactions"] = state.txns.values().cloned().collect();
        checksum["domainMetadata"] = state.live_domains().map(|(_, domain)| domain.clone()).collect();
        checksum["fileSizeHistogram"] = histogram(&sizes);
        checksum["allFiles"] = state.files.values().cloned().collect();
        checksum["numDeletedRecordsOpt"] = json!(deleted.iter().sum::<i64>());
        checksum["numDeletionVectorsOpt"] = json!(deleted.len());
        checksum["deletedRecordCountsHistogramOpt"] = json!({"deletedRecordCounts": deleted_counts(state)});
    }
    let mut bytes = (checksum.to_string() + "\n").into_bytes();
    if form == ChecksumForm::Torn {
        bytes.truncate(bytes.len() / 2);
    }
    (format!("_delta_log/{version:020}.crc"), bytes)
}

fn histogram(sizes: &[i64]) -> Value {
    let in_bin = |bin: usize| {
        let (from, to) = (BINS.get(bin).copied(), BINS.get(bin + 1).copied());
        sizes
            .iter()
            .filter(move |size| Some(**size) >= from && to.is_none_or(|to| **size < to))
    };
    json!({
        "sortedBinBoundaries": BINS,
        "fileCounts": (0..BINS.len()).map(|bin| in_bin(bin).count()).collect::<Vec<_>>(),
        "totalBytes": (0..BINS.len()).map(|bin| in_bin(bin).sum::<i64>()).collect::<Vec<_>>(),
    })
}

/// Number of files per count of deleted rows: none, 1 to 9, 10 to 99, and so on by powers of ten. Assumes fewer than a
/// hundred million deleted rows per file.
fn deleted_counts(state: &State) -> Vec<usize> {
    let mut counts = vec![0; 10];
    for add in state.files.values() {
        let deleted = add["deletionVector"]["cardinality"].as_u64().unwrap_or_default();
        let bin = if deleted == 0 {
            0
        } else {
            (deleted.ilog10() as usize + 1).min(9)
        };
        if let Some(count) = counts.get_mut(bin) {
            *count += 1;
        }
    }
    counts
}
