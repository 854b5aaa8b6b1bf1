//! Plans the deletion of the rows that match a predicate: which files are removed, get a deletion vector, or are
//! rewritten without these rows. Nothing is written.

use std::collections::HashMap;

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::whole_adds;
use deltaic_log::progress::Progress;
use deltaic_protocol::actions::Add;
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::features::ensure_vectors_writable;
use deltaic_protocol::{Error, Result};

use super::file_vectors::vectors_of;
use super::planned_file::{PlannedFile, RemovedFile, RewrittenFile, rows_in};
use crate::rows::change_data::DeletedRows;
use crate::rows::live_files::key;
use crate::rows::plan::changed_file::ChangedFile;
use crate::rows::select::MatchingRows;

/// How a deletion changes the files of a version.
#[derive(Debug, Default)]
pub(crate) struct DeletePlan {
    /// Files of which every remaining row is deleted.
    pub(crate) removed: Vec<RemovedFile>,
    /// Files that get a deletion vector.
    pub(crate) changed: Vec<ChangedFile>,
    /// Files whose other rows are copied to new files.
    pub(crate) rewritten: Vec<RewrittenFile>,
    /// The number of deleted rows; `None` if the log does not have the number of rows of a removed file.
    pub(crate) deleted_rows: Option<u64>,
}

impl DeletePlan {
    /// Finds the rows and decides for each file how they are deleted: with a deletion vector if the table has them
    /// enabled and the log has the file's number of rows.
    ///
    /// # Errors
    ///
    /// Those of [`MatchingRows::find`]; `CorruptLog`, `CorruptData` for a damaged deletion vector.
    pub(crate) async fn try_new(
        snapshot: &Snapshot,
        predicate: Option<&Predicate>,
        progress: &Progress,
    ) -> Result<Self> {
        let found = MatchingRows::find(snapshot, predicate, progress).await?;
        Self::of_rows(snapshot, found).await
    }

    /// The same for rows that were found.
    ///
    /// # Errors
    ///
    /// `CorruptLog`, `CorruptData` for a damaged deletion vector.
    pub(crate) async fn of_rows(snapshot: &Snapshot, found: MatchingRows) -> Result<Self> {
        let mut paths = found.whole.clone();
        paths.extend(found.positions.keys().cloned());
        let mut plan = Self {
            deleted_rows: Some(0),
            ..Self::default()
        };
        if paths.is_empty() {
            return Ok(plan);
        }
        let adds = whole_adds(snapshot, Some(&paths)).await?;
        let mut adds: HashMap<String, Add> = adds.into_iter().map(|add| (key(&add.path), add)).collect();
        let mut take = |path: &str| {
            let missing = || Error::internal("a live file was not found again").with("path", path);
            adds.remove(&key(path)).ok_or_else(missing)
        };
        for path in &found.whole {
            let add = take(path)?;
            let deleted = add
                .deletion_vector
                .as_ref()
                .map_or(0, |vector| vector.cardinality);
            let rows = rows_in(&add);
            let rows = rows.and_then(|rows| rows.checked_sub(u64::try_from(deleted).ok()?));
            plan.count(rows);
            plan.removed.push(RemovedFile { add });
        }
        let mut matched = Vec::with_capacity(found.positions.len());
        for (path, positions) in found.positions {
            matched.push((take(&path)?, positions));
        }
        let before = vectors_of(snapshot, matched.iter().map(|(add, _)| add)).await?;
        let by_vectors = ensure_vectors_writable(snapshot.configuration()).is_ok();
        for ((add, positions), before) in matched.into_iter().zip(before) {
            plan.add_file(add, positions, &before, by_vectors)?;
        }
        Ok(plan)
    }

    fn add_file(&mut self, add: Add, deleted: Bitmap, before: &Bitmap, by_vectors: bool) -> Result<()> {
        self.count(Some(deleted.len()));
        let not_copied = before.union(&deleted);
        // A count that the file contradicts is ignored: the file is rewritten, and gets correct statistics.
        let last = not_copied.max();
        let records = rows_in(&add).filter(|records| last.is_none_or(|last| last < *records));
        let has_rows = records.is_none_or(|records| not_copied.len() < records);
        match records {
            _ if !has_rows => self.removed.push(RemovedFile { add }),
            Some(_) if by_vectors => self.changed.push(ChangedFile::try_new(add, &deleted, before)?),
            _ => self.rewritten.push(RewrittenFile {
                add,
                deleted,
                not_copied,
            }),
        }
        Ok(())
    }

    fn count(&mut self, rows: Option<u64>) {
        self.deleted_rows = self
            .deleted_rows
            .zip(rows)
            .map(|(sum, rows)| sum.saturating_add(rows));
    }

    /// The number of rows that are copied to new files.
    pub(crate) fn copied_rows(&self) -> u64 {
        let copied = self.rewritten.iter().map(RewrittenFile::copied_rows);
        copied.fold(0, u64::saturating_add)
    }

    /// The rows that are deleted, by file.
    pub(crate) fn deleted(&self) -> impl Iterator<Item = DeletedRows> {
        self.files().map(PlannedFile::deleted)
    }

    /// The paths of the files that are removed, changed or rewritten.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files().map(|file| file.add().path.as_str())
    }

    /// The files that change.
    pub(in crate::rows) fn files(&self) -> impl Iterator<Item = PlannedFile<'_>> {
        let removed = self.removed.iter().map(PlannedFile::Removed);
        let changed = self.changed.iter().map(PlannedFile::Changed);
        let rewritten = self.rewritten.iter().map(PlannedFile::Rewritten);
        removed.chain(changed).chain(rewritten)
    }

    /// Whether no row matches.
    pub(crate) fn is_empty(&self) -> bool {
        self.paths().next().is_none()
    }
}
