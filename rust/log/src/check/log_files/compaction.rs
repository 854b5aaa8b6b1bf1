//! Comparison of compaction files with the commits that they cover.
//!
//! Protocol: *Log Compaction Files*.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use deltaic_protocol::actions::{
    ActionLine, DomainMetadata, LogicalFileKey, Metadata, Protocol, Txn, parse_line,
};
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use serde_json::value::RawValue;

use super::commit::owned_values;
use super::compare::{different_metadata, is_same_protocol};
use crate::check::file_actions::file_table::{FileEntry, FileTable};
use crate::check::file_actions::fingerprint::Fingerprint;
use crate::check::findings::diagnosis::{
    BROKEN_COMPACTION, COMPACTION_DISAGREES, COMPACTION_FORBIDDEN_ACTION, NOT_ALL_COMPARED,
    REVERSED_COMPACTION,
};
use crate::check::findings::finding::{Finding, Findings};
use crate::decode::action_text::{ActionText, Line};
use crate::listing::LogFile;
use crate::snapshot::{LoadOptions, Snapshot};
use deltaic_storage::location::{TableLocation, without_secrets};
use deltaic_storage::store_error;

/// Compares a compaction file with its commits if all of these exist. Subtracts the commits it reads from
/// `commits_left`.
pub(in crate::check) async fn examine_compaction(
    location: &Arc<TableLocation>,
    file: &Arc<LogFile>,
    commits: &BTreeMap<Version, Arc<LogFile>>,
    max_line_bytes: usize,
    commits_left: &mut usize,
    findings: &mut Findings,
) {
    let (first, last) = (file.path.version, file.last_version());
    let mut report = |finding: Finding| findings.add(finding.at(file.relative()).of_version(first));
    if first >= last {
        let message = format!(
            "the file covers versions {first} to {last}: a compaction file replaces at least two commits"
        );
        return report(Finding::new(&REVERSED_COMPACTION, message));
    }
    let mut theirs = Words::default();
    if let Err(error) = theirs.read(location, file, max_line_bytes).await {
        return report(Finding::of(&BROKEN_COMPACTION, &error));
    }
    for forbidden in std::mem::take(&mut theirs.forbidden) {
        let message = format!("the file contains a {forbidden} action");
        report(Finding::new(&COMPACTION_FORBIDDEN_ACTION, message).in_field(forbidden));
    }
    if let Some(path) = theirs.twice.first() {
        let more = theirs.twice.len();
        let message = format!(
            "the file contains {more} logical files more than once, such as {path}: it is not reconciled"
        );
        report(Finding::new(&COMPACTION_DISAGREES, message));
    }
    let covered: Vec<&Arc<LogFile>> = commits.range(first..=last).map(|(_, file)| file).collect();
    let length = last.as_i64().saturating_sub(first.as_i64()).saturating_add(1);
    if commits.keys().next_back().is_some_and(|newest| last > *newest) {
        let message = format!("the file ends at version {last}, after the newest commit");
        return report(Finding::new(&COMPACTION_DISAGREES, message));
    }
    if i64::try_from(covered.len()) != Ok(length) {
        // Commits of the range are missing, which is reported separately.
        return;
    }
    let Some(left) = commits_left.checked_sub(covered.len()) else {
        return report(Finding::new(
            &NOT_ALL_COMPARED,
            "the compaction file was not compared with its commits",
        ));
    };
    *commits_left = left;
    let mut ours = Words::default();
    for commit in covered {
        if ours.read(location, commit, max_line_bytes).await.is_err() {
            return;
        }
    }
    let before = if ours.left_out(&theirs).next().is_some() {
        paths_before(location, first, max_line_bytes).await
    } else {
        HashSet::new()
    };
    ours.compare(&theirs, &before, &mut report);
}

/// Returns the paths that were live before a version; empty if unknown.
async fn paths_before(
    location: &Arc<TableLocation>,
    version: Version,
    max_line_bytes: usize,
) -> HashSet<String> {
    let Ok(before) = Version::try_new(version.as_i64().saturating_sub(1)) else {
        return HashSet::new();
    };
    let options = LoadOptions { max_line_bytes };
    let snapshot = match version {
        Version::ZERO => return HashSet::new(),
        _ => Snapshot::load(Arc::clone(location), Some(before), options).await,
    };
    let mut paths = HashSet::new();
    if let Ok(snapshot) = snapshot
        && let Ok((files, _)) = snapshot.files(None).await
    {
        for batch in &files.batches {
            let path = |row| {
                LogicalFileKey::new(batch.adds.path.value(row), None)
                    .path()
                    .to_owned()
            };
            paths.extend((0..batch.len()).map(path));
        }
    }
    paths
}

/// Returns the fingerprint of a line's statistics; `None` if they are not a string.
pub(super) fn statistics_of(stats: Option<&RawValue>) -> Option<Fingerprint> {
    let Some(raw) = stats else {
        return Some(Fingerprint::NOTHING);
    };
    let text: Cow<'_, str> = serde_json::from_str(raw.get()).ok()?;
    Some(Fingerprint::of(&text))
}

/// The reconciled actions of files.
#[derive(Default)]
struct Words {
    adds: FileTable,
    removes: FileTable,
    protocol: Option<Protocol>,
    metadata: Option<Metadata>,
    txns: BTreeMap<String, Txn>,
    domains: BTreeMap<String, DomainMetadata>,
    /// Actions that a compaction file must not contain.
    forbidden: Vec<&'static str>,
    /// Logical files that occur more than once in one file.
    twice: Vec<String>,
}

impl Words {
    async fn read(
        &mut self,
        location: &Arc<TableLocation>,
        file: &Arc<LogFile>,
        max_line_bytes: usize,
    ) -> Result<()> {
        let fetched = ActionText::fetch(Arc::clone(location), Arc::clone(file), max_line_bytes).await;
        let text = fetched.map_err(|error| store_error(&error, &file.relative()))?;
        let mut failed: Option<Error> = None;
        let read = text
            .for_each_line(&mut |number, line| {
                if failed.is_none()
                    && let Err(error) = self.take(&line, file.last_version())
                {
                    failed = Some(error.with("line", i64::try_from(number).unwrap_or(i64::MAX)));
                }
            })
            .await;
        read.map_err(|error| store_error(&error, &file.relative()))?;
        match failed {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn take(&mut self, line: &Line<'_>, version: Version) -> Result<()> {
        let Line::Text(line) = line else {
            return Err(Error::new(
                ErrorKind::CorruptLog,
                "a line is longer than max_line_bytes allows",
            ));
        };
        match parse_line(line)? {
            ActionLine::Add(add) => {
                let file = FileEntry {
                    path: add.path.0.as_ref().into(),
                    deletion_vector: add.deletion_vector.as_ref().map(|it| Box::new(it.into())),
                    size: add.size,
                    num_records: None,
                    modification_time: add.modification_time,
                    partition_values: owned_values(&add.partition_values).into(),
                    has_row_ids: add.base_row_id.is_some() && add.default_row_commit_version.is_some(),
                    statistics: statistics_of(add.stats),
                    version: version.as_i64(),
                    met: 0,
                };
                self.take_file(file, true);
            }
            ActionLine::Remove(remove) => {
                let file = FileEntry {
                    path: remove.path.0.as_ref().into(),
                    deletion_vector: remove.deletion_vector.as_ref().map(|it| Box::new(it.into())),
                    size: remove.size.unwrap_or(0),
                    num_records: None,
                    modification_time: 0,
                    partition_values: crate::check::file_actions::file_table::SharedPartitionValues::default(
                    ),
                    has_row_ids: false,
                    statistics: None,
                    version: version.as_i64(),
                    met: 0,
                };
                self.take_file(file, false);
            }
            ActionLine::Protocol(protocol) => self.protocol = Some(protocol),
            ActionLine::Metadata(metadata) => self.metadata = Some(metadata),
            ActionLine::Txn(txn) => {
                self.txns.insert(txn.app_id.clone(), txn);
            }
            ActionLine::DomainMetadata(domain) => {
                self.domains.insert(domain.domain.clone(), domain);
            }
            ActionLine::CommitInfo(_) => self.forbid("commitInfo"),
            ActionLine::Cdc => self.forbid("cdc"),
            _ => {}
        }
        Ok(())
    }

    fn forbid(&mut self, action: &'static str) {
        if !self.forbidden.contains(&action) {
            self.forbidden.push(action);
        }
    }

    fn take_file(&mut self, mut file: FileEntry, is_add: bool) {
        let vector = file.deletion_vector.clone();
        let path = file.path.clone();
        let key = LogicalFileKey::new(&path, vector.as_deref().map(Descriptor::key));
        let (own, other) = if is_add {
            (&mut self.adds, &mut self.removes)
        } else {
            (&mut self.removes, &mut self.adds)
        };
        let before = other.remove(&key);
        // `met` of an add: the file existed before the range; of a tombstone: its file was added within the
        // range. The first action on a file decides.
        file.met = u64::from(before.as_ref().is_some_and(|before| before.met == 0));
        let version = file.version;
        let again = own.insert(file);
        if [before, again]
            .iter()
            .flatten()
            .any(|older| older.version == version)
        {
            self.twice.push(without_secrets(&path));
        }
    }

    /// Returns tombstones of files that were added within the range. A compaction file may omit them unless
    /// their paths were live before it too.
    fn left_out<'a>(&'a self, theirs: &'a Self) -> impl Iterator<Item = &'a FileEntry> {
        let left_out = |file: &&FileEntry| file.met != 0 && theirs.removes.find(&file.key()).is_none();
        self.removes.iter().filter(left_out)
    }

    /// Reports differences between a compaction file and the commits, which are `self`.
    fn compare(&self, theirs: &Self, before: &HashSet<String>, report: &mut dyn FnMut(Finding)) {
        let mut differ: Vec<String> = Vec::new();
        for file in self.left_out(theirs) {
            if before.contains(LogicalFileKey::new(&file.path, None).path()) {
                differ.push(without_secrets(&file.path));
            }
        }
        for file in self.adds.iter() {
            if theirs
                .adds
                .find(&file.key())
                .is_none_or(|other| !file.is_copied_by(other))
            {
                differ.push(without_secrets(&file.path));
            }
        }
        for file in self.removes.iter().filter(|file| file.met == 0) {
            if theirs.removes.find(&file.key()).is_none() {
                differ.push(without_secrets(&file.path));
            }
        }
        for file in theirs.removes.iter() {
            if self.removes.find(&file.key()).is_none() {
                differ.push(without_secrets(&file.path));
            }
        }
        for file in theirs.adds.iter() {
            if self.adds.find(&file.key()).is_none() {
                differ.push(without_secrets(&file.path));
            }
        }
        differ.sort_unstable();
        differ.dedup();
        if let Some(path) = differ.first() {
            let message = format!(
                "the compaction file differs from the commits in {} data files, such as {path}",
                differ.len()
            );
            report(Finding::new(&COMPACTION_DISAGREES, message).in_field("add"));
        }
        for (field, same) in [
            (
                "protocol",
                match (&theirs.protocol, &self.protocol) {
                    (Some(theirs), Some(ours)) => is_same_protocol(theirs, ours),
                    (theirs, ours) => theirs.is_none() && ours.is_none(),
                },
            ),
            (
                "metaData",
                match (&theirs.metadata, &self.metadata) {
                    (Some(theirs), Some(ours)) => {
                        theirs.id == ours.id && different_metadata(theirs, ours).is_empty()
                    }
                    (theirs, ours) => theirs.is_none() && ours.is_none(),
                },
            ),
            ("txn", theirs.txns == self.txns),
            ("domainMetadata", theirs.domains == self.domains),
        ] {
            if !same {
                let message = format!("the {field} action differs from that of the commits");
                report(Finding::new(&COMPACTION_DISAGREES, message).in_field(field));
            }
        }
    }
}
