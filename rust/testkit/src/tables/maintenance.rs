//! Log maintenance between commits: checkpoints, compactions, checksums, hints and cleanup.
//!
//! Protocol: *Checkpoints*, *Log Compaction Files*, *Version Checksum File*, *Last Checkpoint File*,
//! *Metadata Cleanup*.

use std::ops::RangeInclusive;

use deltaic_protocol::Result;
use serde_json::{Value, json};

use super::log_state::Written;
use super::table_builder::TableBuilder;
use crate::log_files::checkpoint_writer::{CheckpointForm, Layout, checkpoint};
use crate::log_files::checksum_writer::{ChecksumForm, checksum};
use crate::log_files::compaction_writer::{CompactionForm, compaction, tear};
use crate::oracle::replay;

/// A form of `_last_checkpoint`. It refers to the newest complete checkpoint unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintForm {
    /// The file does not exist.
    Absent,
    /// Valid, without a checksum.
    Right,
    /// Valid, with a checksum.
    Signed,
    /// Valid, with a wrong checksum.
    Missigned,
    /// Refers to the oldest checkpoint that ever existed.
    Stale,
    /// Refers to a future version.
    Ahead,
    /// Truncated.
    Torn,
}

/// What happens to the commit of the version before which a log is cleaned up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastCommit {
    /// It is retained.
    Kept,
    /// It is deleted too, so that the log starts with a checkpoint only.
    Deleted,
}

/// A maintenance step after the newest commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaintenanceStep {
    /// A checkpoint of the newest version.
    Checkpoint(CheckpointForm),
    /// An incomplete checkpoint of the newest version: one file is missing, or half of the only file.
    BrokenCheckpoint(CheckpointForm),
    /// A compaction of the newest commits; the number plus one of them.
    Compaction(usize, CompactionForm),
    /// The checksum of the newest version.
    Checksum(ChecksumForm),
    /// Another `_last_checkpoint`.
    Hint(HintForm),
    /// Deletes everything before the newest complete checkpoint.
    CleanUp(LastCommit),
}

impl TableBuilder {
    /// Runs a maintenance step. Impossible steps, such as cleanup without a checkpoint, are ignored.
    pub async fn maintain(&mut self, maintenance_step: &MaintenanceStep) -> Result<()> {
        let Some(newest) = self.commits().len().checked_sub(1) else {
            return Ok(());
        };
        match maintenance_step {
            MaintenanceStep::Checkpoint(form) => self.write_checkpoint(newest, form, true).await,
            MaintenanceStep::BrokenCheckpoint(form) => self.write_checkpoint(newest, form, false).await,
            MaintenanceStep::Compaction(more, form) => {
                let from = newest.saturating_sub((*more).max(1)).max(self.kept.first_commit);
                // Without earlier metadata, foreign metadata cannot be distinguished from the table's own.
                let form = if from == 0 && *form == CompactionForm::Foreign {
                    CompactionForm::Right
                } else {
                    *form
                };
                if from == newest {
                    return Ok(());
                }
                let (name, bytes) = compaction(self.commits(), from, newest, form);
                self.put(&name, bytes).await?;
                self.kept.compactions.push((newest, name));
                Ok(())
            }
            MaintenanceStep::Checksum(form) => {
                let (name, bytes) = checksum(&replay(self.commits()), newest, *form);
                self.put(&name, bytes).await
            }
            MaintenanceStep::Hint(form) => self.write_hint(newest, *form).await,
            MaintenanceStep::CleanUp(last) => self.clean_up(*last).await,
        }
    }

    /// The versions that the log can still reconstruct: from its first commit or checkpoint to its newest commit.
    #[must_use]
    pub fn readable(&self) -> RangeInclusive<usize> {
        let newest = self.commits().len().saturating_sub(1);
        let oldest = match self.kept.first_commit {
            0 => 0,
            _ => self
                .whole_checkpoints()
                .map(|written| written.version)
                .min()
                .unwrap_or(newest),
        };
        oldest..=newest
    }

    fn whole_checkpoints(&self) -> impl DoubleEndedIterator<Item = &Written> {
        self.kept.checkpoints.iter().filter(|written| written.is_whole)
    }

    async fn write_checkpoint(
        &mut self,
        version: usize,
        form: &CheckpointForm,
        is_whole: bool,
    ) -> Result<()> {
        let state = replay(self.commits());
        let mut files = checkpoint(&state, version, form, self.kept.number)?;
        self.kept.number += 1;
        let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
        if !is_whole {
            // A complete file is never overwritten by an incomplete one.
            let classic = self
                .kept
                .checkpoints
                .iter()
                .any(|known| known.files.iter().any(|name| names.contains(name)));
            if classic {
                return Ok(());
            }
            match files.as_mut_slice() {
                [(_, only)] => tear(only),
                _ => {
                    files.remove(0);
                }
            }
        }
        for (name, bytes) in files {
            self.put(&name, bytes).await?;
        }
        self.kept.oldest_checkpoint.get_or_insert(version);
        self.kept.checkpoints.retain(|known| known.files != names);
        self.kept.checkpoints.push(Written {
            version,
            files: names,
            // Checkpoints contain no removed domains.
            actions: state
                .actions()
                .iter()
                .filter(|action| action["domainMetadata"]["removed"] != Value::Bool(true))
                .count(),
            form: *form,
            is_whole,
        });
        Ok(())
    }

    async fn write_hint(&self, newest: usize, form: HintForm) -> Result<()> {
        const NAME: &str = "_delta_log/_last_checkpoint";
        let last = self.whole_checkpoints().next_back();
        let version = match form {
            HintForm::Stale => self.kept.oldest_checkpoint,
            HintForm::Ahead => Some(newest + 7),
            _ => last.map(|written| written.version),
        };
        let Some(version) = version.filter(|_| form != HintForm::Absent) else {
            return self.delete(NAME).await;
        };
        let mut hint = json!({"version": version, "size": last.map_or(1, |written| written.actions)});
        if let Some(Layout::MultiPart(parts)) = last.map(|written| written.form.layout) {
            hint["parts"] = json!(parts);
        }
        match form {
            HintForm::Signed => {
                let right = deltaic_protocol::last_checkpoint::checksum(&hint.to_string());
                hint["checksum"] = right.map_or(Value::Null, Value::String);
            }
            HintForm::Missigned => hint["checksum"] = json!("00000000000000000000000000000000"),
            _ => {}
        }
        let mut bytes = hint.to_string().into_bytes();
        if form == HintForm::Torn {
            bytes.truncate(bytes.len() / 2);
        }
        self.put(NAME, bytes).await
    }

    async fn clean_up(&mut self, last: LastCommit) -> Result<()> {
        let Some(cut) = self.whole_checkpoints().map(|written| written.version).max() else {
            return Ok(());
        };
        let end = cut + usize::from(last == LastCommit::Deleted);
        for version in self.kept.first_commit..end {
            self.delete(&format!("_delta_log/{version:020}.json")).await?;
        }
        for version in 0..cut {
            self.delete(&format!("_delta_log/{version:020}.crc")).await?;
        }
        self.kept.first_commit = self.kept.first_commit.max(end);
        let (old, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.kept.checkpoints)
            .into_iter()
            .partition(|written| written.version < cut);
        self.kept.checkpoints = kept;
        for name in old.iter().flat_map(|written| &written.files) {
            self.delete(name).await?;
        }
        // A compaction across the cleanup boundary is retained: no reader may start in the middle of it.
        let (old, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.kept.compactions)
            .into_iter()
            .partition(|(to, _)| *to < cut);
        self.kept.compactions = kept;
        for (_, name) in &old {
            self.delete(name).await?;
        }
        Ok(())
    }
}
