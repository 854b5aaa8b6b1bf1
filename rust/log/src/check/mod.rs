//! What is wrong with a log: every file of it is read, and damage is found and not stumbled over.
//!
//! A check replays the log by itself, from the first commit that is there, and goes on after damage: a commit that
//! cannot be read is a finding, and what stands behind it is looked at all the same. Whatever the log says twice is
//! compared: checkpoints, version checksums and compaction files with the commits. Nothing is ever written.

mod checkpoint;
mod checksum;
mod commit;
mod compaction;
mod compare;
pub mod diagnosis;
mod file_action;
mod file_table;
mod finding;
mod folder;
mod hint;
mod lines;
mod progress;
mod state;
mod statistics;
mod table_form;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use deltaic_protocol::log_path::{LogFileKind, LogPath};
use deltaic_protocol::{ErrorKind, Result, Version};
use futures::StreamExt;

pub use self::diagnosis::Diagnosis;
pub use self::file_table::FileEntry;
pub use self::finding::{Finding, Findings, KEPT_OF_A_CODE, Severity};
pub use self::progress::{Progress, Stage};

use self::checkpoint::CheckpointExaminer;
use self::checksum::examine_checksum;
use self::commit::examine_commit;
use self::compaction::examine_compaction;
use self::diagnosis::{
    CANNOT_BE_OPENED, FILE_OUTSIDE_OF_TABLE, MISSING_COMMIT, NO_PROTOCOL_OR_METADATA, UNREADABLE_FILE,
    UNSUPPORTED_FEATURE,
};
use self::folder::LogFolder;
use self::hint::examine_hint;
use self::lines::ActionText;
use self::state::State;
use self::table_form::examine_newest;
use crate::clock::now_ms;
use crate::listing::LogFile;
use crate::location::{TableLocation, without_secrets};
use crate::segment::{CheckpointFiles, complete_checkpoints, newest_version};
use crate::snapshot::{LoadOptions, Snapshot};
use crate::store_error::store_error;

/// How many commits are fetched ahead.
const COMMITS_IN_FLIGHT: usize = 16;

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    /// The oldest and the newest version that the log's files speak of.
    pub versions: Option<(i64, i64)>,
    /// Commits that were read.
    pub commits: usize,
    /// Checkpoints that were read, each whole.
    pub checkpoints: usize,
    /// Version checksums that were read.
    pub checksums: usize,
    /// Compaction files that were read.
    pub compactions: usize,
    /// Live files of the newest version; none where these cannot be told.
    pub live_files: Option<usize>,
    /// Data files that were looked at.
    pub data_files: usize,
}

/// What a check of a log found, and what it learnt for a look at the data.
#[derive(Debug, Default)]
pub struct Examination {
    /// What was found.
    pub findings: Findings,
    /// What was looked at.
    pub examined: Examined,
    state: State,
}

impl Examination {
    /// The live files of the newest version, as far as they can be told, in no order.
    pub fn live_files(&self) -> impl Iterator<Item = &FileEntry> {
        self.state.files.iter()
    }

    /// Paths that older versions or the change feed name; empty unless they were asked for.
    #[must_use]
    pub fn named_elsewhere(&self) -> HashSet<&str> {
        let names = self.state.named_elsewhere.iter().flatten();
        names.map(AsRef::as_ref).collect()
    }
}

/// Whether a check remembers which paths older versions name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OlderNames {
    /// It does, which a look at the data needs.
    Kept,
    /// It does not.
    Dropped,
}

/// The files of one version.
#[derive(Default)]
struct Step {
    commit: Option<Arc<LogFile>>,
    checkpoints: Vec<CheckpointFiles>,
    checksum: Option<Arc<LogFile>>,
}

/// Checks a log. What is wrong with it becomes findings; a place without a table, and a store that cannot be asked,
/// are errors. Must be called inside a runtime.
pub async fn check_log(
    location: &Arc<TableLocation>,
    options: LoadOptions,
    older_names: OlderNames,
    progress: &Progress,
) -> Result<Examination> {
    let folder = LogFolder::list(location).await?;
    let mut findings = Findings::default();
    folder.examine(&mut findings);
    let (steps, compactions) = steps_of(&folder);
    let commits: BTreeMap<Version, Arc<LogFile>> = steps
        .iter()
        .filter_map(|(version, step)| Some((*version, Arc::clone(step.commit.as_ref()?))))
        .collect();
    progress.begin(Stage::Log, steps.len() + compactions.len());
    let mut walk = Walk {
        location,
        options,
        progress,
        state: State::new(commits.contains_key(&Version::ZERO), older_names),
        findings,
        examined: Examined::default(),
        gaps: Vec::new(),
        readable: Vec::new(),
        examiner: CheckpointExaminer {
            location,
            folder: &folder,
            max_line_bytes: options.max_line_bytes,
            now_ms: now_ms(),
            sidecars: Some(BTreeSet::new()),
        },
    };
    walk.run(steps).await?;
    for file in &compactions {
        examine_compaction(
            location,
            file,
            &commits,
            options.max_line_bytes,
            &mut walk.findings,
        )
        .await;
        walk.examined.compactions += 1;
        progress.step();
    }
    let newest = newest_version(&folder.listing);
    walk.tell_gaps(newest);
    walk.finish(&folder, newest).await
}

fn steps_of(folder: &LogFolder) -> (BTreeMap<Version, Step>, Vec<Arc<LogFile>>) {
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

/// The way through the versions.
struct Walk<'a> {
    location: &'a Arc<TableLocation>,
    options: LoadOptions,
    progress: &'a Progress,
    state: State,
    findings: Findings,
    examined: Examined,
    /// Commits that are not there: from and to.
    gaps: Vec<(Version, Version)>,
    /// Versions of checkpoints that can be read.
    readable: Vec<Version>,
    examiner: CheckpointExaminer<'a>,
}

impl Walk<'_> {
    async fn run(&mut self, steps: BTreeMap<Version, Step>) -> Result<()> {
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
                let readable = self
                    .examiner
                    .examine(checkpoint, &mut self.state, &mut self.findings)
                    .await;
                self.examined.checkpoints += 1;
                if readable {
                    self.readable.push(version);
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

    /// Notes that commits are missing between two versions.
    fn note_gap(&mut self, before: Option<Version>, next: Version) {
        let Some(before) = before else { return };
        let (Ok(first), Some(last)) = (before.next(), next.previous()) else {
            return;
        };
        if first <= last && self.gaps.last().is_none_or(|(_, told)| first > *told) {
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
            Ok(bytes) => examine_checksum(file, &bytes, &self.state, &mut self.findings),
            Err(error) => {
                let error = store_error(&error, &file.relative());
                let finding = Finding::of(&UNREADABLE_FILE, &error).of_version(file.path.version);
                self.findings.add(finding.with_severity(Severity::Warning));
            }
        }
    }

    /// Tells which commits are missing, and how bad that is: where a newer checkpoint stands in, only history is lost.
    fn tell_gaps(&mut self, newest: Option<Version>) {
        let newest_is_known = self.state.version.is_some() && self.state.version == newest;
        for (first, last) in std::mem::take(&mut self.gaps) {
            let said = if first == last {
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
                Finding::new(&MISSING_COMMIT, said)
                    .at(LogPath::commit(first))
                    .of_version(first)
                    .with_severity(severity),
            );
        }
    }

    async fn finish(mut self, folder: &LogFolder, newest: Option<Version>) -> Result<Examination> {
        if let Some(named) = &self.examiner.sidecars {
            folder.examine_sidecars(named, &mut self.findings);
        }
        examine_hint(self.location, &folder.listing, &self.readable, &mut self.findings).await;
        let oldest = folder.listing.files.iter().map(|file| file.path.version).min();
        self.examined.versions = oldest.zip(newest).map(|(old, new)| (old.as_i64(), new.as_i64()));
        let is_newest = self.state.version.is_some() && self.state.version == newest;
        if is_newest {
            self.examined.live_files = Some(self.state.files.len());
            self.judge_newest();
        }
        let started = self.state.version.is_none() && self.findings.worst() < Some(Severity::Damage);
        if started && let Some(first) = folder.listing.commits().next() {
            let said = format!(
                "the log begins at commit {}, and no checkpoint that can be read leads there",
                first.path.version
            );
            let finding = Finding::new(&MISSING_COMMIT, said);
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

    fn judge_newest(&mut self) {
        let Some(version) = self.state.version else { return };
        let mut newest = Findings::default();
        match (&self.state.protocol, &self.state.metadata) {
            (Some(protocol), Some(metadata)) => {
                examine_newest(protocol, metadata, self.state.domains.values(), &mut newest);
            }
            _ if self.state.is_whole => {
                let said = "the log holds no protocol or no metaData";
                newest.add(Finding::new(&NO_PROTOCOL_OR_METADATA, said));
            }
            _ => {}
        }
        for finding in newest.into_sorted() {
            self.findings.add(finding.of_version(version));
        }
        for file in self.state.files.iter() {
            if let Err(error) = self.location.resolve(&file.path) {
                let finding = Finding::new(&FILE_OUTSIDE_OF_TABLE, error.what());
                self.findings
                    .add(finding.at(without_secrets(&file.path)).of_version(version));
            }
        }
    }

    /// Opens the table as a reader does, which must agree with what was found.
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
