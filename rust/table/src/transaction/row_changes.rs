//! Stages changes of rows of the table: files with new versions and copies, removed files, deletion vectors.
//!
//! Protocol: *Add File and Remove File*, *Deletion Vectors*.

use deltaic_log::progress::Stage;
use deltaic_protocol::actions::{Add, Remove};
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::iceberg_compat::ensure_kept;
use deltaic_protocol::{Error, Result};
use deltaic_storage::clock::now_ms;
use deltaic_storage::memory_budget::MemoryBudget;

use super::TableTransaction;
use super::metrics::Count;
use super::requirement::Requirement;
use crate::rows::decisions::Decisions;
use crate::rows::plan::changed_file::ChangedFile;
use crate::rows::plan::delete_plan::DeletePlan;
use crate::rows::plan::plan_parts::{PlanPart, divided};
use crate::rows::rewrite::RowRewriter;
use crate::rows::row_changes::RowChanges;
use crate::rows::written::{RowsToWrite, WrittenFiles};

impl TableTransaction {
    /// Stages files with new versions and copies of rows, which keep their row ids.
    pub(crate) fn stage_written(&mut self, files: WrittenFiles) {
        let WrittenFiles {
            written,
            copied,
            changes,
        } = files;
        let staged = &mut self.staged;
        let metrics = &mut staged.described.metrics;
        metrics.add_files(Count::WrittenFiles, Count::WrittenBytes, &written.adds);
        metrics.add(Count::CopiedRows, copied);
        metrics.add(Count::ChangeFiles, changes.len());
        staged.proposal.adds.extend(written.adds);
        staged.proposal.cdc.extend(changes);
        staged.proposal.keeps_row_ids = true;
    }

    /// Stages what a plan removes.
    ///
    /// # Errors
    ///
    /// Those of [`Self::stage_vectors`].
    pub(crate) async fn stage_removal(&mut self, plan: DeletePlan) -> Result<()> {
        let started = now_ms();
        let metrics = &mut self.staged.described.metrics;
        let removed = plan.removed.iter().map(|file| &file.add);
        for add in removed.chain(plan.rewritten.iter().map(|file| &file.add)) {
            metrics.add(Count::RemovedFiles, 1);
            metrics.add(Count::RemovedBytes, add.size);
            metrics.add(Count::VectorsRemoved, i64::from(add.deletion_vector.is_some()));
            self.staged.proposal.removes.push(Remove::of(add, started));
        }
        for file in &plan.rewritten {
            metrics.add(Count::RewrittenFiles, 1);
            metrics.add(Count::RewrittenBytes, file.add.size);
        }
        for file in &plan.changed {
            let replaced = i64::from(file.add.deletion_vector.is_some());
            metrics.add(Count::VectorsRemoved, replaced);
            metrics.add(Count::VectorsUpdated, replaced);
            metrics.add(Count::VectorsAdded, 1);
        }
        if !plan.removed.is_empty() || !plan.rewritten.is_empty() {
            self.require(Requirement::REMOVES);
        }
        self.stage_vectors(plan.changed).await?;
        self.staged
            .described
            .metrics
            .add(Count::RewriteTime, now_ms() - started);
        Ok(())
    }

    /// Writes the deletion vectors of files and stages them. Returns the number of deleted rows.
    pub(crate) async fn stage_vectors(&mut self, changed: Vec<ChangedFile>) -> Result<u64> {
        if !changed.is_empty() {
            ensure_kept(self.snapshot.configuration()).map_err(|error| self.located(error))?;
        }
        let deleted = changed.iter().map(|file| file.deleted().len()).sum();
        let kept = changed.iter().filter(|file| !file.is_empty);
        let vectors: Vec<(String, Bitmap)> = kept
            .map(|file| (file.add.path.clone(), file.vector.clone()))
            .collect();
        let descriptors = match vectors.is_empty() {
            true => Vec::new(),
            false => self.vectors.write(&vectors).await?,
        };
        let (mut descriptors, now) = (descriptors.into_iter(), now_ms());
        for file in changed {
            self.staged.read.read_files([file.add.path.as_str()]);
            self.staged.proposal.removes.push(Remove::of(&file.add, now));
            if file.is_empty {
                self.require(Requirement::REMOVES);
            } else {
                self.require(Requirement::VECTORS);
                self.staged.proposal.adds.push(Add {
                    data_change: true,
                    stats: Some(file.stats),
                    deletion_vector: Some(
                        descriptors
                            .next()
                            .ok_or_else(|| Error::internal("a deletion vector was not written"))?,
                    ),
                    ..file.add
                });
                self.staged.described.metrics.add(Count::Vectors, 1);
            }
        }
        self.staged.described.metrics.add(Count::VectorRows, deleted);
        Ok(deleted)
    }

    /// Divides a plan: returns the files of the parts that the attempt before wrote, which are recorded for the next one,
    /// and the parts that are to be written.
    pub(crate) fn parts_of<'p>(&mut self, plan: &'p DeletePlan) -> (Vec<WrittenFiles>, Vec<PlanPart<'p>>) {
        let earlier = match self.staged.evolved {
            Some(_) => Vec::new(),
            None => self.attempts.written_parts(),
        };
        let (again, parts) = divided(plan, &earlier.iter().map(|(rows, _)| *rows).collect::<Vec<_>>());
        let again = again.into_iter().filter_map(|place| earlier.get(place).copied());
        let again: Vec<(RowsToWrite, WrittenFiles)> = again
            .map(|(rows, files)| (RowsToWrite::OfFiles(rows.to_vec()), files.clone()))
            .collect();
        let mut written = Vec::with_capacity(again.len());
        for (rows, files) in again {
            self.record_written(rows, &files);
            written.push(files);
        }
        (written, parts)
    }

    /// Starts the progress of writing copies of rows and other rows.
    pub(crate) fn begin_rewriting(&self, plan: &DeletePlan, others: u64) {
        let rows = plan.copied_rows().saturating_add(others);
        if rows > 0 {
            self.options.progress.begin(Stage::Rows, rows);
        }
    }

    /// Writes and stages what happens to the rows of a plan, part by part. Returns the number of new versions of rows.
    ///
    /// # Errors
    ///
    /// Those of [`RowRewriter::write`].
    pub(crate) async fn rewrite_rows(
        &mut self,
        plan: &DeletePlan,
        changes: &RowChanges,
        decisions: &(impl Decisions + Sync),
        memory: MemoryBudget,
    ) -> Result<u64> {
        self.require(Requirement::ADDS);
        let (mut files, parts) = self.parts_of(plan);
        for part in parts {
            let rewriter = RowRewriter::try_new(&self.snapshot, changes, part.rewrites(), memory)?;
            let staged = (&*self.files, &*self.options.progress);
            let written = rewriter.write(&part, decisions, staged).await?;
            self.record_written(RowsToWrite::OfFiles(part.rows()), &written);
            files.push(written);
        }
        let mut new_versions = 0;
        for files in files {
            new_versions += files.new_versions();
            self.stage_written(files);
        }
        Ok(new_versions)
    }

    /// The files that the attempt before wrote for these rows, if it did, and if they are valid with the metadata of this
    /// attempt: an earlier step of it may have given the next values of identity columns.
    pub(crate) fn written_before(&self, rows: &RowsToWrite) -> Option<WrittenFiles> {
        if self.staged.evolved.is_some() {
            return None;
        }
        let mut earlier = self.attempts.earlier.iter().flat_map(|attempt| &attempt.rows);
        earlier
            .find(|(written, _)| written == rows)
            .map(|(_, files)| files.clone())
    }

    /// Records files for the next attempt. Those that are valid only with metadata of this attempt are not.
    pub(crate) fn record_written(&mut self, rows: RowsToWrite, files: &WrittenFiles) {
        if self.staged.evolved.is_none() {
            self.attempts.now.rows.push((rows, files.clone()));
        }
    }

    /// Records what the table must allow.
    pub(crate) fn require(&mut self, requirement: Requirement) {
        self.staged.requirement = self.staged.requirement.and(requirement);
    }
}
