//! Lists a snapshot's files for an external Parquet reader: Spark's native scan.
//!
//! Spark gets the files and their sizes from an index in its driver (`file_list`), which asks for the files that the
//! filters of a query leave (`filter_tree`), or from a sink log (`sink_log`), so that it lists no folders. Values that are
//! not in the files are separate columns, by the ordinal of the file: partition values and row ids (`file_columns`), and
//! deleted rows (`vector_blocks`).
//!
//! Protocol: *Partition Values*, *Deletion Vectors*, *Row Tracking*.

mod data_file;
mod file_columns;
mod file_list;
mod file_uri;
mod filter_tree;
mod folders;
mod sink_log;
mod vector_blocks;

use arrow_array::{RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use deltaic_log::Snapshot;
use deltaic_log::snapshot::{Files, PruneReport};
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::features::ensure_readable;
use deltaic_protocol::partition::values_of_row;
use deltaic_protocol::{Error, ErrorKind, Result};

pub use sink_log::Times;
pub use vector_blocks::{BLOCKS_OF_A_FILE, ROWS_OF_A_BLOCK};

use crate::scan::ScanTask;

use filter_tree::Columns;
use folders::Folders;
use sink_log::SinkFile;

/// Files of a snapshot, and what Spark needs to read them.
#[derive(Clone, Debug)]
pub struct NativeScanPlan {
    /// The files that the predicate pruned.
    pub report: PruneReport,
    /// One row per file, ordered by ordinal: `ordinal` (int64, from 0), `modification_time` (int64, ms since the
    /// epoch), `base_row_id`, `default_row_commit_version` (int64, NULL if the log has none), and `partition_values` (a
    /// struct of typed values by logical name; absent for an unpartitioned table).
    pub files: (SchemaRef, Vec<RecordBatch>),
    /// The deleted rows, one row for each block of [`ROWS_OF_A_BLOCK`] rows with at least one deleted row: `block`
    /// (int64, the file's ordinal times [`BLOCKS_OF_A_FILE`], plus the index of the block in the file) and `words`
    /// (`list<int64>`, one bit per row). `None` if there are too many to broadcast to every executor.
    pub vectors: Option<RecordBatch>,
    /// Whether every file is in Hive-style partition folders, with values that Spark reads back unchanged.
    pub is_in_folders: bool,
    entries: Vec<SinkFile>,
    /// The predicate of the plan.
    predicate: Option<BoundPredicate>,
    /// The paths of the files in the log, by ordinal.
    paths: Vec<StringArray>,
}

impl NativeScanPlan {
    /// Plans a native scan of the files that may contain a row that matches the predicate; of all files without one.
    /// Looks up the sizes of local files and reads deletion vectors. Must be called inside a runtime.
    ///
    /// # Errors
    ///
    /// `CorruptLog`, `CorruptData`, `PathEscape` for a file or vector; `UnsupportedFeature` for a file that Spark skips.
    pub async fn try_new(snapshot: &Snapshot, predicate: Option<BoundPredicate>) -> Result<Self> {
        let located = |error: Error| error.with("version", snapshot.version());
        ensure_readable(snapshot.configuration())
            .map_err(|error| located(error.with("table", snapshot.location().uri())))?;
        ensure_data_columns(snapshot)?;
        let (files, report) = snapshot.files(predicate.as_ref()).await?;
        snapshot.ensure_partition_values(&files)?;
        snapshot.ensure_unique_files(&files)?;
        snapshot.ensure_vectors(&files)?;
        let location = snapshot.location();
        let data_files = data_file::of_snapshot(&files);
        Ok(Self {
            report,
            files: file_columns::of(snapshot, &files)?,
            vectors: vector_blocks::of(location, &data_files).await.map_err(located)?,
            is_in_folders: are_in_folders(snapshot, &files),
            entries: data_file::entries(location, &data_files).await.map_err(located)?,
            predicate,
            paths: files
                .batches
                .iter()
                .map(|batch| batch.adds.path.clone())
                .collect(),
        })
    }

    /// Plans a native scan of the rows of tasks, with the columns of a snapshot: those of a batch of a stream, see
    /// [`crate::changes::commit_files`]. Must be called inside a runtime.
    ///
    /// # Errors
    ///
    /// As for [`Self::try_new`].
    pub async fn of_tasks(rows_as: &Snapshot, tasks: &[ScanTask]) -> Result<Self> {
        ensure_readable(rows_as.configuration())?;
        ensure_data_columns(rows_as)?;
        let location = rows_as.location();
        let data_files = data_file::of_tasks(tasks)?;
        let vectors = vector_blocks::of(location, &data_files).await?;
        let entries = data_file::entries(location, &data_files).await?;
        let bytes = entries.iter().map(|entry| entry.length).sum();
        Ok(Self {
            report: PruneReport {
                files: tasks.len(),
                after_partitions: tasks.len(),
                after_statistics: tasks.len(),
                bytes,
                bytes_after_partitions: bytes,
                bytes_after_statistics: bytes,
                lacks_statistics: false,
            },
            files: file_columns::of_tasks(rows_as, tasks)?,
            vectors,
            is_in_folders: false,
            entries,
            predicate: None,
            paths: Vec::new(),
        })
    }

    /// Which files may contain a row that passes the filters of a query, by ordinal: 1, or 0; `None` if no filter leaves out
    /// files. Must be called inside a runtime.
    ///
    /// # Arguments
    ///
    /// * `snapshot` - the snapshot of the plan
    /// * `tree` - the filters, see [`filter_tree`]
    ///
    /// # Errors
    ///
    /// `InvalidArgument` for text that is not such a tree, and the errors of the store.
    pub async fn kept(&self, snapshot: &Snapshot, tree: &str) -> Result<Option<Vec<u8>>> {
        let Some(implied) = implied_by_tree(snapshot, tree)? else {
            return Ok(None);
        };
        let conditions = self.predicate.iter().cloned().chain([implied]).collect();
        let (files, _) = snapshot
            .files(BoundPredicate::all_of(conditions).as_ref())
            .await?;
        // Both lists have the order of the snapshot.
        let paths = files.batches.iter().flat_map(|batch| batch.adds.path.iter());
        let mut paths = paths.peekable();
        let planned = self.paths.iter().flat_map(StringArray::iter);
        let kept = planned.map(|path| u8::from(paths.next_if(|next| *next == path).is_some()));
        let kept = kept.collect();
        match paths.next() {
            None => Ok(Some(kept)),
            Some(path) => Err(Error::internal(format!(
                "{path:?} is in another order in the snapshot"
            ))),
        }
    }

    /// The files for an index, by ordinal: `uri` (absolute and percent-encoded), `length` in bytes.
    pub fn file_list(&self) -> Result<RecordBatch> {
        file_list::of(&self.entries)
    }

    /// The number of files.
    #[must_use]
    pub fn num_files(&self) -> usize {
        self.entries.len()
    }

    /// The size of the largest file; 0 if there are no files.
    #[must_use]
    pub fn largest_file_in_bytes(&self) -> i64 {
        self.entries
            .iter()
            .map(|entry| entry.length)
            .max()
            .unwrap_or_default()
    }

    /// Returns the log of a streaming sink from which Spark reads the list of files.
    #[must_use]
    pub fn sink_log(&self, times: Times) -> Vec<u8> {
        sink_log::text(&self.entries, times)
    }
}

/// A condition that is TRUE wherever the filters of a tree are, see [`filter_tree`]; `None` if none is known.
///
/// # Errors
///
/// `InvalidArgument` for text that is not such a tree.
pub fn implied_by_tree(snapshot: &Snapshot, tree: &str) -> Result<Option<BoundPredicate>> {
    let columns = Columns {
        schema: snapshot.schema(),
        mapping: snapshot.column_mapping(),
        partitions: &snapshot.metadata().partition_columns,
    };
    columns.implied(tree)
}

/// Spark reads as many rows of a file without columns as its footer claims, and some writers lose that count.
fn ensure_data_columns(snapshot: &Snapshot) -> Result<()> {
    let partitions = &snapshot.metadata().partition_columns;
    let fields = &snapshot.schema().fields;
    if fields.is_empty() || fields.iter().any(|field| !partitions.contains(&field.name)) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::UnsupportedFeature,
        "every column of the table is a partition column, so its data files may have no columns",
    )
    .with("table", snapshot.location().uri())
    .with("version", snapshot.version()))
}

fn are_in_folders(snapshot: &Snapshot, files: &Files) -> bool {
    let Some(folders) = Folders::of(snapshot) else {
        return false;
    };
    files.batches.iter().all(|batch| {
        (0..batch.len()).all(|row| {
            let values = values_of_row(&batch.adds.partition_values, row);
            folders.spell(batch.adds.path.value(row), &values)
        })
    })
}
