//! Checks checkpoints: reads each completely and compares it with the commits, or starts from it if these are
//! missing.
//!
//! Protocol: *Checkpoints*, *V2 Spec*, *Sidecar Files*, *Action Reconciliation*.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use deltaic_protocol::actions::LogicalFileKey;
use deltaic_protocol::log_path::LOG_FOLDER;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::checkpoint_statistics::{other_statistics, read_statistics};
use super::compare::{compare, report_statistics};
use super::folder::LogFolder;
use super::hint::CheckpointContents;
use super::seed::seed;
use crate::check::file_actions::file_action::validate_tombstone;
use crate::check::file_actions::fingerprint::Fingerprint;
use crate::check::file_actions::statistics::{StatisticsReport, validate};
use crate::check::findings::diagnosis::{BROKEN_CHECKPOINT, MISSING_SIDECAR, UNREADABLE_FILE};
use crate::check::findings::finding::{Finding, Findings};
use crate::check::state::State;
use crate::decode::FileBatch;
use crate::decode::checkpoint::Checkpoint;
use crate::segment::CheckpointFiles;
use deltaic_storage::location::{TableLocation, without_secrets};

/// Context for checking checkpoints.
pub(in crate::check) struct CheckpointExaminer<'a> {
    pub(in crate::check) location: &'a Arc<TableLocation>,
    pub(in crate::check) folder: &'a LogFolder,
    pub(in crate::check) max_line_bytes: usize,
    pub(in crate::check) now_ms: i64,
    /// The sidecars that checkpoints refer to; `None` after an unreadable checkpoint, which may refer to
    /// more.
    pub(in crate::check) sidecars: Option<BTreeSet<String>>,
}

impl CheckpointExaminer<'_> {
    /// Checks a checkpoint. Returns the size of its contents; `None` if it cannot be read.
    pub(in crate::check) async fn examine(
        &mut self,
        files: &CheckpointFiles,
        state: &mut State,
        findings: &mut Findings,
    ) -> Option<CheckpointContents> {
        let first = files
            .files
            .first()
            .map(|file| file.relative())
            .unwrap_or_default();
        let mut report =
            |finding: Finding| findings.add(finding.at(first.as_str()).of_version(files.version));
        let read = Checkpoint::read(self.location, files, self.max_line_bytes).await;
        let checkpoint = match read {
            Ok(checkpoint) => checkpoint,
            Err(error) => {
                self.sidecars = None;
                report(self.broken(&error));
                return None;
            }
        };
        if let Some(known) = &mut self.sidecars {
            known.extend(
                checkpoint
                    .sidecars
                    .iter()
                    .filter_map(|sidecar| sidecar.name().ok()),
            );
        }
        let removes = match checkpoint.ensure_one_action_a_row().await {
            Ok(()) => checkpoint.read_tombstones().await,
            Err(error) => Err(error),
        };
        let removes = match removes {
            Ok(removes) => removes,
            Err(error) => {
                report(self.broken(&error));
                return None;
            }
        };
        let is_usable = state.is_whole && state.version == Some(files.version);
        let read = if is_usable {
            compare(&checkpoint, &removes, state, &mut report);
            let longest = self.max_line_bytes;
            let others = other_statistics(&checkpoint, self.location, longest, &state.files).await;
            others.map(|others| report_statistics(&others, &mut report))
        } else {
            seed(&checkpoint, state, &mut report);
            for batch in &removes {
                self.take_tombstones(batch, state, &mut report);
            }
            self.take_statistics(&checkpoint, state, &mut report).await
        };
        if let Err(error) = read {
            report(self.broken(&error));
            state.is_whole &= is_usable;
            return None;
        }
        Some(CheckpointContents {
            adds: checkpoint.adds.iter().map(|batch| batch.len()).sum(),
            actions: checkpoint.rows(),
            bytes: files
                .files
                .iter()
                .map(|file| file.size)
                .fold(0, u64::saturating_add),
        })
    }

    fn broken(&self, error: &Error) -> Finding {
        let below = format!("{LOG_FOLDER}/_sidecars/");
        let finding = Finding::of(
            if error.kind() == ErrorKind::StorageError {
                &UNREADABLE_FILE
            } else {
                &BROKEN_CHECKPOINT
            },
            error,
        );
        let sidecar = finding.path.as_deref().and_then(|path| path.strip_prefix(&below));
        match sidecar {
            Some(name) if !self.folder.sidecars.contains(name) => Finding::of(&MISSING_SIDECAR, error),
            _ => finding,
        }
    }

    fn take_tombstones(&self, batch: &FileBatch, state: &mut State, report: &mut dyn FnMut(Finding)) {
        let times = batch.batch.column_by_name("deletion_timestamp");
        let paths = batch.batch.column_by_name("path");
        let (Some(times), Some(paths)) = (
            times.and_then(|times| times.as_primitive_opt::<Int64Type>()),
            paths.and_then(|paths| paths.as_string_opt::<i32>()),
        ) else {
            return;
        };
        for row in 0..batch.len() {
            let time = times.is_valid(row).then(|| times.value(row));
            if let Some(finding) = validate_tombstone(time, self.now_ms) {
                report(finding.at(without_secrets(paths.value(row))));
            }
            if state.files.find(&batch.keys.key(row)).is_some() {
                let message =
                    "the checkpoint contains an add and a remove of one logical file; readers use the add";
                report(Finding::new(&BROKEN_CHECKPOINT, message).at(without_secrets(paths.value(row))));
            }
            state.name_elsewhere(paths.value(row));
        }
    }

    /// Reads the statistics of a checkpoint that is the start of the state.
    async fn take_statistics(
        &self,
        checkpoint: &Checkpoint,
        state: &mut State,
        report: &mut (dyn FnMut(Finding) + Send),
    ) -> Result<()> {
        let schema = state
            .requirements
            .as_ref()
            .map(|required| required.schema.clone());
        let files = &mut state.files;
        let take = &mut |key: &LogicalFileKey<'_>, text: Option<&str>, num_records: Option<i64>| {
            let mut checked =
                text.map_or_else(StatisticsReport::default, |text| validate(text, schema.as_ref()));
            checked.num_records = checked.num_records.or(num_records);
            if let Some(file) = files.find_mut(key) {
                file.num_records = checked.num_records;
                file.statistics = text.map(Fingerprint::of);
                let shown = without_secrets(&file.path);
                for fault in checked.faults {
                    report(fault.at(shown.as_str()));
                }
            }
        };
        read_statistics(checkpoint, self.location, self.max_line_bytes, take).await
    }
}
