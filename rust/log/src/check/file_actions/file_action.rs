//! Validates a single file action: its partition values, statistics, deletion vector and time.

use std::collections::{BTreeMap, HashMap};

use deltaic_protocol::partition::value_of;

use super::file_requirements::FileRequirements;
use super::file_table::{FileEntry, SharedPartitionValues};
use crate::check::findings::diagnosis::{
    BAD_DELETION_VECTOR, BAD_FILE_SIZE, BAD_PARTITION_VALUE, DELETION_VECTOR_WITHOUT_FEATURE,
    IMPOSSIBLE_STATISTICS, MISSING_PARTITION_VALUE, ODD_TOMBSTONE_TIME,
};
use crate::check::findings::finding::Finding;

/// Clock tolerance: only a deletion timestamp further ahead than this counts as in the future.
const CLOCKS_DIFFER_MS: i64 = 24 * 3_600_000;

/// Findings by partition values, cached because many files share them.
#[derive(Debug, Default)]
pub(in crate::check) struct KnownValues(HashMap<SharedPartitionValues, Option<Finding>>);

impl KnownValues {
    /// Clears the cache, because the table's configuration changed.
    pub(in crate::check) fn clear(&mut self) {
        self.0.clear();
    }

    fn validate(
        &mut self,
        values: &SharedPartitionValues,
        requirements: &FileRequirements,
    ) -> Option<Finding> {
        let known = self.0.entry(SharedPartitionValues::clone(values));
        known
            .or_insert_with(|| validate_values(values, requirements))
            .clone()
    }
}

fn validate_values(
    values: &BTreeMap<String, Option<String>>,
    requirements: &FileRequirements,
) -> Option<Finding> {
    requirements.partition_columns.iter().find_map(|column| {
        let error = value_of(column, values).err()?;
        Some(if values.contains_key(&column.name) {
            Finding::of(&BAD_PARTITION_VALUE, &error)
        } else {
            Finding::of(&MISSING_PARTITION_VALUE, &error)
        })
    })
}

/// Validates an added file.
pub(in crate::check) fn validate_add(
    file: &FileEntry,
    requirements: Option<&FileRequirements>,
    known: &mut KnownValues,
    report: &mut dyn FnMut(Finding),
) {
    if file.size < 0 {
        let what = format!("the file's size is {}", file.size);
        report(Finding::new(&BAD_FILE_SIZE, what).in_field("add.size"));
    }
    if let Some(vector) = file.deletion_vector.as_deref() {
        if let Err(error) = vector.validate() {
            report(Finding::of(&BAD_DELETION_VECTOR, &error));
        }
        if let Some(records) = file.num_records
            && vector.cardinality > records
        {
            let deleted = vector.cardinality;
            let what = format!("numRecords is {records}, but the deletion vector deletes {deleted} rows");
            report(Finding::new(&IMPOSSIBLE_STATISTICS, what).in_field("numRecords"));
        }
    }
    let Some(requirements) = requirements else { return };
    if let Some(finding) = known.validate(&file.partition_values, requirements) {
        report(finding);
    }
    if file.deletion_vector.is_some() && !requirements.has_deletion_vectors {
        let what = "the file has a deletion vector, but the protocol lacks the feature deletionVectors";
        report(Finding::new(&DELETION_VECTOR_WITHOUT_FEATURE, what).in_field("add.deletionVector"));
    }
}

/// Validates the deletion timestamp of a tombstone, in milliseconds since the epoch.
pub(in crate::check) fn validate_tombstone(deletion_timestamp: Option<i64>, now_ms: i64) -> Option<Finding> {
    let time = deletion_timestamp?;
    let what = if time < 0 {
        "is before 1970"
    } else if time > now_ms.saturating_add(CLOCKS_DIFFER_MS) {
        "is in the future"
    } else {
        return None;
    };
    let what = format!("the deletion timestamp, {time} ms, {what}");
    Some(Finding::new(&ODD_TOMBSTONE_TIME, what).in_field("remove.deletionTimestamp"))
}
