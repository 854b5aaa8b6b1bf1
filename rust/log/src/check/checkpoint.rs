//! Checkpoints: each is read in full, then compared with the commits, or taken as the start where these are gone.
//!
//! Protocol: *Checkpoints*, *V2 Spec*, *Sidecar Files*, *Action Reconciliation*.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use deltaic_protocol::actions::{ActionLine, LogicalFileKey, parse_line};
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::log_path::LOG_FOLDER;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::compare::compare;
use super::diagnosis::{BROKEN_CHECKPOINT, MISSING_SIDECAR, UNREADABLE_FILE};
use super::file_action::judge_tombstone;
use super::finding::{Finding, Findings};
use super::folder::{LogFolder, is_json_checkpoint};
use super::seed::seed;
use super::state::State;
use super::statistics::{Judged, judge};
use crate::decode::action_text::{ActionText, Line};
use crate::decode::checkpoint::{ActionsFile, Checkpoint};
use crate::decode::{FileBatch, StatisticsSource};
use crate::location::{TableLocation, without_secrets};
use crate::segment::CheckpointFiles;

/// By which share of replay's batches texts are read: each text is large.
const TEXT_SHARE: usize = 16;

/// What a checkpoint is examined with.
pub(super) struct CheckpointExaminer<'a> {
    pub(super) location: &'a Arc<TableLocation>,
    pub(super) folder: &'a LogFolder,
    pub(super) max_line_bytes: usize,
    pub(super) now_ms: i64,
    /// The sidecars that checkpoints name; none once a checkpoint could not be read that may name more.
    pub(super) sidecars: Option<BTreeSet<String>>,
}

impl CheckpointExaminer<'_> {
    /// Examines a checkpoint. Gives whether it can be read.
    pub(super) async fn examine(
        &mut self,
        files: &CheckpointFiles,
        state: &mut State,
        findings: &mut Findings,
    ) -> bool {
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
                return false;
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
        let removes = match checkpoint.read_tombstones().await {
            Ok(removes) => removes,
            Err(error) => {
                say(self.broken(&error));
                return false;
            }
        };
        let stands = state.is_whole && state.version == Some(files.version);
        let read = if stands {
            compare(&checkpoint, &removes, state, &mut say);
            read_columns(&checkpoint, &mut |_, _, _| {}).await
        } else {
            seed(&checkpoint, state, &mut say);
            for batch in &removes {
                self.take_tombstones(batch, state, &mut say);
            }
            self.read_statistics(&checkpoint, state, &mut say).await
        };
        if let Err(error) = read {
            say(self.broken(&error));
            state.is_whole &= stands;
            return false;
        }
        true
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
                let said = "it holds an add and a remove of one logical file; readers take the add";
                say(Finding::new(&BROKEN_CHECKPOINT, said).at(without_secrets(paths.value(row))));
            }
            state.name_elsewhere(paths.value(row));
        }
    }

    /// Reads the statistics of a checkpoint that is the start of what is known.
    async fn read_statistics(
        &self,
        checkpoint: &Checkpoint,
        state: &mut State,
        say: &mut (dyn FnMut(Finding) + Send),
    ) -> Result<()> {
        let schema = state.form.as_ref().map(|form| form.schema.clone());
        {
            let files = &mut state.files;
            read_columns(checkpoint, &mut |key, text, num_records| {
                let mut judged = text.map_or_else(Judged::default, |text| judge(text, schema.as_ref()));
                judged.num_records = judged.num_records.or(num_records);
                if let Some(file) = files.find_mut(key) {
                    file.num_records = judged.num_records;
                    let shown = without_secrets(&file.path);
                    for fault in judged.faults {
                        say(fault.at(shown.as_str()));
                    }
                }
            })
            .await?;
        }
        if let [file] = checkpoint.files.files.as_slice()
            && is_json_checkpoint(file)
        {
            let fetched = ActionText::fetch(Arc::clone(self.location), Arc::clone(file), self.max_line_bytes);
            if let Ok(text) = fetched.await {
                let read = text
                    .for_each_line(&mut |_, line| {
                        let Line::Text(line) = line else { return };
                        let Ok(ActionLine::Add(add)) = parse_line(line) else {
                            return;
                        };
                        let vector = add.deletion_vector.as_ref().map(Descriptor::from);
                        let key = LogicalFileKey::new(&add.path, vector.as_ref().map(Descriptor::key));
                        let text = add
                            .stats
                            .and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
                        if let (Some(file), Some(text)) = (state.files.find_mut(&key), text) {
                            let judged = judge(&text, schema.as_ref());
                            file.num_records = judged.num_records;
                            for fault in judged.faults {
                                say(fault.at(without_secrets(&add.path)));
                            }
                        }
                    })
                    .await;
                read.map_err(|error| crate::store_error::store_error(&error, &file.relative()))?;
            }
        }
        Ok(())
    }
}

/// What is done with each add: its key, the text of its statistics, and the number of rows where only a struct has it.
type TakeStatistics<'a> = dyn FnMut(&LogicalFileKey<'_>, Option<&str>, Option<i64>) + Send + 'a;

/// Reads every column of a checkpoint's adds in Parquet, so that damage anywhere in them shows.
async fn read_columns(checkpoint: &Checkpoint, take: &mut TakeStatistics<'_>) -> Result<()> {
    let mut groups: Vec<(Arc<ActionsFile>, usize, Vec<Arc<FileBatch>>)> = Vec::new();
    for batch in &checkpoint.adds {
        let StatisticsSource::RowGroup(place) = &batch.statistics else {
            continue;
        };
        match groups.last_mut() {
            Some((file, group, batches)) if Arc::ptr_eq(file, &place.file) && *group == place.group => {
                batches.push(Arc::clone(batch));
            }
            _ => groups.push((Arc::clone(&place.file), place.group, vec![Arc::clone(batch)])),
        }
    }
    for (file, group, batches) in groups {
        let mut seen = vec![0usize; batches.len()];
        file.read_adds(group, &["add".to_owned()], TEXT_SHARE, |ordinal, adds| {
            let Some(adds) = adds else { return Ok(()) };
            let place = batches.iter().position(|batch| ordinal_of(batch) == ordinal);
            let Some((batch, seen)) =
                place.and_then(|index| Some((batches.get(index)?, seen.get_mut(index)?)))
            else {
                return Ok(());
            };
            let texts = adds
                .column_by_name("stats")
                .and_then(|it| it.as_string_opt::<i32>());
            let parsed = adds
                .column_by_name("stats_parsed")
                .and_then(|it| it.as_struct_opt());
            let records = parsed.and_then(|parsed| {
                let records = parsed.column_by_name("numRecords")?;
                Some((parsed, records.as_primitive_opt::<Int64Type>()?))
            });
            for row in 0..adds.len() {
                if *seen >= batch.len() {
                    break;
                }
                let text = texts
                    .filter(|texts| texts.is_valid(row))
                    .map(|texts| texts.value(row));
                let records = records
                    .filter(|(parsed, records)| parsed.is_valid(row) && records.is_valid(row))
                    .map(|(_, records)| records.value(row));
                take(&batch.keys.key(*seen), text, records);
                *seen += 1;
            }
            Ok(())
        })
        .await?;
    }
    Ok(())
}

fn ordinal_of(batch: &FileBatch) -> usize {
    match &batch.statistics {
        StatisticsSource::RowGroup(place) => place.ordinal,
        _ => 0,
    }
}
