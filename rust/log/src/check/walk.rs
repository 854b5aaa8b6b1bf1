//! Replays the versions of a log, oldest first: each file is read once, and damaged ones are skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deltaic_protocol::log_path::{LogFileKind, LogPath};
use deltaic_protocol::{ErrorKind, Result, TableConfiguration, Version};
use futures::StreamExt;

use super::examination::{Examination, Examined};
use super::file_actions::file_requirements::examine_newest;
use super::file_actions::places::examine_places;
use super::file_actions::row_ids::examine_row_ids;
use super::findings::diagnosis::{
    CANNOT_BE_OPENED, MISSING_COMMIT, NO_PROTOCOL_OR_METADATA, UNREADABLE_FILE, UNSUPPORTED_FEATURE,
};
use super::findings::finding::{Finding, Findings};
use super::findings::severity::Severity;
use super::log_files::checkpoint::CheckpointExaminer;
use super::log_files::checksum::ChecksumExaminer;
use super::log_files::commit::examine_commit;
use super::log_files::folder::LogFolder;
use super::log_files::hint::{CheckpointContents, examine_hint};
use super::state::State;
use crate::decode::action_text::ActionText;
use crate::listing::LogFile;
use crate::progress::Progress;
use crate::segment::{CheckpointFiles, complete_checkpoints};
use crate::snapshot::{LoadOptions, Snapshot};
use deltaic_storage::clock::now_ms;
use deltaic_storage::location::TableLocation;
use deltaic_storage::store_error;

/// Number of commits that are prefetched.
const COMMITS_IN_FLIGHT: usize = 16;

/// The files of one version.
#[derive(Default)]
pub(super) struct Step {
    pub(super) commit: Option<Arc<LogFile>>,
    checkpoints: Vec<CheckpointFiles>,
    checksum: Option<Arc<LogFile>>,
}

/// Returns the log's files by version, and its compaction files.
pub(super) fn steps_of(folder: &LogFolder) -> (BTreeMap<Version, Step>, Vec<Arc<LogFile>>) {
    let mut steps: BTreeMap<Version, Step> = BTreeMap::new();
    let mut compactions = Vec::new();
    for file in &folder.listing.files {
        let version = file.path.version;
        match file.path.kind {
            LogFileKind::Commit => steps.entry(version).or_default().commit = Some(Arc::clone(file)),
            LogFileKind::VersionChecksum => {
                steps.entry(version).or_default().checksum = Some(Arc::clone(file));
            }
            LogFileKind::Compaction { .. } => compactions.push(Arc::clone(file)),
            _ => {}
        }
    }
    for checkpoint in complete_checkpoints(&folder.listing, None) {
        let step = steps.entry(checkpoint.version).or_default();
        step.checkpoints.push(checkpoint);
    }
    (steps, compactions)
}

/// Replay of the versions.
pub(super) struct Walk<'a> {
    pub(super) location: &'a Arc<TableLocation>,
    options: LoadOptions,
    progress: &'a Progress,
    state: State,
    pub(super) findings: Findings,
    pub(super) examined: Examined,
    /// Ranges of missing commits, from and to.
    gaps: Vec<(Version, Version)>,
    /// Readable checkpoints by version.
    readable: Vec<(Version, CheckpointContents)>,
    examiner: CheckpointExaminer<'a>,
    checksums: ChecksumExaminer,
}

impl<'a> Walk<'a> {
    /// Creates a replay that starts with a state.
    pub(super) fn new(
        location: &'a Arc<TableLocation>,
        folder: &'a LogFolder,
        options: LoadOptions,
        progress: &'a Progress,
        state: State,
    ) -> Self {
        Self {
            location,
            options,
            progress,
            state,
            findings: Findings::default(),
            examined: Examined::default(),
            gaps: Vec::new(),
            readable: Vec::new(),
            examiner: CheckpointExaminer {
                location,
                folder,
                max_line_bytes: options.max_line_bytes,
                now_ms: now_ms(),
                sidecars: Some(BTreeSet::new()),
            },
            checksums: ChecksumExaminer::default(),
        }
    }

    /// Reads every version.
    pub(super) async fn run(&mut self, steps: BTreeMap<Version, Step>) -> Result<()> {
        let fetches: Vec<_> = steps
            .values()
            .filter_map(|step| step.commit.clone())
            .map(|file| {
                let location = Arc::clone(self.location);
                let longest = self.options.max_line_bytes;
                async move { ActionText::fetch(location, file, longest).await }
            })
            .collect();
        let mut fetched = futures::stream::iter(fetches).buffered(COMMITS_IN_FLIGHT);
        let mut last_commit: Option<Version> = None;
        let mut last_known: Option<Version> = None;
        for (version, step) in steps {
            if let Some(file) = &step.commit {
                let before = last_commit.max(last_known);
                self.note_gap(before, version);
                let text = fetched.next().await;
                self.take_commit(file, text).await;
                last_commit = Some(version);
            }
            for checkpoint in &step.checkpoints {
                if step.commit.is_none() && last_commit.is_some() {
                    self.note_gap(last_commit.max(last_known), version.next()?);
                }
                let held = self
                    .examiner
                    .examine(checkpoint, &mut self.state, &mut self.findings)
                    .await;
                self.examined.checkpoints += 1;
                if let Some(held) = held {
                    self.readable.push((version, held));
                    last_known = last_known.max(Some(version));
                }
            }
            if let Some(file) = &step.checksum {
                self.take_checksum(file).await;
            }
            self.progress.step();
        }
        Ok(())
    }

    /// Records that commits are missing between two versions.
    fn note_gap(&mut self, before: Option<Version>, next: Version) {
        let Some(before) = before else { return };
        let (Ok(first), Some(last)) = (before.next(), next.previous()) else {
            return;
        };
        if first <= last && self.gaps.last().is_none_or(|(_, reported)| first > *reported) {
            self.gaps.push((first, last));
            self.state.forget();
        }
    }

    async fn take_commit(
        &mut self,
        file: &Arc<LogFile>,
        text: Option<std::result::Result<ActionText, object_store::Error>>,
    ) {
        let read = match text {
            Some(Ok(text)) => {
                let now_ms = self.examiner.now_ms;
                examine_commit(&text, &mut self.state, &mut self.findings, now_ms).await
            }
            Some(Err(error)) => Err(error),
            None => return,
        };
        self.examined.commits += 1;
        if let Err(error) = read {
            let error = store_error(&error, &file.relative());
            let finding = Finding::of(&UNREADABLE_FILE, &error).of_version(file.path.version);
            self.findings.add(finding);
            self.state.is_whole = false;
        }
    }

    async fn take_checksum(&mut self, file: &LogFile) {
        self.examined.checksums += 1;
        match self.location.read(&file.relative()).await {
            Ok(bytes) => self
                .checksums
                .examine(file, &bytes, &self.state, &mut self.findings),
            Err(error) => {
                let error = store_error(&error, &file.relative());
                let finding = Finding::of(&UNREADABLE_FILE, &error).of_version(file.path.version);
                self.findings.add(finding.with_severity(Severity::Warning));
            }
        }
    }

    /// Reports missing commits with their severity: if a newer checkpoint replaces them, only history is
    /// lost.
    fn report_gaps(&mut self, newest: Option<Version>) {
        let newest_is_known = self.state.version.is_some() && self.state.version == newest;
        for (first, last) in std::mem::take(&mut self.gaps) {
            let message = if first == last {
                format!("commit {first} is missing")
            } else {
                format!("the commits {first} to {last} are missing")
            };
            let severity = if newest_is_known {
                Severity::Warning
            } else {
                Severity::Damage
            };
            self.findings.add(
                Finding::new(&MISSING_COMMIT, message)
                    .at(LogPath::commit(first))
                    .of_version(first)
                    .with_severity(severity),
            );
        }
    }

    /// Reports findings that depend on the whole log.
    pub(super) async fn finish(mut self, folder: &LogFolder, newest: Option<Version>) -> Result<Examination> {
        self.report_gaps(newest);
        if let Some(named) = &self.examiner.sidecars {
            folder.examine_sidecars(named, &mut self.findings);
        }
        examine_hint(self.location, &folder.listing, &self.readable, &mut self.findings).await;
        let oldest = folder.listing.files.iter().map(|file| file.path.version).min();
        self.examined.versions = oldest.zip(newest).map(|(old, new)| (old.as_i64(), new.as_i64()));
        let is_newest = self.state.version.is_some() && self.state.version == newest;
        if is_newest {
            self.examined.live_files = Some(self.state.files.len());
            self.check_newest();
        }
        let started = self.state.version.is_none() && self.findings.worst() < Some(Severity::Damage);
        if started && let Some(first) = folder.listing.commits().next() {
            let message = format!(
                "the log begins at commit {}, but no readable checkpoint precedes it",
                first.path.version
            );
            let finding = Finding::new(&MISSING_COMMIT, message);
            self.findings
                .add(finding.at(first.relative()).of_version(first.path.version));
        }
        self.open().await?;
        Ok(Examination {
            findings: self.findings,
            examined: self.examined,
            state: self.state,
        })
    }

    fn check_newest(&mut self) {
        let Some(version) = self.state.version else { return };
        let mut newest = Findings::default();
        match (&self.state.protocol, &self.state.metadata) {
            (Some(protocol), Some(metadata)) => {
                let table = TableConfiguration::new(protocol.clone(), metadata.clone());
                examine_newest(&table, self.state.domains.values(), &mut newest);
            }
            _ if self.state.is_whole => {
                let message = "the log contains no protocol or no metaData";
                newest.add(Finding::new(&NO_PROTOCOL_OR_METADATA, message));
            }
            _ => {}
        }
        for finding in newest.into_sorted() {
            self.findings.add(finding.of_version(version));
        }
        let findings = &mut self.findings;
        let mut report = |finding: Finding| findings.add(finding.of_version(version));
        examine_places(self.location, &self.state.files, &mut report);
        examine_row_ids(self.state.requirements.as_ref(), &self.state.files, &mut report);
    }

    /// Opens the table as a reader does, to compare the result with the findings.
    async fn open(&mut self) -> Result<()> {
        let Err(error) = Snapshot::load(Arc::clone(self.location), None, self.options).await else {
            return Ok(());
        };
        let diagnosis = match error.kind() {
            ErrorKind::UnsupportedFeature => &UNSUPPORTED_FEATURE,
            _ => &CANNOT_BE_OPENED,
        };
        let finding = Finding::of(diagnosis, &error);
        let is_told = diagnosis.code == UNSUPPORTED_FEATURE.code
            && self.findings.counts().contains_key(UNSUPPORTED_FEATURE.code);
        if !is_told {
            self.findings.add(finding);
        }
        Ok(())
    }
}
