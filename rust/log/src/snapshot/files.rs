//! The files of a snapshot, as columns.

use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;
use deltaic_protocol::actions::columns::AddColumns;
use deltaic_protocol::column_mapping::name_in_log;
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::partition::{value_of, values_of_row};
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::statistics::{StatisticsColumns, StatisticsSchema};
use deltaic_protocol::{Error, Result};

use super::files_batch::unreadable_values;
use super::files_batch::{Files, FilesBatch, PartitionField, typed_struct, with_partition_values};
use super::prune::{PruneReport, Pruning};
use super::state::Snapshot;
use super::statistics::WithStatistics;
use deltaic_storage::location::without_secrets;

impl Snapshot {
    /// The number of files of the table.
    #[must_use]
    pub fn num_files(&self) -> usize {
        self.adds
            .iter()
            .map(|survivors| survivors.live.count_set_bits())
            .sum()
    }

    /// The total size of the table's files, in bytes.
    pub fn size_in_bytes(&self) -> Result<i64> {
        let mut total = 0i64;
        for survivors in self.adds.iter() {
            let columns = AddColumns::of(&survivors.files.batch)?;
            for row in survivors.live.set_indices() {
                total = total.saturating_add(columns.size.value(row));
            }
        }
        Ok(total)
    }

    /// The files that may contain a row matching the predicate, or all files without one. Must be called inside a
    /// runtime.
    pub async fn files(&self, predicate: Option<&BoundPredicate>) -> Result<(Files, PruneReport)> {
        let statistics = WithStatistics::None;
        self.prune(Pruning {
            predicate,
            statistics,
        })
        .await
    }

    /// The number of rows of the table; `None` if a file lacks the count. Must be called inside a runtime.
    ///
    /// # Errors
    ///
    /// `VersionNotFound` if the log files with these statistics were cleaned up, and no checkpoint has the version.
    pub async fn num_rows(&self) -> Result<Option<i64>> {
        let (rows, lacks_statistics) = self.counted_rows().await?;
        // Files without `numRecords` lack it in a newer checkpoint too.
        if rows.is_some() || !lacks_statistics {
            return Ok(rows);
        }
        match self.reopened().await? {
            Some(again) => Ok(again.counted_rows().await?.0),
            None => Ok(None),
        }
    }

    /// The number of rows, and whether statistics are missing because the log no longer has them.
    async fn counted_rows(&self) -> Result<(Option<i64>, bool)> {
        let pruning = Pruning {
            predicate: None,
            statistics: WithStatistics::NumRecords,
        };
        let (files, report) = self.prune(pruning).await?;
        self.ensure_unique_files(&files)?;
        self.ensure_vectors(&files)?;
        Ok((files.num_rows(), report.lacks_statistics))
    }

    /// The schema of [`FilesBatch::to_batch`], also for a table without files.
    pub fn files_schema(&self, statistics: WithStatistics) -> Result<Arc<Schema>> {
        let empty = RecordBatch::new_empty(deltaic_protocol::actions::columns::add_schema());
        let maps = AddColumns::of(&empty)?.partition_values;
        let values = typed_struct(&maps, &self.partition_names())?;
        let statistics = match statistics {
            WithStatistics::All => Some(self.no_statistics()?),
            _ => None,
        };
        let batch = FilesBatch::try_new(with_partition_values(&empty, values.as_ref())?, statistics)?;
        Ok(batch.to_batch()?.schema())
    }

    /// Statistics columns without rows.
    fn no_statistics(&self) -> Result<StatisticsColumns> {
        let wanted = self.statistics_schema(None);
        deltaic_protocol::statistics::StatisticsBuilder::with_capacity(&wanted, 0).finish()
    }

    /// The partition columns under their logical names and their names in the log.
    pub(super) fn partition_names(&self) -> Vec<PartitionField> {
        let named = |field: &StructField| PartitionField {
            field: field.clone(),
            in_log: StructField {
                name: self.name_in_log(field),
                ..field.clone()
            },
        };
        self.partition_fields().into_iter().map(named).collect()
    }

    /// The name of a field in the log's partition values and statistics.
    fn name_in_log(&self, field: &StructField) -> String {
        name_in_log(field, self.column_mapping).to_owned()
    }

    /// The statistics of all columns that can have any, or of those at the given paths of logical names.
    pub(super) fn statistics_schema(&self, paths: Option<&[Vec<String>]>) -> StatisticsSchema {
        let is_partition = |field: &&StructField| self.metadata().partition_columns.contains(&field.name);
        let with_data = StructType {
            fields: self
                .schema
                .fields
                .iter()
                .filter(|field| !is_partition(field))
                .cloned()
                .collect(),
        };
        let name_of = |field: &StructField| self.name_in_log(field);
        match paths {
            None => StatisticsSchema::all(&with_data, &name_of),
            Some(paths) => StatisticsSchema::of_columns(&with_data, &name_of, paths),
        }
    }

    /// Verifies that no file would be read twice because of two spellings of its path.
    pub fn ensure_unique_files(&self, files: &Files) -> Result<()> {
        let batches = files.batches.iter();
        let paths = batches.flat_map(|batch| (0..batch.len()).map(|row| batch.adds.path.value(row)));
        self.location
            .ensure_unique_files(paths)
            .map_err(|error| error.with("version", self.version()))
    }

    /// Validates every deletion vector descriptor before its cardinality is used.
    pub fn ensure_vectors(&self, files: &Files) -> Result<()> {
        for batch in &files.batches {
            let vectors = &batch.adds.deletion_vector;
            if vectors.null_count() == vectors.len() {
                continue;
            }
            for row in 0..batch.len() {
                let Some(vector) = batch.adds.descriptor(row) else {
                    continue;
                };
                let located = |error: Error| {
                    error
                        .renamed("path", "vector")
                        .with("path", without_secrets(batch.adds.path.value(row)))
                        .with("version", self.version())
                };
                vector.validate().map_err(located)?;
            }
        }
        Ok(())
    }

    /// Verifies that every file's partition values can be parsed, as required before reading the files; the error names
    /// the first file that fails.
    pub fn ensure_partition_values(&self, files: &Files) -> Result<()> {
        let fields = self.partition_names();
        for batch in &files.batches {
            let Some(values) = &batch.partition_values else {
                continue;
            };
            let unreadable = unreadable_values(&batch.adds, values, &fields);
            let Some(row) = unreadable.values().set_indices().next() else {
                continue;
            };
            let texts = values_of_row(&batch.adds.partition_values, row);
            let checked = fields
                .iter()
                .try_for_each(|field| value_of(&field.in_log, &texts).map(|_| ()));
            checked.map_err(|error| error.with("path", batch.adds.path.value(row)))?;
        }
        Ok(())
    }
}
