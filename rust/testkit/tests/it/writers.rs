//! The testkit's writers of checkpoints, compactions and checksums agree with the commits according to the oracle.

use deltaic_testkit::checksum_writer::{ChecksumForm, checksum};
use deltaic_testkit::compaction_writer::{CompactionForm, compaction};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::strategies::history;
use proptest::prelude::*;
use serde_json::Value;

fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

proptest! {
    /// A compaction in place of its commits gives the same table, at any position.
    #[test]
    fn a_compaction_represents_its_commits(
        commits in history(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(),
    ) {
        let (from, to) = (from.index(commits.len()), to.index(commits.len()));
        let (from, to) = (from.min(to), from.max(to));
        let (name, bytes) = compaction(&commits, from, to, CompactionForm::Right);
        prop_assert_eq!(name, format!("_delta_log/{from:020}.{to:020}.compacted.json"));
        let mut shorter = commits[..from].to_vec();
        shorter.push(lines(&bytes));
        shorter.extend_from_slice(&commits[to + 1..]);
        prop_assert_eq!(replay(&shorter), replay(&commits));
    }

    #[test]
    fn a_checksum_counts_what_is_there(commits in history()) {
        let state = replay(&commits);
        let (_, bytes) = checksum(&state, commits.len() - 1, ChecksumForm::Full);
        let checksum_json: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let sum = |of: &Value| of.as_array().into_iter().flatten().filter_map(Value::as_i64).sum::<i64>();
        let histogram = &checksum_json["fileSizeHistogram"];
        prop_assert_eq!(&checksum_json["numFiles"], state.files.len());
        prop_assert_eq!(sum(&histogram["fileCounts"]), i64::try_from(state.files.len()).unwrap_or_default());
        prop_assert_eq!(Some(sum(&histogram["totalBytes"])), checksum_json["tableSizeBytes"].as_i64());
        prop_assert_eq!(sum(&checksum_json["deletedRecordCountsHistogramOpt"]["deletedRecordCounts"]), sum(&histogram["fileCounts"]));
    }
}
