//! A scan of a snapshot, and its tasks.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use deltaic_log::Snapshot;
use deltaic_log::snapshot::{Files, FilesBatch, PruneReport, Pruning, WithStatistics};
use deltaic_protocol::actions::Add;
use deltaic_protocol::expr::{BoundPredicate, Predicate};
use deltaic_protocol::features::ensure_readable;
use deltaic_protocol::partition::values_of_row;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::statistics::num_records;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration};

use super::columns::choose;
use super::positions;
use super::row_ids;
use super::rows::Rows;
use super::{ScanContext, ScanTask, Selection, StringsAs, VariantAs};

/// The options of a scan.
#[derive(Clone, Debug, Default)]
pub struct ScanOptions {
    /// The columns, in output order; all if `None`.
    pub columns: Option<Vec<String>>,
    /// The predicate; all rows if `None`.
    pub predicate: Option<Predicate>,
    /// Rows for which this is not true need not be read: statistics and partition values skip them, those of pages too
    /// for columns that are read. The other rows are not filtered. Tasks that are sent to other processes do not have it.
    pub skips: Option<BoundPredicate>,
    /// The maximum number of rows.
    pub limit: Option<usize>,
    /// The maximum number of rows per batch.
    pub batch_size: Option<usize>,
    /// Whether to append the columns with each row's id and row commit version.
    pub row_ids: bool,
    /// Whether to append the columns with each row's file and its position there.
    pub positions: bool,
    /// The output form of variants.
    pub variant: VariantAs,
    /// The output form of strings.
    pub strings: StringsAs,
}

/// A scan of a snapshot.
#[derive(Clone, Debug)]
pub struct Scan {
    pub(crate) snapshot: Snapshot,
    pub(crate) context: Arc<ScanContext>,
    limit: Option<usize>,
}

impl Scan {
    /// Verifies that the columns and the predicate match the snapshot's schema. Does no I/O.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` for an unknown column, with the closest match; `InvalidPredicate` for a predicate that
    /// does not match the schema.
    pub fn try_new(snapshot: Snapshot, options: ScanOptions) -> Result<Self> {
        ensure_readable(snapshot.configuration()).map_err(|error| {
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
        if options.positions {
            output.fields.extend(positions::fields(&schema)?);
        }
        let predicate = match options.predicate {
            Some(predicate) => {
                let bound = predicate.bind(&schema)?;
                Some((predicate, bound))
            }
            None => None,
        };
        // An unsupported Arrow type is an error now, not in the middle of the data.
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
            positions: options.positions,
            predicate,
            skips: options.skips,
            batch_size: options.batch_size,
            variant: options.variant,
            strings: options.strings,
        };
        Ok(Self {
            snapshot,
            context: Arc::new(context),
            limit: options.limit,
        })
    }

    /// The output columns.
    #[must_use]
    pub fn schema(&self) -> &StructType {
        &self.context.output
    }

    /// The Arrow schema of the output.
    ///
    /// # Errors
    ///
    /// None that [`Scan::try_new`] did not return.
    pub fn arrow_schema(&self) -> Result<Schema> {
        self.context.arrow_schema()
    }

    /// The same scan with another form of strings.
    #[must_use]
    pub fn with_strings(&self, strings: StringsAs) -> Self {
        Self {
            context: self.context.with_strings(strings),
            ..self.clone()
        }
    }

    /// The maximum number of rows.
    #[must_use]
    pub fn limit(&self) -> Option<usize> {
        self.limit
    }

    pub(crate) fn bound(&self) -> Option<&BoundPredicate> {
        self.context.predicate.as_ref().map(|(_, bound)| bound)
    }

    #[tracing::instrument(target = "deltaic::scan", name = "plan scan", level = "info", skip_all, fields(table = self.context.location.uri(), version = self.context.version.as_i64(), files = tracing::field::Empty, after_partitions = tracing::field::Empty, after_statistics = tracing::field::Empty))]
    pub(crate) async fn pruned(&self) -> Result<(Files, PruneReport)> {
        // The row count of files without columns may only be in the statistics.
        let statistics = match self.context.has_data_columns() {
            true => WithStatistics::None,
            false => WithStatistics::NumRecords,
        };
        let predicate = self.bound();
        let pruning = Pruning {
            predicate,
            statistics,
        };
        let (files, report) = self.snapshot.prune(pruning).await?;
        let span = tracing::Span::current();
        span.record("files", report.files);
        span.record("after_partitions", report.after_partitions);
        span.record("after_statistics", report.after_statistics);
        Ok((files, report))
    }

    /// Returns the files to read, one task each. Must be called inside a runtime.
    pub async fn tasks(&self) -> Result<Vec<ScanTask>> {
        let (files, _) = self.pruned().await?;
        self.tasks_of(&files)
    }

    /// Returns the tasks that read these files.
    pub(crate) fn tasks_of(&self, files: &Files) -> Result<Vec<ScanTask>> {
        self.snapshot.ensure_partition_values(files)?;
        self.snapshot.ensure_unique_files(files)?;
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

    /// Returns the task that reads rows of a live file, given by position.
    pub(crate) fn task_of_rows(&self, add: &Add, rows: Rows) -> ScanTask {
        let records = add.stats.as_deref().and_then(num_records);
        ScanTask {
            context: Arc::clone(&self.context),
            path: add.path.clone(),
            size: add.size,
            partition_values: add.partition_values.clone(),
            selection: Selection::All,
            base_row_id: add.base_row_id,
            default_row_commit_version: add.default_row_commit_version,
            num_records: self.context.without_data_columns(records),
            rows,
        }
    }

    /// Returns the task that reads the rows of a live file that are not deleted.
    pub(crate) fn task_of(&self, add: &Add) -> ScanTask {
        ScanTask {
            selection: Selection::of(add.deletion_vector.clone()),
            ..self.task_of_rows(add, Rows::All)
        }
    }

    /// The scan of all columns that the table has under another configuration: that of the files of the next version.
    ///
    /// # Errors
    ///
    /// `CorruptLog` if the configuration is inconsistent.
    pub(crate) fn of_configuration(&self, table: &TableConfiguration) -> Result<Self> {
        let schema = table.schema()?;
        let context = ScanContext {
            output: self.context.variant.of_schema(&schema),
            table_schema: schema,
            partition_columns: table.metadata().partition_columns.clone(),
            column_mapping: table.column_mapping()?,
            ..self.context.as_ref().clone()
        };
        Ok(Self {
            context: Arc::new(context),
            ..self.clone()
        })
    }

    /// Whether the predicate, if any, uses only partition columns, so that the log can evaluate it.
    fn is_decided_by_the_log(&self) -> bool {
        self.bound().is_none_or(|predicate| {
            let columns = predicate.columns();
            // A predicate without columns is evaluated for each row like any other.
            !columns.is_empty()
                && columns
                    .iter()
                    .all(|column| self.context.partition_columns.iter().any(|name| name == column))
        })
    }

    /// The same scan without columns, for counting rows.
    #[must_use]
    pub fn without_columns(&self) -> Self {
        let context = ScanContext {
            output: StructType::default(),
            row_columns: None,
            positions: false,
            batch_size: self.context.batch_size,
            ..self.context.as_ref().clone()
        };
        Self {
            snapshot: self.snapshot.clone(),
            context: Arc::new(context),
            limit: self.limit,
        }
    }

    /// Returns the number of rows if the log has it exactly; `None` if the files must be read.
    pub async fn count_from_log(&self) -> Result<Option<i64>> {
        if !self.is_decided_by_the_log() {
            return Ok(None);
        }
        let (files, _) = self
            .snapshot
            .prune(Pruning {
                predicate: self.bound(),
                statistics: WithStatistics::NumRecords,
            })
            .await?;
        // Pruning keeps a file with an invalid partition value; a scan would reject it.
        self.snapshot.ensure_partition_values(&files)?;
        self.snapshot.ensure_unique_files(&files)?;
        self.snapshot.ensure_vectors(&files)?;
        Ok(files.num_rows().map(|rows| match self.limit {
            Some(limit) => rows.min(i64::try_from(limit).unwrap_or(i64::MAX)),
            None => rows,
        }))
    }
}

/// Returns the files that may contain a matching row, one per row: `path`, `size`, `modification_time`,
/// `partition_values`, `deletion_vector`, and with statistics `num_records`, `tight_bounds`, `min`, `max`,
/// `null_count`. Also returns the schema, for a result without files. Must be called inside a runtime.
pub async fn list_files(
    snapshot: &Snapshot,
    predicate: Option<&Predicate>,
    statistics: WithStatistics,
) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let bound = predicate
        .map(|predicate| predicate.bind(snapshot.schema()))
        .transpose()?;
    let predicate = bound.as_ref();
    let (files, _) = snapshot
        .prune(Pruning {
            predicate,
            statistics,
        })
        .await?;
    Ok((snapshot.files_schema(statistics)?, files.to_batches()?))
}
