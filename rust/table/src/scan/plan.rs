//! A question to a snapshot, and the tasks that answer it.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use deltaic_log::Snapshot;
use deltaic_log::snapshot::{Files, FilesBatch, PruneReport, Pruning, WithStatistics};
use deltaic_protocol::expr::{BoundPredicate, parse_predicate};
use deltaic_protocol::features::ensure_readable;
use deltaic_protocol::partition::values_of_row;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::columns::choose;
use super::row_ids;
use super::{ScanContext, ScanTask, Selection, VariantAs};
use crate::read::Rows;

/// What a scan is asked.
#[derive(Clone, Debug, Default)]
pub struct ScanOptions {
    /// The columns, in the order they are to come; all without.
    pub columns: Option<Vec<String>>,
    /// The rows, as SQL text; all without.
    pub predicate: Option<String>,
    /// At most so many rows.
    pub limit: Option<usize>,
    /// Rows a batch, at most.
    pub batch_size: Option<usize>,
    /// Whether each row's id and the version that brought it come behind the columns.
    pub row_ids: bool,
    /// The form of variants.
    pub variant: VariantAs,
    /// Folders outside the table that its files may lie in.
    pub allowed_roots: Vec<String>,
}

/// A question to a snapshot.
#[derive(Clone, Debug)]
pub struct Scan {
    pub(super) snapshot: Snapshot,
    pub(super) context: Arc<ScanContext>,
    limit: Option<usize>,
}

impl Scan {
    /// Proves that the columns and the predicate fit the snapshot's schema. Nothing is read.
    ///
    /// An unknown column is an `InvalidArgument` with the nearest name, a predicate that does not fit an
    /// `InvalidPredicate`.
    pub fn try_new(snapshot: Snapshot, options: ScanOptions) -> Result<Self> {
        ensure_readable(snapshot.protocol(), snapshot.metadata(), snapshot.schema()).map_err(|error| {
            error
                .with("table", snapshot.location().uri())
                .with("version", snapshot.version())
        })?;
        let schema = Arc::clone(snapshot.schema());
        let chosen = match &options.columns {
            None => schema.as_ref().clone(),
            Some(names) => choose(&schema, names)?,
        };
        let mut output = options.variant.of_schema(&chosen);
        let row_columns = if options.row_ids {
            let columns = row_ids::materialized_columns(&snapshot).map_err(|error| {
                error
                    .with("table", snapshot.location().uri())
                    .with("version", snapshot.version())
            })?;
            output.fields.extend(row_ids::fields());
            Some(columns)
        } else {
            None
        };
        let predicate = match options.predicate {
            Some(text) => {
                let bound = parse_predicate(&text)?.bind(&schema)?;
                Some((text, bound))
            }
            None => None,
        };
        // An Arrow type that cannot be had is an error now and not in the middle of the data.
        output.to_arrow()?;
        if options.batch_size == Some(0) {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "batch_size must be at least 1",
            ));
        }
        let context = ScanContext {
            location: Arc::clone(snapshot.location()),
            version: snapshot.version(),
            table_schema: schema,
            partition_columns: snapshot.metadata().partition_columns.clone(),
            column_mapping: snapshot.column_mapping(),
            output,
            row_columns,
            predicate,
            batch_size: options.batch_size,
            variant: options.variant,
            allowed_roots: options.allowed_roots,
        };
        Ok(Self {
            snapshot,
            context: Arc::new(context),
            limit: options.limit,
        })
    }

    /// The columns that come out.
    #[must_use]
    pub fn schema(&self) -> &StructType {
        &self.context.output
    }

    /// At most so many rows come out.
    #[must_use]
    pub fn limit(&self) -> Option<usize> {
        self.limit
    }

    pub(super) fn bound(&self) -> Option<&BoundPredicate> {
        self.context.predicate.as_ref().map(|(_, bound)| bound)
    }

    pub(super) async fn pruned(&self) -> Result<(Files, PruneReport)> {
        // The rows of files without columns may be counted in the statistics alone.
        let statistics = match self.context.has_data_columns() {
            true => WithStatistics::None,
            false => WithStatistics::NumRecords,
        };
        let predicate = self.bound();
        self.snapshot
            .prune(Pruning {
                predicate,
                statistics,
            })
            .await
    }

    /// The files to read, each a task of its own. Must be called inside a runtime.
    pub async fn tasks(&self) -> Result<Vec<ScanTask>> {
        let (files, _) = self.pruned().await?;
        self.tasks_of(&files)
    }

    /// The tasks that read these files.
    pub(super) fn tasks_of(&self, files: &Files) -> Result<Vec<ScanTask>> {
        self.snapshot.ensure_partition_values(files)?;
        self.snapshot.ensure_places_once(files)?;
        let task = |files: &FilesBatch, row: usize| {
            Ok(ScanTask {
                context: Arc::clone(&self.context),
                path: files.adds.path.value(row).to_owned(),
                size: files.adds.size.value(row),
                partition_values: values_of_row(&files.adds.partition_values, row),
                selection: Selection::of(files.adds.descriptor(row)),
                base_row_id: files.adds.base_row_id(row),
                default_row_commit_version: files.adds.default_row_commit_version(row),
                num_records: self.context.without_data_columns(files.num_records(row)),
                rows: Rows::All,
            })
        };
        files
            .batches
            .iter()
            .flat_map(|batch| (0..batch.len()).map(move |row| task(batch, row)))
            .collect()
    }

    /// Whether the predicate, if any, looks at partition columns alone, so that the log answers it.
    fn is_answered_by_the_log(&self) -> bool {
        self.bound().is_none_or(|predicate| {
            let columns = predicate.columns();
            // A predicate without columns is judged row by row like any other.
            !columns.is_empty()
                && columns
                    .iter()
                    .all(|column| self.context.partition_columns.iter().any(|name| name == column))
        })
    }

    /// The same question with no columns, for those who want to know how many rows there are.
    #[must_use]
    pub fn without_columns(&self) -> Self {
        let context = ScanContext {
            output: StructType::default(),
            row_columns: None,
            batch_size: self.context.batch_size,
            ..self.context.as_ref().clone()
        };
        Self {
            snapshot: self.snapshot.clone(),
            context: Arc::new(context),
            limit: self.limit,
        }
    }

    /// How many rows the scan has, from the log where that is exact; none where the files must be read.
    pub async fn count_from_log(&self) -> Result<Option<i64>> {
        if !self.is_answered_by_the_log() {
            return Ok(None);
        }
        let (files, _) = self
            .snapshot
            .prune(Pruning {
                predicate: self.bound(),
                statistics: WithStatistics::NumRecords,
            })
            .await?;
        // Pruning keeps a file whose partition value cannot be read; a scan would refuse it.
        self.snapshot.ensure_partition_values(&files)?;
        self.snapshot.ensure_places_once(&files)?;
        self.snapshot.ensure_vectors(&files)?;
        Ok(files.num_rows().map(|rows| match self.limit {
            Some(limit) => rows.min(i64::try_from(limit).unwrap_or(i64::MAX)),
            None => rows,
        }))
    }
}

/// The files that may hold a matching row, one a row: `path`, `size`, `modification_time`, `partition_values`,
/// `deletion_vector`, and with statistics `num_records`, `tight_bounds`, `min`, `max`, `null_count`; the schema, which
/// says so even where there are no files. Must be called inside a runtime.
pub async fn list_files(
    snapshot: &Snapshot,
    predicate: Option<&str>,
    statistics: WithStatistics,
) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let bound = match predicate {
        Some(text) => Some(parse_predicate(text)?.bind(snapshot.schema())?),
        None => None,
    };
    let predicate = bound.as_ref();
    let (files, _) = snapshot
        .prune(Pruning {
            predicate,
            statistics,
        })
        .await?;
    Ok((snapshot.files_schema(statistics)?, files.to_batches()?))
}
