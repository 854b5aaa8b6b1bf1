//! Comparison of a checkpoint with the state replayed from the commits.

use std::collections::BTreeSet;
use std::sync::Arc;

use deltaic_protocol::actions::columns::AddColumns;
use deltaic_protocol::actions::{Metadata, Protocol};
use deltaic_protocol::partition::values_of_row;

use crate::check::file_actions::file_table::are_same_values;
use crate::check::findings::diagnosis::{
    BROKEN_CHECKPOINT, CHECKPOINT_CONTRADICTS_COMMITS, FOREIGN_CHECKPOINT,
};
use crate::check::findings::finding::Finding;
use crate::check::findings::severity::Severity;
use crate::check::state::State;
use crate::decode::FileBatch;
use crate::decode::checkpoint::Checkpoint;
use deltaic_storage::location::without_secrets;

/// Maximum number of files named in one finding.
const NAMED: usize = 3;

/// Reports differences between a checkpoint and the commits.
pub(in crate::check) fn compare(
    checkpoint: &Checkpoint,
    removes: &[Arc<FileBatch>],
    state: &mut State,
    report: &mut dyn FnMut(Finding),
) {
    let table = &checkpoint.table;
    if let (Some(theirs), Some(ours)) = (&table.metadata, &state.metadata) {
        if theirs.id != ours.id {
            let message = format!(
                "the checkpoint is of table {:?}, but the commits are of table {:?}",
                theirs.id, ours.id
            );
            return report(Finding::new(&FOREIGN_CHECKPOINT, message).in_field("metaData.id"));
        }
        for field in different_metadata(theirs, ours) {
            let message = format!("{field} differs from that in the commits");
            report(
                Finding::new(&CHECKPOINT_CONTRADICTS_COMMITS, message).in_field(format!("metaData.{field}")),
            );
        }
    }
    if let (Some(theirs), Some(ours)) = (&table.protocol, &state.protocol)
        && !is_same_protocol(theirs, ours)
    {
        let message = "the protocol differs from that in the commits";
        report(Finding::new(&CHECKPOINT_CONTRADICTS_COMMITS, message).in_field("protocol"));
    }
    compare_txns(checkpoint, state, report);
    compare_domains(checkpoint, state, report);
    compare_files(checkpoint, state, report);
    let mut revived: Vec<String> = Vec::new();
    for batch in removes {
        for row in 0..batch.len() {
            if let Some(file) = state.files.find(&batch.keys.key(row)) {
                revived.push(without_secrets(&file.path));
            }
        }
    }
    report_files(
        &revived,
        "has tombstones of files that are live according to the commits",
        report,
    );
}

pub(super) fn different_metadata(theirs: &Metadata, ours: &Metadata) -> Vec<&'static str> {
    let same_schema = theirs.schema_string == ours.schema_string
        || matches!((theirs.schema(), ours.schema()), (Ok(theirs), Ok(ours)) if theirs == ours);
    let values = |metadata: &Metadata| {
        let set = metadata.configuration.iter().filter(|(_, value)| value.is_some());
        set.map(|(name, value)| (name.clone(), value.clone()))
            .collect::<BTreeSet<_>>()
    };
    let fields = [
        ("schemaString", same_schema),
        (
            "partitionColumns",
            theirs.partition_columns == ours.partition_columns,
        ),
        ("configuration", values(theirs) == values(ours)),
        ("format", theirs.format.provider == ours.format.provider),
    ];
    fields
        .into_iter()
        .filter(|(_, same)| !same)
        .map(|(field, _)| field)
        .collect()
}

pub(super) fn is_same_protocol(left: &Protocol, right: &Protocol) -> bool {
    let set = |features: &Option<Vec<String>>| features.iter().flatten().cloned().collect::<BTreeSet<_>>();
    (left.min_reader_version, left.min_writer_version) == (right.min_reader_version, right.min_writer_version)
        && set(&left.reader_features) == set(&right.reader_features)
        && set(&left.writer_features) == set(&right.writer_features)
}

fn compare_txns(checkpoint: &Checkpoint, state: &State, report: &mut dyn FnMut(Finding)) {
    // With a retention setting, transactions may expire, and checkpoints omit them.
    let may_expire = state.metadata.as_ref().is_some_and(|metadata| {
        metadata
            .property("delta.setTransactionRetentionDuration")
            .is_some()
    });
    let mut differ: BTreeSet<&str> = BTreeSet::new();
    for txn in &checkpoint.table.txns {
        let same = state
            .txns
            .get(&txn.app_id)
            .is_some_and(|ours| ours.version == txn.version);
        if !same {
            differ.insert(&txn.app_id);
        }
    }
    let theirs: BTreeSet<&str> = checkpoint
        .table
        .txns
        .iter()
        .map(|txn| txn.app_id.as_str())
        .collect();
    if !may_expire {
        differ.extend(
            state
                .txns
                .keys()
                .map(String::as_str)
                .filter(|app| !theirs.contains(app)),
        );
    }
    for app in differ {
        let message = format!("the transaction of {app:?} is missing or differs from that in the commits");
        report(Finding::new(&CHECKPOINT_CONTRADICTS_COMMITS, message).in_field("txn"));
    }
}

fn compare_domains(checkpoint: &Checkpoint, state: &State, report: &mut dyn FnMut(Finding)) {
    let theirs: std::collections::BTreeMap<&str, &str> = checkpoint
        .table
        .domains
        .iter()
        .filter(|domain| !domain.removed)
        .map(|domain| (domain.domain.as_str(), domain.configuration.as_str()))
        .collect();
    let ours: std::collections::BTreeMap<&str, &str> = state
        .domains
        .values()
        .map(|domain| (domain.domain.as_str(), domain.configuration.as_str()))
        .collect();
    let names: BTreeSet<&str> = theirs.keys().chain(ours.keys()).copied().collect();
    for name in names {
        let message = match (theirs.get(name), ours.get(name)) {
            (None, _) => format!("the domain {name:?} is missing, but the commits have it"),
            (_, None) => format!("the domain {name:?} exists, but the commits do not have it"),
            (theirs, ours) if theirs != ours => {
                format!("the domain {name:?} has a configuration that differs from that in the commits")
            }
            _ => continue,
        };
        report(Finding::new(&CHECKPOINT_CONTRADICTS_COMMITS, message).in_field("domainMetadata"));
    }
}

fn compare_files(checkpoint: &Checkpoint, state: &mut State, report: &mut dyn FnMut(Finding)) {
    let comparison = state.next_comparison();
    let (mut extra, mut changed, mut twice) = (Vec::new(), Vec::new(), Vec::new());
    for batch in &checkpoint.adds {
        let Ok(adds) = AddColumns::of(&batch.batch) else {
            let message = "a column of its files is missing or of another type";
            return report(Finding::new(&BROKEN_CHECKPOINT, message));
        };
        for row in 0..batch.len() {
            let path = || without_secrets(adds.path.value(row));
            match state.files.find_mut(&batch.keys.key(row)) {
                None => extra.push(path()),
                Some(file) if file.met == comparison => twice.push(path()),
                Some(file) => {
                    file.met = comparison;
                    let values = values_of_row(&adds.partition_values, row);
                    if file.size != adds.size.value(row)
                        || file.modification_time != adds.modification_time.value(row)
                        || !are_same_values(&file.partition_values, &values)
                    {
                        changed.push(path());
                    }
                }
            }
        }
    }
    let missing: Vec<String> = state
        .files
        .iter()
        .filter(|file| file.met != comparison)
        .map(|file| without_secrets(&file.path))
        .collect();
    report_files(
        &missing,
        "lacks files that are live according to the commits",
        report,
    );
    report_files(
        &extra,
        "has files that are not live according to the commits",
        report,
    );
    report_files(
        &changed,
        "has files whose size, time or partition values differ from those in the commits",
        report,
    );
    if let Some(path) = twice.first() {
        let message = format!(
            "the checkpoint contains {} logical files twice, such as {path}",
            twice.len()
        );
        report(Finding::new(&BROKEN_CHECKPOINT, message));
    }
}

/// Reports files whose statistics in a checkpoint differ from the commits.
pub(super) fn report_statistics(paths: &[String], report: &mut dyn FnMut(Finding)) {
    let what = "has statistics that differ from those in the commits for these files";
    report_files(paths, what, &mut |finding| {
        let mut finding = finding.with_severity(Severity::Warning);
        finding.field = Some("add.stats".to_owned());
        report(finding);
    });
}

fn report_files(paths: &[String], what: &str, report: &mut dyn FnMut(Finding)) {
    if paths.is_empty() {
        return;
    }
    let mut named: Vec<&str> = paths.iter().map(String::as_str).collect();
    named.sort_unstable();
    named.truncate(NAMED);
    let more = paths.len() - named.len();
    let mut message = format!("the checkpoint {what}: {}", named.join(", "));
    if more > 0 {
        message.push_str(&format!(", and {more} more"));
    }
    report(Finding::new(&CHECKPOINT_CONTRADICTS_COMMITS, message).in_field("add"));
}
