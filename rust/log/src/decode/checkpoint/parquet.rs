//! Parquet files with one action per row, read one row group at a time: classic checkpoints, parts, top-level
//! files and sidecars.
//!
//! Protocol: *Checkpoint Schema*.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use arrow_array::{RecordBatch, StructArray};
use arrow_select::concat::concat_batches;
use deltaic_protocol::actions::columns::{AddColumns, add_schema, add_schema_with_rows, remove_schema};
use deltaic_protocol::{Error, Result};
use futures::{FutureExt, TryStreamExt};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::async_reader::ParquetRecordBatchStream;
use parquet::arrow::{ParquetRecordBatchStreamBuilder, ProjectionMask};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;

use super::allowance::{Allowance, deduct_group};
use super::columns::{damaged, file_actions, parquet_failed, rows_of, values_of};
use super::fetched_group::FetchedGroup;
use super::one_action::{ensure_one_action, has_too_many, key_columns};
use super::retyped::with_microseconds;
use crate::decode::ActionsFile;
use crate::decode::RowGroupPlace;
use crate::decode::file_batch::{FileBatch, StatisticsSource};
use crate::decode::table_actions::TableActions;
use deltaic_storage::ParquetFile;
use deltaic_storage::fault::caught_over_bytes;
use deltaic_storage::store_error;

/// Rows per batch: large, since a log is always read completely.
pub(super) const BATCH_ROWS: usize = 65_536;

/// The kind of file actions to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileActions {
    Adds,
    Removes,
    Neither,
}

impl FileActions {
    fn name(self) -> &'static str {
        match self {
            Self::Adds => "add",
            Self::Removes => "remove",
            // No column has this name.
            Self::Neither => "",
        }
    }
}

/// The actions that are decoded to values.
const TABLE_ACTIONS: [&str; 6] = [
    "protocol",
    "metaData",
    "txn",
    "domainMetadata",
    "sidecar",
    "checkpointMetadata",
];

/// The columns of an add that replay needs.
const ADD_COLUMNS: [&str; 6] = [
    "add.path",
    "add.size",
    "add.modificationTime",
    "add.partitionValues",
    "add.baseRowId",
    "add.defaultRowCommitVersion",
];

/// Columns that are not read if all values are NULL, even if their action occurs.
const SELDOM: [&str; 3] = ["deletionVector", "baseRowId", "defaultRowCommitVersion"];

/// The columns of a tombstone that are read.
const REMOVE_COLUMNS: [&str; 4] = [
    "remove.path",
    "remove.deletionTimestamp",
    "remove.size",
    "remove.partitionValues",
];

/// The actions of a row group.
#[derive(Default)]
pub(super) struct GroupActions {
    pub(super) files: Vec<Arc<FileBatch>>,
    pub(super) table: TableActions,
}

impl ActionsFile {
    pub(super) async fn open(mut reader: ParquetFile, relative: &str) -> Result<Arc<Self>> {
        reader.fetch_tail().await.map_err(|error| match error {
            object_store::Error::NotFound { .. } => damaged("it was listed but does not exist"),
            other => store_error(&other, relative),
        })?;
        // Derive the schema from Parquet only, so that every writer's file has the same Arrow types.
        let options = reader_options();
        // The Parquet reader may panic on crafted bytes; report that as damage.
        let load = async {
            let metadata = ArrowReaderMetadata::load_async(&mut reader, options.clone()).await?;
            with_microseconds(metadata, options)
        };
        let metadata = match AssertUnwindSafe(load).catch_unwind().await {
            Ok(loaded) => loaded.map_err(|error| parquet_failed(error, relative))?,
            Err(_) => return Err(caught_over_bytes(damaged(NO_SENSE))),
        };
        let file = Self {
            reader,
            metadata,
            relative: relative.to_owned(),
        };
        // File actions with another structure would be treated as absent.
        for action in [FileActions::Adds, FileActions::Removes] {
            let name = action.name();
            if file.has_column(name) && !file.has_column(&format!("{name}.path")) {
                return Err(damaged(format!("its column {name} has no path")));
            }
        }
        Ok(Arc::new(file))
    }

    /// Size of the file in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.reader.size()
    }

    /// Number of rows according to the footer.
    pub(crate) fn rows(&self) -> usize {
        usize::try_from(self.metadata.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// Number of NULLs of a column in a row group; `None` if there are no such statistics or no such column.
    pub(super) fn nulls(&self, group: usize, path: &str) -> Option<u64> {
        let columns = self.metadata.metadata().row_group(group).columns();
        let column = columns
            .iter()
            .find(|column| column.column_path().string() == path)?;
        column.statistics()?.null_count_opt()
    }

    pub(super) fn row_groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// Whether the file contains such actions according to the footer.
    pub(super) fn contains(&self, actions: FileActions) -> bool {
        let below = format!("{}.", actions.name());
        self.metadata.metadata().row_groups().iter().any(|group| {
            group.columns().iter().any(|column| {
                column.column_path().string().starts_with(&below)
                    && column
                        .statistics()
                        .and_then(|statistics| statistics.null_count_opt())
                        .is_some_and(|nulls| {
                            i64::try_from(nulls).is_ok_and(|nulls| nulls < column.num_values())
                        })
            })
        })
    }

    /// Whether the file has a column at or below a dotted path.
    pub(crate) fn has_column(&self, path: &str) -> bool {
        let schema = self.metadata.parquet_schema();
        schema
            .columns()
            .iter()
            .any(|column| is_at_or_below(&column.path().string(), path))
    }

    /// Reads a row group: the adds and table actions, or the tombstones.
    pub(super) async fn read_group(
        self: Arc<Self>,
        group: usize,
        actions: FileActions,
        allowance: Arc<Allowance>,
    ) -> Result<GroupActions> {
        let mut wanted: Vec<&str> = match actions {
            FileActions::Adds => ADD_COLUMNS
                .into_iter()
                .chain(["add.deletionVector"])
                .chain(TABLE_ACTIONS)
                .collect(),
            FileActions::Neither => TABLE_ACTIONS.to_vec(),
            FileActions::Removes => REMOVE_COLUMNS
                .into_iter()
                .chain(["remove.deletionVector"])
                .collect(),
        };
        if actions == FileActions::Adds && has_too_many(self.metadata.metadata().row_group(group)) {
            wanted.push("remove.path");
        }
        let mask = self.mask(group, &wanted);
        let mut held = GroupActions::default();
        let Some(mask) = mask else {
            return Ok(held);
        };
        let read = async {
            let failed = |error| parquet_failed(error, &self.relative);
            let spending = Arc::clone(&allowance);
            let mut batches = self
                .batches(group, mask, BATCH_ROWS, allowance)
                .await
                .map_err(failed)?;
            let mut ordinal = 0usize;
            while let Some(batch) = batches.next().await.map_err(failed)? {
                ensure_one_action(&batch)?;
                if let Some(rows) = rows_of(&batch, actions.name())? {
                    let (schema, source) = match actions {
                        FileActions::Adds => {
                            let place = RowGroupPlace {
                                file: Arc::clone(&self),
                                group,
                                ordinal,
                            };
                            let tracked = ["baseRowId", "defaultRowCommitVersion"];
                            let schema = match tracked.iter().any(|name| rows.column_by_name(name).is_some())
                            {
                                true => add_schema_with_rows(),
                                false => add_schema(),
                            };
                            (schema, StatisticsSource::RowGroup(place))
                        }
                        _ => (remove_schema(), StatisticsSource::None),
                    };
                    let columns = file_actions(&rows, &schema)?;
                    ensure_sizes(&columns, actions)?;
                    // Columns that are missing in the file use memory too.
                    let bytes = u64::try_from(columns.get_array_memory_size()).unwrap_or(u64::MAX);
                    spending.spend(bytes).map_err(failed)?;
                    held.files
                        .push(Arc::new(FileBatch::try_new(columns, Vec::new(), source)?));
                }
                if actions != FileActions::Removes {
                    held.table.merge(table_actions(&batch)?)?;
                }
                ordinal += 1;
            }
            Ok(held)
        };
        let read = AssertUnwindSafe(read).catch_unwind().await;
        read.unwrap_or_else(|_| Err(caught_over_bytes(damaged(NO_SENSE))))
            .map_err(|error: Error| error.with("path", self.relative.as_str()))
    }

    /// Verifies that no row of a row group contains two actions, independently of its statistics.
    pub(super) async fn ensure_one_action(
        self: Arc<Self>,
        group: usize,
        allowance: Arc<Allowance>,
    ) -> Result<()> {
        let keys: Vec<String> = key_columns().collect();
        let mask = self.mask_of(|path| keys.iter().any(|key| key == path));
        let read = async {
            let failed = |error| parquet_failed(error, &self.relative);
            let batches = self.batches(group, mask, BATCH_ROWS, allowance).await;
            let mut batches = batches.map_err(failed)?;
            while let Some(batch) = batches.next().await.map_err(failed)? {
                ensure_one_action(&batch)?;
            }
            Ok(())
        };
        let read = AssertUnwindSafe(read).catch_unwind().await;
        read.unwrap_or_else(|_| Err(caught_over_bytes(damaged(NO_SENSE))))
            .map_err(|error: Error| error.with("path", self.relative.as_str()))
    }

    /// Calls `take` with the adds of each batch of a row group; reads only columns at or below the paths. The
    /// batches have `1 / share` of replay's batch size and are in order; `take` also gets the number of their
    /// first row.
    pub(crate) async fn read_adds(
        &self,
        group: usize,
        paths: &[String],
        share: usize,
        mut take: impl FnMut(usize, Option<StructArray>) -> Result<()> + Send,
    ) -> Result<()> {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let mask = self.mask_of(|path| paths.iter().any(|wanted| is_at_or_below(path, wanted)));
        let read = async {
            let failed = |error| parquet_failed(error, &self.relative);
            let rows = BATCH_ROWS / share.max(1);
            let allowance = Arc::new(Allowance::of(self.size()));
            let mut batches = self.batches(group, mask, rows, allowance).await.map_err(failed)?;
            let mut first = 0usize;
            while let Some(batch) = batches.next().await.map_err(failed)? {
                take(first / BATCH_ROWS, rows_of(&batch, "add")?)?;
                first += batch.num_rows();
            }
            Ok(())
        };
        let read = AssertUnwindSafe(read).catch_unwind().await;
        read.unwrap_or_else(|_| Err(caught_over_bytes(damaged(NO_SENSE))))
            .map_err(|error: Error| error.with("path", self.relative.as_str()))
    }

    /// Reads columns of a row group in batches of `batch_rows` rows, within an allowance.
    pub(super) async fn batches(
        &self,
        group: usize,
        mask: ProjectionMask,
        batch_rows: usize,
        allowance: Arc<Allowance>,
    ) -> std::result::Result<Batches, ParquetError> {
        let fetched = FetchedGroup::fetch(&self.reader, &self.metadata, group, &mask).await?;
        let rows = deduct_group(&allowance, &self.metadata, &fetched, batch_rows)?;
        let stream = ParquetRecordBatchStreamBuilder::new_with_metadata(fetched, self.metadata.clone())
            .with_row_groups(vec![group])
            .with_projection(mask)
            .with_batch_size(rows)
            .build()?;
        Ok(Batches {
            stream,
            batch_rows,
            allowance,
        })
    }

    /// Returns the mask of the wanted columns of a row group without actions that do not occur; `None` if
    /// nothing remains.
    pub(super) fn mask(&self, group: usize, wanted: &[&str]) -> Option<ProjectionMask> {
        let chunks = self.metadata.metadata().row_group(group).columns();
        let is_there = |unit: &str| {
            chunks
                .iter()
                .any(|chunk| is_at_or_below(&chunk.column_path().string(), unit) && !is_all_null(chunk))
        };
        let mut kept: Vec<&str> = Vec::new();
        for path in wanted {
            let action = path.split('.').next().unwrap_or(path);
            let unit = if SELDOM.iter().any(|seldom| path.ends_with(seldom)) {
                path
            } else {
                action
            };
            if is_there(unit) {
                kept.push(path);
            }
        }
        if kept.is_empty() {
            return None;
        }
        Some(self.mask_of(|path| kept.iter().any(|wanted| is_at_or_below(path, wanted))))
    }

    fn mask_of(&self, is_wanted: impl Fn(&str) -> bool) -> ProjectionMask {
        let schema = self.metadata.parquet_schema();
        let leaves = schema
            .columns()
            .iter()
            .enumerate()
            .filter(|(_, column)| is_wanted(&column.path().string()))
            .map(|(leaf, _)| leaf);
        ProjectionMask::leaves(schema, leaves.collect::<Vec<_>>())
    }
}

/// Batches of a row group. If rows are decoded in smaller batches to limit memory, these are concatenated.
pub(super) struct Batches {
    stream: ParquetRecordBatchStream<FetchedGroup>,
    batch_rows: usize,
    allowance: Arc<Allowance>,
}

impl Batches {
    pub(super) async fn next(&mut self) -> std::result::Result<Option<RecordBatch>, ParquetError> {
        let mut parts = Vec::new();
        let mut rows = 0usize;
        while rows < self.batch_rows {
            let Some(part) = self.stream.try_next().await? else {
                break;
            };
            let bytes = u64::try_from(part.get_array_memory_size()).unwrap_or(u64::MAX);
            self.allowance.spend(bytes)?;
            rows += part.num_rows();
            parts.push(part);
        }
        match parts.as_slice() {
            [] => Ok(None),
            [part] => Ok(Some(part.clone())),
            [first, ..] => Ok(Some(concat_batches(first.schema_ref(), &parts)?)),
        }
    }
}

/// The options of the Parquet reader.
pub(super) fn reader_options() -> ArrowReaderOptions {
    ArrowReaderOptions::new().with_skip_arrow_metadata(true)
}

pub(super) const NO_SENSE: &str = "its bytes are invalid";

fn is_at_or_below(path: &str, wanted: &str) -> bool {
    path.strip_prefix(wanted)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a column of a row group is all NULL according to its statistics, and too small to contain any value.
fn is_all_null(chunk: &ColumnChunkMetaData) -> bool {
    const NOTHING_BYTES: i64 = 512;
    chunk
        .statistics()
        .and_then(|statistics| statistics.null_count_opt())
        .is_some_and(|nulls| i64::try_from(nulls).is_ok_and(|nulls| nulls == chunk.num_values()))
        && chunk.uncompressed_size() <= NOTHING_BYTES
}

fn ensure_sizes(batch: &RecordBatch, actions: FileActions) -> Result<()> {
    if actions != FileActions::Adds {
        return Ok(());
    }
    match AddColumns::of(batch)?
        .size
        .values()
        .iter()
        .find(|size| **size < 0)
    {
        Some(size) => Err(damaged(format!("a file's size is {size}")).with("field", "add.size")),
        None => Ok(()),
    }
}

fn table_actions(batch: &RecordBatch) -> Result<TableActions> {
    let single = |name: &str, count: usize| -> Result<()> {
        if count > 1 {
            return Err(damaged(format!("it contains two {name} actions")));
        }
        Ok(())
    };
    let mut protocols = values_of(batch, "protocol")?;
    single("protocol", protocols.len())?;
    let mut metadata = values_of(batch, "metaData")?;
    single("metaData", metadata.len())?;
    let mut marks = values_of(batch, "checkpointMetadata")?;
    single("checkpointMetadata", marks.len())?;
    Ok(TableActions {
        protocol: protocols.pop(),
        metadata: metadata.pop(),
        checkpoint_metadata: marks.pop(),
        sidecars: values_of(batch, "sidecar")?,
        txns: values_of(batch, "txn")?,
        domains: values_of(batch, "domainMetadata")?,
        ..TableActions::default()
    })
}
