//! Compares a version checksum with the log. Protocol: *State Validation*.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::histogram::DeletedRecordCountsHistogram;
use super::state::StateSummary;
use super::version_checksum::VersionChecksum;
use crate::actions::{Add, DomainMetadata, LogicalFileKey, Metadata, Protocol, Txn};
use crate::schema::StructType;

/// A field of a checksum that does not agree with the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    field: &'static str,
    message: String,
}

impl Disagreement {
    /// The checksum's field.
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.field
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The disagreements found so far.
struct Found(Vec<Disagreement>);

impl Found {
    fn report(&mut self, field: &'static str, message: impl Into<String>) {
        self.0.push(Disagreement {
            field,
            message: message.into(),
        });
    }

    fn compare<T: PartialEq + fmt::Display>(&mut self, field: &'static str, checksum: T, log: T) {
        if checksum != log {
            self.report(field, format!("{field} is {checksum}, and the log has {log}"));
        }
    }
}

impl VersionChecksum {
    /// Compares every field of the checksum with the log; empty if all agree.
    ///
    /// For a checksum of another commit, only that is reported. Either side may omit transactions that
    /// can expire.
    #[must_use]
    pub fn disagreements(&self, state: &StateSummary<'_>) -> Vec<Disagreement> {
        let mut found = Found(Vec::new());
        if let (Some(ours), Some(logs)) = (self.txn_id.as_deref(), state.txn_id)
            && ours != logs
        {
            found.report(
                "txnId",
                format!("txnId is {ours:?}, and the commit's is {logs:?}: the checksum is of another commit"),
            );
            return found.0;
        }
        found.compare("tableSizeBytes", self.table_size_bytes, state.size_in_bytes);
        found.compare("numFiles", self.num_files, state.num_files);
        self.compare_timestamps(state, &mut found);
        if let Some(txns) = &self.set_transactions {
            compare_txns(txns, state, &mut found);
        }
        if let Some(domains) = &self.domain_metadata {
            compare_domains(domains, state.domains, &mut found);
        }
        if let Some(metadata) = &self.metadata {
            compare_metadata(metadata, state.metadata, &mut found);
        }
        if let Some(protocol) = &self.protocol {
            compare_protocols(protocol, state.protocol, &mut found);
        }
        self.compare_files(state, &mut found);
        found.0
    }

    fn compare_timestamps(&self, state: &StateSummary<'_>, found: &mut Found) {
        const FIELD: &str = "inCommitTimestampOpt";
        let enabled = state
            .metadata
            .property("delta.enableInCommitTimestamps")
            .is_some_and(|value| value.eq_ignore_ascii_case("true"));
        match (self.in_commit_timestamp, state.in_commit_timestamp) {
            (Some(ours), Some(logs)) => found.compare(FIELD, ours, logs),
            (None, Some(logs)) if enabled => {
                found.report(FIELD, format!("{FIELD} is absent, and the log has {logs}"));
            }
            (Some(ours), None) if !enabled => found.report(
                FIELD,
                format!("{FIELD} is {ours}, and the log has no in-commit timestamps"),
            ),
            _ => {}
        }
    }

    fn compare_files(&self, state: &StateSummary<'_>, found: &mut Found) {
        let counts_deletions = self.num_deleted_records.is_some()
            || self.num_deletion_vectors.is_some()
            || self.deleted_record_counts_histogram.is_some();
        if self.file_size_histogram.is_none() && self.all_files.is_none() && !counts_deletions {
            return;
        }
        let mut sizes = self.file_size_histogram.as_ref().map(|known| known.emptied());
        let mut deletions = DeletedRecordCountsHistogram::empty();
        let (mut vectors, mut deleted) = (0_i64, 0_i64);
        let files = self.all_files.as_deref();
        let listed: Option<HashMap<LogicalFileKey<'_>, usize>> = files.map(|files| {
            let keys = files.iter().map(Add::key);
            keys.enumerate().map(|(index, key)| (key, index)).collect()
        });
        let mut present = vec![false; files.map_or(0, <[Add]>::len)];
        let mut differing: Option<String> = None;
        let mut unlisted = 0_u64;
        (state.for_each_file)(&mut |file| {
            if let Some(sizes) = &mut sizes {
                sizes.insert(file.size);
            }
            if counts_deletions {
                deletions.insert(file.deleted_records.unwrap_or(0));
                vectors = vectors.saturating_add(i64::from(file.deleted_records.is_some()));
                deleted = deleted.saturating_add(file.deleted_records.unwrap_or(0));
            }
            if let Some(listed) = &listed {
                let index = listed.get(&file.key).copied();
                if let Some(seen) = index.and_then(|index| present.get_mut(index)) {
                    *seen = true;
                }
                match index.and_then(|index| files?.get(index)) {
                    None => unlisted = unlisted.saturating_add(1),
                    Some(add)
                        if add.size != file.size
                            || add.modification_time != file.modification_time
                            || !same_values(&add.partition_values, &(file.partition_values)()) =>
                    {
                        differing.get_or_insert_with(|| add.path.clone());
                    }
                    Some(_) => {}
                }
            }
        });
        if sizes != self.file_size_histogram {
            found.report(
                "fileSizeHistogram",
                "fileSizeHistogram differs from that of the log's files",
            );
        }
        if let Some(number) = self.num_deleted_records {
            found.compare("numDeletedRecordsOpt", number, deleted);
        }
        if let Some(number) = self.num_deletion_vectors {
            found.compare("numDeletionVectorsOpt", number, vectors);
        }
        if let Some(histogram) = &self.deleted_record_counts_histogram
            && *histogram != deletions
        {
            found.report(
                "deletedRecordCountsHistogramOpt",
                format!(
                    "deletedRecordCountsHistogramOpt is {:?}, and the log has {:?}",
                    histogram.deleted_record_counts, deletions.deleted_record_counts
                ),
            );
        }
        let mut absent = files.unwrap_or_default().iter().zip(&present);
        if let Some((gone, _)) = absent.find(|(_, present)| !**present) {
            let path = &gone.path;
            found.report(
                "allFiles",
                format!("allFiles has {path:?}, which the log does not contain"),
            );
        }
        if unlisted > 0 {
            found.report(
                "allFiles",
                format!("allFiles lacks {unlisted} files that the log has"),
            );
        }
        if let Some(path) = differing {
            found.report(
                "allFiles",
                format!("allFiles disagrees with the log about {path:?}"),
            );
        }
    }
}

/// The empty string is NULL, and a checkpoint may not preserve which of the two was written.
fn same_values(ours: &BTreeMap<String, Option<String>>, logs: &BTreeMap<String, Option<String>>) -> bool {
    let some = |value: &Option<String>| {
        value
            .as_deref()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    ours.len() == logs.len()
        && ours
            .iter()
            .all(|(name, value)| logs.get(name).is_some_and(|known| some(known) == some(value)))
}

fn compare_txns(txns: &[Txn], state: &StateSummary<'_>, found: &mut Found) {
    const FIELD: &str = "setTransactions";
    // If transactions expire, each side may have dropped some; writers differ on those without a time.
    let may_be_gone = state
        .metadata
        .property("delta.setTransactionRetentionDuration")
        .is_some();
    let by_application = |txns: &[Txn]| -> BTreeMap<String, Txn> {
        txns.iter().map(|txn| (txn.app_id.clone(), txn.clone())).collect()
    };
    let (ours, logs) = (by_application(txns), by_application(state.txns));
    for (application, txn) in &ours {
        match logs.get(application) {
            Some(known) if known == txn => {}
            Some(known) => found.report(
                FIELD,
                format!(
                    "{FIELD} has {application:?} at {}, and the log at {}",
                    describe_txn(txn),
                    describe_txn(known)
                ),
            ),
            None if may_be_gone => {}
            None => found.report(
                FIELD,
                format!("{FIELD} has {application:?}, which the log does not contain"),
            ),
        }
    }
    for application in logs.keys() {
        if !ours.contains_key(application) && !may_be_gone {
            found.report(FIELD, format!("{FIELD} lacks {application:?}, which the log has"));
        }
    }
}

fn describe_txn(txn: &Txn) -> String {
    match txn.last_updated {
        Some(time) => format!("{} (lastUpdated {time})", txn.version),
        None => txn.version.to_string(),
    }
}

fn compare_domains(ours: &[DomainMetadata], logs: &[DomainMetadata], found: &mut Found) {
    const FIELD: &str = "domainMetadata";
    let by_name = |domains: &[DomainMetadata]| -> BTreeMap<String, String> {
        domains
            .iter()
            .filter(|domain| !domain.removed)
            .map(|domain| (domain.domain.clone(), domain.configuration.clone()))
            .collect()
    };
    let (ours, logs) = (by_name(ours), by_name(logs));
    for (name, configuration) in &ours {
        match logs.get(name) {
            None => found.report(
                FIELD,
                format!("{FIELD} has {name:?}, which the log does not contain"),
            ),
            Some(known) if known != configuration => found.report(
                FIELD,
                format!("{FIELD} has another configuration of {name:?} than the log"),
            ),
            Some(_) => {}
        }
    }
    for name in logs.keys().filter(|name| !ours.contains_key(*name)) {
        found.report(FIELD, format!("{FIELD} lacks {name:?}, which the log has"));
    }
}

fn compare_metadata(ours: &Metadata, logs: &Metadata, found: &mut Found) {
    const FIELD: &str = "metadata";
    let same_schema = ours.schema_string == logs.schema_string
        || StructType::from_json(&ours.schema_string).is_ok_and(|schema| {
            StructType::from_json(&logs.schema_string).is_ok_and(|known| known == schema)
        });
    for (part, same) in [
        ("id", ours.id == logs.id),
        ("name", ours.name == logs.name),
        ("description", ours.description == logs.description),
        ("format", ours.format == logs.format),
        ("schemaString", same_schema),
        (
            "partitionColumns",
            ours.partition_columns == logs.partition_columns,
        ),
        ("configuration", ours.configuration == logs.configuration),
        ("createdTime", ours.created_time == logs.created_time),
    ] {
        if !same {
            found.report(FIELD, format!("{FIELD} has another {part} than the log"));
        }
    }
}

fn compare_protocols(ours: &Protocol, logs: &Protocol, found: &mut Found) {
    let spelled = |protocol: &Protocol| {
        let list = |features: &Option<Vec<String>>| {
            let mut features: Vec<String> = features.iter().flatten().cloned().collect();
            // The order has no meaning.
            features.sort_unstable();
            features.dedup();
            features.join(", ")
        };
        format!(
            "({}, {}, readers: [{}], writers: [{}])",
            protocol.min_reader_version,
            protocol.min_writer_version,
            list(&protocol.reader_features),
            list(&protocol.writer_features)
        )
    };
    found.compare("protocol", spelled(ours), spelled(logs));
}
