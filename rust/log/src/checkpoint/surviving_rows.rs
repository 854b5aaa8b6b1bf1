//! The surviving rows of a log file, matched in order while the file is read again.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_buffer::BooleanBuffer;
use deltaic_protocol::actions::LogicalFileKey;
use deltaic_protocol::properties::tombstone_is_expired;

use crate::decode::FileBatch;
use crate::listing::LogFile;
use crate::reconcile::Survivors;

/// Retention of tombstones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retention {
    /// Retention in milliseconds.
    pub(super) tombstone_ms: i64,
    /// Current time in milliseconds since the epoch.
    pub(super) now_ms: i64,
}

impl Retention {
    /// Returns the tombstones that have not expired. Protocol: *Checkpoints*, *Add File and Remove File*.
    pub(super) fn keep(self, tombstones: &Survivors) -> Survivors {
        let times = tombstones.files.batch.column_by_name("deletion_timestamp");
        let times = times.and_then(|times| times.as_primitive_opt::<Int64Type>());
        let is_kept = |row: usize| {
            let time = times
                .filter(|times| times.is_valid(row))
                .map(|times| times.value(row));
            !tombstone_is_expired(time, self.tombstone_ms, self.now_ms)
        };
        let rows = 0..tombstones.live.len();
        Survivors {
            files: Arc::clone(&tombstones.files),
            live: rows
                .map(|row| tombstones.live.value(row) && is_kept(row))
                .collect(),
        }
    }
}

/// The actions of one kind in a log file, in file order, and which of them survive. Batches without surviving
/// rows may have been dropped.
#[derive(Debug, Default)]
pub(super) struct SurvivingRows {
    parts: Vec<(Arc<FileBatch>, Range<usize>, BooleanBuffer)>,
    part: usize,
    row: usize,
}

impl SurvivingRows {
    /// Whether any row survives.
    fn any(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|(_, rows, live)| live.slice(rows.start, rows.len()).count_set_bits() > 0)
    }

    /// Matches the next action of the file; returns whether it survives.
    pub(super) fn meet(&mut self, key: &LogicalFileKey<'_>) -> bool {
        while let Some((files, rows, live)) = self.parts.get(self.part) {
            let row = rows.start + self.row;
            if row >= rows.end {
                self.part += 1;
                self.row = 0;
                continue;
            }
            // Keys are unique within a file, so this row belongs to a dropped batch.
            if files.keys.key(row) != *key {
                return false;
            }
            self.row += 1;
            return live.value(row);
        }
        false
    }

    /// Whether all actions were matched, so that the file is unchanged since the table was opened.
    pub(super) fn is_met(&self) -> bool {
        let rest = self.parts.get(self.part..).unwrap_or_default();
        let left = rest.iter().map(|(_, rows, _)| rows.len()).sum::<usize>();
        left == self.row
    }
}

/// A line-based log file with surviving rows.
#[derive(Debug)]
pub(super) struct SurvivingFile {
    pub(super) file: Arc<LogFile>,
    pub(super) adds: SurvivingRows,
    pub(super) removes: SurvivingRows,
}

/// Returns the line-based files with surviving rows, in order of first occurrence. Parquet files are
/// excluded.
pub(super) fn surviving_files(adds: &[Survivors], removes: &[Survivors]) -> Vec<SurvivingFile> {
    let mut files: Vec<SurvivingFile> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (survivors, are_adds) in adds
        .iter()
        .map(|survivors| (survivors, true))
        .chain(removes.iter().map(|survivors| (survivors, false)))
    {
        for span in &survivors.files.spans {
            let place = *places.entry(span.file.name.clone()).or_insert_with(|| {
                files.push(SurvivingFile {
                    file: Arc::clone(&span.file),
                    adds: SurvivingRows::default(),
                    removes: SurvivingRows::default(),
                });
                files.len() - 1
            });
            let Some(file) = files.get_mut(place) else {
                continue;
            };
            let rows = if are_adds {
                &mut file.adds
            } else {
                &mut file.removes
            };
            rows.parts.push((
                Arc::clone(&survivors.files),
                span.rows.clone(),
                survivors.live.clone(),
            ));
        }
    }
    files.retain(|file| file.adds.any() || file.removes.any());
    files
}
