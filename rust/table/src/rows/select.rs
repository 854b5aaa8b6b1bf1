//! Finds the rows of a version that match a predicate: by file, and by position in the file.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use deltaic_log::Snapshot;
use deltaic_log::progress::{Progress, Stage};
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::{Error, Result};
use futures::TryStreamExt;

use super::live_files::paths_that_may_match;
use crate::read::stream_tasks;
use crate::scan::{FILE_PATH, FILE_POSITION, Scan, ScanOptions, ScanTask};

/// The rows of a version that match a predicate.
#[derive(Debug, Default)]
pub(crate) struct MatchingRows {
    /// The files of which every row matches, as the log shows.
    pub(crate) whole: Vec<String>,
    /// The positions of the matching rows of each other file that has any.
    pub(crate) positions: BTreeMap<String, Bitmap>,
}

impl MatchingRows {
    /// Finds the rows; all rows without a predicate. Reads the files that are not decided by partition values: only the
    /// columns of the predicate. Must be called inside a multi-threaded runtime.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate`, `UnsupportedFeature`, and those of a scan.
    pub(crate) async fn find(
        snapshot: &Snapshot,
        predicate: Option<&Predicate>,
        progress: &Progress,
    ) -> Result<Self> {
        let Some(predicate) = predicate else {
            return Ok(Self {
                whole: paths_that_may_match(snapshot, None).await?,
                ..Self::default()
            });
        };
        let scan = Scan::try_new(
            snapshot.clone(),
            ScanOptions {
                columns: Some(Vec::new()),
                predicate: Some(predicate.clone()),
                positions: true,
                ..ScanOptions::default()
            },
        )?;
        let mut found = Self::default();
        let mut undecided: Vec<ScanTask> = Vec::new();
        for task in scan.tasks().await? {
            let residual = task.residual()?;
            if residual.matches_no_row() {
                continue;
            }
            match residual.predicate {
                None => found.whole.push(task.path),
                Some(_) => undecided.push(task),
            }
        }
        let files: Vec<String> = undecided.iter().map(|task| task.path.clone()).collect();
        progress.begin(Stage::Files, files.len() as u64);
        let mut completed = 0;
        let mut batches = stream_tasks(undecided);
        while let Some(batch) = batches.try_next().await? {
            if let Some(path) = found.add(&batch)? {
                // The batches are in the order of the files, of which some have none.
                let others = files.get(completed..).unwrap_or_default().iter();
                completed += others.take_while(|file| **file != path).count();
                progress.reach(completed);
            }
        }
        progress.reach(files.len());
        Ok(found)
    }

    /// Adds the rows of a batch, which are of one file. Returns its path, unless there are no rows.
    fn add(&mut self, batch: &RecordBatch) -> Result<Option<String>> {
        if batch.num_rows() == 0 {
            return Ok(None);
        }
        let places = Places::of(batch)?;
        let rows = Bitmap::from_positions(places.positions())?;
        let file = self.positions.entry(places.path.to_owned()).or_default();
        *file = file.union(&rows);
        Ok(Some(places.path.to_owned()))
    }
}

/// The file of a batch that has rows, and their positions in it.
pub(crate) struct Places<'a> {
    pub(crate) path: &'a str,
    positions: &'a [i64],
}

impl<'a> Places<'a> {
    /// Finds the columns with the positions.
    pub(crate) fn of(batch: &'a RecordBatch) -> Result<Self> {
        let path = batch
            .column_by_name(FILE_PATH)
            .and_then(|column| column.as_string_opt::<i32>());
        let positions = batch
            .column_by_name(FILE_POSITION)
            .and_then(|column| column.as_primitive_opt::<Int64Type>());
        let (Some(path), Some(positions)) = (path, positions) else {
            return Err(Error::internal("a batch has no positions of its rows"));
        };
        Ok(Self {
            path: path.value(0),
            positions: positions.values(),
        })
    }

    /// The position of each row.
    pub(crate) fn positions(&self) -> impl Iterator<Item = u64> + 'a {
        self.positions
            .iter()
            .map(|row| u64::try_from(*row).unwrap_or(u64::MAX))
    }

    /// The position of a row of the batch.
    pub(crate) fn position(&self, row: u32) -> u64 {
        let position = self.positions.get(row as usize);
        position
            .and_then(|row| u64::try_from(*row).ok())
            .unwrap_or(u64::MAX)
    }
}
