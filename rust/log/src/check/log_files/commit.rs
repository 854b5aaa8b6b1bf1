//! Validates every line of one commit, and applies its actions to the state.
//!
//! Protocol: *Delta Log Entries*, *Actions*, *Action Reconciliation*, *In-Commit Timestamps*.

use std::borrow::Cow;
use std::collections::HashSet;

use deltaic_protocol::Version;
use deltaic_protocol::actions::{
    ActionLine, AddLine, Cdc, CommitInfo, LogicalFileKey, Metadata, PartitionText, Protocol, RemoveLine,
    parse_line,
};
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::in_commit_timestamp::TimestampSource;
use deltaic_protocol::strict_json::ensure_strict;
use memchr::memmem;

use super::commit_time::validate_times;
use crate::check::file_actions::file_action::{validate_add, validate_tombstone};
use crate::check::file_actions::file_table::FileEntry;
use crate::check::file_actions::fingerprint::Fingerprint;
use crate::check::file_actions::statistics::validate;
use crate::check::findings::diagnosis::{
    COMMIT_INFO_NOT_FIRST, DAMAGED_COMMIT, DUPLICATE_ACTION, DUPLICATE_FILE, IN_COMMIT_TIMESTAMP_GOES_BACK,
    LOOSE_JSON, MISSING_IN_COMMIT_TIMESTAMP, NO_PROTOCOL_OR_METADATA, PATH_LIVE_TWICE, STATISTICS_NOT_JSON,
};
use crate::check::findings::finding::{Finding, Findings};
use crate::check::findings::severity::Severity;
use crate::check::state::{State, Touched};
use crate::decode::action_text::{ActionText, Line};
use deltaic_storage::location::without_secrets;

/// The name of a line's action starts within this many bytes.
const NAME_BYTES: usize = 64;

/// Applies one file of actions to the state.
pub(super) struct CommitReader<'a> {
    state: &'a mut State,
    findings: &'a mut Findings,
    path: String,
    version: Version,
    now_ms: i64,
    actions: usize,
    is_damaged: bool,
    touched: Touched,
    /// Paths that were live more than once while the commit was read.
    suspects: Vec<Box<str>>,
    apps: HashSet<String>,
    domains: HashSet<String>,
    /// The line number and content of the `commitInfo`.
    info: Option<(usize, CommitInfo)>,
    first_line: usize,
}

/// Reads a commit. Failures of the store are errors; everything else becomes findings.
pub(in crate::check) async fn examine_commit(
    text: &ActionText,
    state: &mut State,
    findings: &mut Findings,
    now_ms: i64,
) -> Result<(), object_store::Error> {
    let mut reader = CommitReader {
        path: text.file.relative(),
        version: text.file.path.version,
        state,
        findings,
        now_ms,
        actions: 0,
        is_damaged: false,
        touched: Touched::default(),
        suspects: Vec::new(),
        apps: HashSet::new(),
        domains: HashSet::new(),
        info: None,
        first_line: 0,
    };
    // The order within a commit has no meaning: protocol and metadata may follow the files they apply to.
    let mut found = FoundConfiguration::default();
    text.for_each_line(&mut |_, line| found.look(&line)).await?;
    reader.take_configuration(found);
    text.for_each_line(&mut |number, line| reader.take_line(number, &line))
        .await?;
    reader.finish();
    Ok(())
}

/// The protocol and metadata of a commit.
#[derive(Default)]
struct FoundConfiguration {
    protocols: Vec<Protocol>,
    metadata: Vec<Metadata>,
}

impl FoundConfiguration {
    fn look(&mut self, line: &Line<'_>) {
        let Line::Text(line) = line else { return };
        let start = line.get(..NAME_BYTES).unwrap_or(line);
        if memmem::find(start, b"\"protocol\"").is_none() && memmem::find(start, b"\"metaData\"").is_none() {
            return;
        }
        match parse_line(line) {
            Ok(ActionLine::Protocol(protocol)) => self.protocols.push(protocol),
            Ok(ActionLine::Metadata(metadata)) => self.metadata.push(metadata),
            _ => {}
        }
    }
}

impl CommitReader<'_> {
    fn report(&mut self, finding: Finding) {
        self.findings
            .add(finding.at(self.path.as_str()).of_version(self.version));
    }

    fn damage(&mut self, finding: Finding) {
        self.is_damaged = true;
        self.report(finding);
    }

    fn take_configuration(&mut self, found: FoundConfiguration) {
        for (what, count) in [
            ("protocol", found.protocols.len()),
            ("metaData", found.metadata.len()),
        ] {
            if count > 1 {
                let message = format!("there are {count} {what} actions");
                self.damage(Finding::new(&DUPLICATE_ACTION, message).in_field(what));
            }
        }
        let (path, version) = (self.path.clone(), self.version);
        let findings = &mut *self.findings;
        self.state.apply_configuration(
            found.protocols.into_iter().next_back(),
            found.metadata.into_iter().next_back(),
            |finding| findings.add(finding.at(path.as_str()).of_version(version)),
        );
    }

    fn take_line(&mut self, number: usize, line: &Line<'_>) {
        let Line::Text(line) = line else {
            let what = "a line is longer than max_line_bytes allows: raise it if you trust the table";
            self.damage(Finding::new(&DAMAGED_COMMIT, what).on_line(number));
            return;
        };
        if self.actions == 0 {
            self.first_line = number;
        }
        self.actions += 1;
        match parse_line(line) {
            Err(error) => self.damage(Finding::of(&DAMAGED_COMMIT, &error).on_line(number)),
            Ok(ActionLine::Add(add)) => self.take_add(number, &add),
            Ok(ActionLine::Remove(remove)) => self.take_remove(number, &remove),
            Ok(ActionLine::Txn(txn)) => {
                if !self.apps.insert(txn.app_id.clone()) {
                    let message = format!("there are two txn actions of {:?}", txn.app_id);
                    self.damage(
                        Finding::new(&DUPLICATE_ACTION, message)
                            .in_field("txn")
                            .on_line(number),
                    );
                }
                self.state.txns.insert(txn.app_id.clone(), txn);
            }
            Ok(ActionLine::DomainMetadata(domain)) => {
                if !self.domains.insert(domain.domain.clone()) {
                    let message = format!("there are two domainMetadata actions of {:?}", domain.domain);
                    let finding = Finding::new(&DUPLICATE_ACTION, message);
                    self.damage(finding.in_field("domainMetadata").on_line(number));
                }
                if domain.removed {
                    self.state.domains.remove(&domain.domain);
                } else {
                    self.state.domains.insert(domain.domain.clone(), domain);
                }
            }
            Ok(ActionLine::CommitInfo(info)) => {
                if let Err(error) = ensure_strict(info.get(), None) {
                    self.report(
                        Finding::of(&LOOSE_JSON, &error)
                            .in_field("commitInfo")
                            .on_line(number),
                    );
                }
                if self.info.is_none() {
                    let info = serde_json::from_str(info.get()).unwrap_or_default();
                    self.info = Some((number, info));
                }
            }
            Ok(ActionLine::Cdc) => self.take_cdc(number, line),
            Ok(_) => {}
        }
    }

    fn take_cdc(&mut self, number: usize, line: &[u8]) {
        match std::str::from_utf8(line).map(Cdc::parse_line) {
            Ok(Ok(Some(cdc))) => self.state.name_elsewhere(&cdc.path),
            Ok(Err(error)) => {
                // The change data feed needs this action; the table's state does not.
                let finding = Finding::of(&DAMAGED_COMMIT, &error).on_line(number);
                self.report(finding.with_severity(Severity::Warning));
            }
            _ => {}
        }
    }

    fn touch(&mut self, number: usize, key: &LogicalFileKey<'_>, path: &str) {
        if self.touched.insert(key) {
            return;
        }
        let message = "the commit adds or removes the logical file more than once";
        let finding = Finding::new(&DUPLICATE_FILE, message).at(without_secrets(path));
        self.damage(finding.on_line(number));
    }

    fn take_add(&mut self, number: usize, add: &AddLine<'_>) {
        let mut file = FileEntry {
            path: add.path.0.as_ref().into(),
            deletion_vector: add
                .deletion_vector
                .as_ref()
                .map(|it| Box::new(Descriptor::from(it))),
            size: add.size,
            num_records: None,
            modification_time: add.modification_time,
            partition_values: self.state.pool.keep(owned_values(&add.partition_values)),
            has_row_ids: add.base_row_id.is_some() && add.default_row_commit_version.is_some(),
            statistics: add.stats.is_none().then_some(Fingerprint::NOTHING),
            version: self.version.as_i64(),
            met: 0,
        };
        let mut found: Vec<Finding> = Vec::new();
        if let Some(raw) = add.stats {
            match serde_json::from_str::<Cow<'_, str>>(raw.get()) {
                Ok(text) => {
                    let checked = validate(
                        &text,
                        self.state.requirements.as_ref().map(|required| &required.schema),
                    );
                    file.num_records = checked.num_records;
                    file.statistics = Some(Fingerprint::of(&text));
                    found.extend(checked.faults);
                }
                Err(_) => found.push(
                    Finding::new(&STATISTICS_NOT_JSON, "the statistics are not text").in_field("stats"),
                ),
            }
        }
        validate_add(
            &file,
            self.state.requirements.as_ref(),
            &mut self.state.known,
            &mut |finding| found.push(finding),
        );
        let shown = without_secrets(&file.path);
        for finding in found {
            self.report(finding.at(shown.as_str()).on_line(number));
        }
        self.touch(number, &file.key(), &file.path);
        let path = file.path.clone();
        self.state.files.insert(file);
        if self.state.files.times_live(&path) > 1 {
            self.suspects.push(path);
        }
    }

    fn take_remove(&mut self, number: usize, remove: &RemoveLine<'_>) {
        let shown = || without_secrets(&remove.path);
        if let Some(finding) = validate_tombstone(remove.deletion_timestamp, self.now_ms) {
            self.report(finding.at(shown()).on_line(number));
        }
        let vector = remove.deletion_vector.as_ref().map(Descriptor::from);
        let key = LogicalFileKey::new(&remove.path, vector.as_ref().map(Descriptor::key));
        self.touch(number, &key, &remove.path);
        self.state.name_elsewhere(&remove.path);
        self.state.files.remove(&key);
    }

    fn finish(mut self) {
        if self.actions == 0 && !self.is_damaged {
            self.damage(Finding::new(&DAMAGED_COMMIT, "the file is empty"));
        }
        let mut suspects = std::mem::take(&mut self.suspects);
        suspects.sort_unstable();
        suspects.dedup();
        for path in suspects {
            let times = self.state.files.times_live(&path);
            if times > 1 {
                let message = format!("the path is live {times} times, with different deletion vectors");
                self.damage(Finding::new(&PATH_LIVE_TWICE, message).at(without_secrets(&path)));
            }
        }
        let lacks = self.state.protocol.is_none() || self.state.metadata.is_none();
        if self.version == Version::ZERO && lacks && !self.is_damaged {
            let message = "the first commit contains no protocol or no metaData";
            self.damage(Finding::new(&NO_PROTOCOL_OR_METADATA, message));
        }
        if let Some((line, info)) = &self.info {
            let line = *line;
            for finding in validate_times(info) {
                self.report(finding.on_line(line));
            }
        }
        self.check_time();
        self.state.commit_info = self.info.take().map(|(_, info)| info).unwrap_or_default();
        self.state.is_whole &= !self.is_damaged;
        if self.state.is_whole || self.state.version.is_some() {
            self.state.version = Some(self.version);
        }
    }

    fn check_time(&mut self) {
        let required = self.state.requirements.as_ref();
        let needs_one = required
            .and_then(|required| required.in_commit_timestamps)
            .is_some_and(|times| times.source(self.version) == TimestampSource::InCommit);
        if !needs_one || self.is_damaged {
            return;
        }
        let time = self.info.as_ref().and_then(|(_, info)| info.in_commit_timestamp);
        let Some(time) = time else {
            let message = "the commit has no inCommitTimestamp, but in-commit timestamps are enabled";
            self.report(
                Finding::new(&MISSING_IN_COMMIT_TIMESTAMP, message).in_field("commitInfo.inCommitTimestamp"),
            );
            return;
        };
        if let Some((line, _)) = self.info
            && line != self.first_line
        {
            let message = "the commitInfo is not the first action";
            self.report(Finding::new(&COMMIT_INFO_NOT_FIRST, message).on_line(line));
        }
        if let Some(before) = self.state.last_time.filter(|before| time <= *before) {
            let message = format!(
                "the commit timestamp, {time} ms, is not later than that of the previous commit, {before} ms"
            );
            let finding = Finding::new(&IN_COMMIT_TIMESTAMP_GOES_BACK, message);
            self.report(finding.in_field("commitInfo.inCommitTimestamp"));
        }
        self.state.last_time = Some(self.state.last_time.map_or(time, |before| before.max(time)));
    }
}

/// Returns owned partition values of a line.
pub(super) fn owned_values(values: &PartitionText<'_>) -> std::collections::BTreeMap<String, Option<String>> {
    values
        .0
        .iter()
        .map(|(name, value)| {
            let value = value.as_ref().map(|text| text.0.clone().into_owned());
            (name.0.clone().into_owned(), value)
        })
        .collect()
}
