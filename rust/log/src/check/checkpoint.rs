//! Checkpoints: each is read completely, then compared with the commits, or used as the start if these are
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
use super::compare::{compare, say_statistics};
use super::diagnosis::{BROKEN_CHECKPOINT, MISSING_SIDECAR, UNREADABLE_FILE};
use super::file_action::judge_tombstone;
use super::finding::{Finding, Findings};
use super::fingerprint::Fingerprint;
use super::folder::LogFolder;
use super::hint::Held;
use super::seed::seed;
use super::state::State;
use super::statistics::{Judged, judge};
use crate::decode::FileBatch;
use crate::decode::checkpoint::Checkpoint;
use crate::segment::CheckpointFiles;
use deltaic_storage::location::{TableLocation, without_secrets};

/// Context for checking checkpoints.
pub(super) struct CheckpointExaminer<'a> {
    pub(super) location: &'a Arc<TableLocation>,
    pub(super) folder: &'a LogFolder,
    pub(super) max_line_bytes: usize,
    pub(super) now_ms: i64,
    /// The sidecars that checkpoints refer to; `None` after an unreadable checkpoint, which may refer to
    /// more.
    pub(super) sidecars: Option<BTreeSet<String>>,
}

impl CheckpointExaminer<'_> {
    /// Checks a checkpoint. Returns the amount of its contents; `None` if it cannot be read.
    pub(super) async fn examine(
        &mut self,
        files: &CheckpointFiles,
        state: &mut State,
        findings: &mut Findings,
    ) -> Option<Held> {
        let first = files
            .files
            .first()
            .map(|file| file.relative())
            .unwrap_or_default();
        let mut say = |finding: Finding| findings.add(finding.at(first.as_str()).of_version(files.version));
        let read = Checkpoint::read(self.location, files, self.max_line_bytes).await;
        let checkpoint = match read {
            Ok(checkpoint) => checkpoint,
            Err(error) => {
                self.sidecars = None;
                say(self.broken(&error));
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
                say(self.broken(&error));
                return None;
            }
        };
        let is_usable = state.is_whole && state.version == Some(files.version);
        let read = if is_usable {
            compare(&checkpoint, &removes, state, &mut say);
            let longest = self.max_line_bytes;
            let others = other_statistics(&checkpoint, self.location, longest, &state.files).await;
            others.map(|others| say_statistics(&others, &mut say))
        } else {
            seed(&checkpoint, state, &mut say);
            for batch in &removes {
                self.take_tombstones(batch, state, &mut say);
            }
            self.take_statistics(&checkpoint, state, &mut say).await
        };
        if let Err(error) = read {
            say(self.broken(&error));
            state.is_whole &= is_usable;
            return None;
        }
        Some(Held {
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

    fn take_tombstones(&self, batch: &FileBatch, state: &mut State, say: &mut dyn FnMut(Finding)) {
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
            if let Some(finding) = judge_tombstone(time, self.now_ms) {
                say(finding.at(without_secrets(paths.value(row))));
            }
            if state.files.find(&batch.keys.key(row)).is_some() {
                let message = "it holds an add and a remove of one logical file; readers take the add";
                say(Finding::new(&BROKEN_CHECKPOINT, message).at(without_secrets(paths.value(row))));
            }
            state.name_elsewhere(paths.value(row));
        }
    }

    /// Reads the statistics of a checkpoint that is the start of the state.
    async fn take_statistics(
        &self,
        checkpoint: &Checkpoint,
        state: &mut State,
        say: &mut (dyn FnMut(Finding) + Send),
    ) -> Result<()> {
        let schema = state
            .requirements
            .as_ref()
            .map(|required| required.schema.clone());
        let files = &mut state.files;
        let take = &mut |key: &LogicalFileKey<'_>, text: Option<&str>, num_records: Option<i64>| {
            let mut judged = text.map_or_else(Judged::default, |text| judge(text, schema.as_ref()));
            judged.num_records = judged.num_records.or(num_records);
            if let Some(file) = files.find_mut(key) {
                file.num_records = judged.num_records;
                file.statistics = text.map(Fingerprint::of);
                let shown = without_secrets(&file.path);
                for fault in judged.faults {
                    say(fault.at(shown.as_str()));
                }
            }
        };
        read_statistics(checkpoint, self.location, self.max_line_bytes, take).await
    }
}
