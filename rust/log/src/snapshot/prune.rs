//! Prunes files by partition values, then by statistics, reading only the columns that the predicate names.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, RecordBatch, StructArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use arrow_select::filter::filter;
use deltaic_protocol::Result;
use deltaic_protocol::actions::columns::AddColumns;
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::skipping::{self, columns_of, files_that_may_match};
use deltaic_protocol::statistics::{StatisticsColumns, StatisticsSchema};

use super::files_batch::{Files, FilesBatch, PartitionField, typed_struct, unreadable_values};
use super::live::{copy_of, failed, rows_of};
use super::state::Snapshot;
use super::statistics::{Unit, WithStatistics, read_statistics, units_of};
use crate::reconcile::Survivors;
use deltaic_storage::in_parallel;
use deltaic_storage::location::TableLocation;

/// Number of batches processed concurrently.
const UNITS_IN_FLIGHT: usize = 4;

/// The predicate for pruning, and the statistics to read.
#[derive(Clone, Copy, Debug)]
pub struct Pruning<'a> {
    /// The predicate; files that cannot contain a matching row are pruned.
    pub predicate: Option<&'a BoundPredicate>,
    /// Which statistics are read with the files.
    pub statistics: WithStatistics,
}

/// How many files remain after each step of pruning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneReport {
    /// Files of the snapshot.
    pub files: usize,
    /// Files whose partition may contain a matching row.
    pub after_partitions: usize,
    /// Of these, files whose statistics allow a matching row.
    pub after_statistics: usize,
    /// Bytes of the snapshot.
    pub bytes: i64,
    /// Bytes of the files that remain after partition pruning.
    pub bytes_after_partitions: i64,
    /// Bytes of the files that remain at the end.
    pub bytes_after_statistics: i64,
    /// Whether statistics are missing because a file of the log was damaged or deleted after the snapshot was loaded.
    pub lacks_statistics: bool,
}

impl PruneReport {
    fn add(&mut self, other: Self) {
        self.files += other.files;
        self.after_partitions += other.after_partitions;
        self.after_statistics += other.after_statistics;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.bytes_after_partitions = self
            .bytes_after_partitions
            .saturating_add(other.bytes_after_partitions);
        self.bytes_after_statistics = self
            .bytes_after_statistics
            .saturating_add(other.bytes_after_statistics);
        self.lacks_statistics |= other.lacks_statistics;
    }
}

/// The steps applied to each batch.
struct Work {
    location: Arc<TableLocation>,
    fields: Vec<PartitionField>,
    /// The predicate on partition values: the whole predicate.
    by_partition: Option<BoundPredicate>,
    /// The predicate on statistics: the conjuncts that name a data column.
    by_statistics: Option<BoundPredicate>,
    /// The statistics that are read.
    wanted: Option<StatisticsSchema>,
    keeps_statistics: bool,
}

/// A batch in progress.
struct Selected {
    survivors: Survivors,
    adds: AddColumns,
    partition_values: Option<StructArray>,
    unreadable: Option<BooleanArray>,
    rows: BooleanBuffer,
}

impl Snapshot {
    /// The files that may contain a row matching the predicate, or all files without one; a file with unreadable
    /// partition values is never pruned. Must be called inside a runtime.
    ///
    /// Statistics are read by this call, not on loading. They are optional: if the log has since been damaged or
    /// cleaned up, the files are returned without them. A failure of the store is an error.
    ///
    /// Protocol: *Per-file Statistics*, *Partition Value Serialization*.
    pub async fn prune(&self, pruning: Pruning<'_>) -> Result<(Files, PruneReport)> {
        let work = Arc::new(self.work(pruning)?);
        let reads = work.wanted.is_some();
        let units = units_of(&self.adds, reads);
        let tasks: Vec<_> = units
            .into_iter()
            .map(|unit| {
                let work = Arc::clone(&work);
                async move { work.run(unit).await }
            })
            .collect();
        let mut report = PruneReport::default();
        let mut files = Files::default();
        for (batches, part) in in_parallel(tasks, UNITS_IN_FLIGHT).await? {
            files.batches.extend(batches);
            report.add(part);
        }
        Ok((files, report))
    }

    fn work(&self, pruning: Pruning<'_>) -> Result<Work> {
        let fields = self.partition_names();
        let is_partition = |column: &str| fields.iter().any(|partition| partition.field.name == column);
        let conjuncts = pruning.predicate.map(BoundPredicate::conjuncts);
        // Conjuncts on partition columns only are fully evaluated by partition pruning.
        let of_rows = conjuncts.unwrap_or_default().into_iter().filter(|conjunct| {
            let columns = conjunct.columns();
            !columns.into_iter().all(is_partition)
        });
        let by_statistics = BoundPredicate::all_of(of_rows.cloned().collect());
        let mut paths = by_statistics.as_ref().map(columns_of).unwrap_or_default();
        paths.retain(|path| !path.first().is_some_and(|name| is_partition(name)));
        let by_statistics = by_statistics.filter(|_| !paths.is_empty());
        let wanted = match (pruning.statistics, &by_statistics) {
            (WithStatistics::All, _) => Some(self.statistics_schema(None)),
            (_, Some(_)) => Some(self.statistics_schema(Some(&paths))),
            (WithStatistics::NumRecords, None) => Some(StatisticsSchema::num_records_only()),
            (WithStatistics::None, None) => None,
        };
        Ok(Work {
            location: Arc::clone(&self.location),
            fields,
            by_partition: pruning.predicate.cloned(),
            by_statistics,
            wanted,
            keeps_statistics: pruning.statistics != WithStatistics::None,
        })
    }
}

impl Work {
    async fn run(&self, unit: Unit) -> Result<(Vec<FilesBatch>, PruneReport)> {
        let mut report = PruneReport::default();
        let mut selected = Vec::with_capacity(unit.0.len());
        for survivors in unit.0 {
            selected.push(self.by_partition(survivors, &mut report)?);
        }
        let mut batches = Vec::new();
        let Some(wanted) = &self.wanted else {
            for selected in selected {
                report.after_statistics += selected.rows.count_set_bits();
                report.bytes_after_statistics = report
                    .bytes_after_statistics
                    .saturating_add(bytes_of(&selected.adds, &selected.rows));
                batches.extend(selected.into_batches()?);
            }
            return Ok((batches, report));
        };
        let rows: Vec<_> = selected
            .iter()
            .map(|selected| (Arc::clone(&selected.survivors.files), selected.rows.clone()))
            .collect();
        let (statistics, lacks_statistics) = read_statistics(&self.location, rows, wanted).await?;
        report.lacks_statistics = lacks_statistics;
        for (mut selected, mut statistics) in selected.into_iter().zip(statistics) {
            if let Some(predicate) = &self.by_statistics
                && let Some(mask) = selected.that_may_match(predicate, &statistics, wanted)?
            {
                selected.rows = narrowed(&selected.rows, &mask);
                statistics = statistics.filter(&mask)?;
            }
            report.after_statistics += selected.rows.count_set_bits();
            report.bytes_after_statistics = report
                .bytes_after_statistics
                .saturating_add(bytes_of(&selected.adds, &selected.rows));
            if self.keeps_statistics {
                batches.extend(selected.into_batch_with(statistics)?);
            } else {
                batches.extend(selected.into_batches()?);
            }
        }
        Ok((batches, report))
    }

    fn by_partition(&self, survivors: Survivors, report: &mut PruneReport) -> Result<Selected> {
        let adds = AddColumns::of(&survivors.files.batch)?;
        let mut rows = survivors.live.clone();
        report.files += rows.count_set_bits();
        report.bytes = report.bytes.saturating_add(bytes_of(&adds, &rows));
        let partition_values = typed_struct(&adds.partition_values, &self.fields)?;
        let mut unreadable = None;
        if let Some(predicate) = &self.by_partition {
            let mut files = skipping::Files::new(rows.len());
            if let Some(values) = partition_values
                .as_ref()
                .filter(|values| names_one_of(predicate, values))
            {
                let unreadable = unreadable.insert(unreadable_values(&adds, values, &self.fields));
                files = files.with_partition_values(values, unreadable)?;
            }
            if let Some(mask) = files_that_may_match(predicate, &files)? {
                rows = &rows & mask.values();
            }
        }
        report.after_partitions += rows.count_set_bits();
        report.bytes_after_partitions = report
            .bytes_after_partitions
            .saturating_add(bytes_of(&adds, &rows));
        Ok(Selected {
            survivors,
            adds,
            partition_values,
            unreadable,
            rows,
        })
    }
}

impl Selected {
    /// Which of the selected files may contain a matching row, by their statistics and partition values.
    fn that_may_match(
        &self,
        predicate: &BoundPredicate,
        statistics: &StatisticsColumns,
        wanted: &StatisticsSchema,
    ) -> Result<Option<BooleanArray>> {
        let files = skipping::Files::new(self.rows.count_set_bits()).with_statistics(statistics, wanted)?;
        let Some((values, unreadable)) = self.partition_values.as_ref().zip(self.unreadable.as_ref()) else {
            return files_that_may_match(predicate, &files);
        };
        if !names_one_of(predicate, values) {
            return files_that_may_match(predicate, &files);
        }
        let selected = BooleanArray::new(self.rows.clone(), None);
        let values = filter(values, &selected).map_err(failed)?;
        let unreadable = filter(unreadable, &selected).map_err(failed)?;
        let files = files.with_partition_values(values.as_struct(), unreadable.as_boolean())?;
        files_that_may_match(predicate, &files)
    }

    /// The log's columns with the typed partition values, so that both are filtered alike.
    fn with_values(&self) -> Result<RecordBatch> {
        super::files_batch::with_partition_values(&self.survivors.files.batch, self.partition_values.as_ref())
    }

    fn into_batches(self) -> Result<Vec<FilesBatch>> {
        rows_of(&self.with_values()?, &self.rows)?
            .into_iter()
            .map(|batch| FilesBatch::try_new(batch, None))
            .collect()
    }

    fn into_batch_with(self, statistics: StatisticsColumns) -> Result<Option<FilesBatch>> {
        if self.rows.count_set_bits() == 0 {
            return Ok(None);
        }
        let batch = copy_of(&self.with_values()?, &self.rows)?;
        FilesBatch::try_new(batch, Some(statistics)).map(Some)
    }
}

fn names_one_of(predicate: &BoundPredicate, values: &StructArray) -> bool {
    let mut columns = predicate.columns().into_iter();
    columns.any(|name| values.column_by_name(name).is_some())
}

/// The selected rows that remain after applying a mask over them.
fn narrowed(selected: &BooleanBuffer, mask: &BooleanArray) -> BooleanBuffer {
    let mut bits = BooleanBufferBuilder::new(selected.len());
    bits.append_n(selected.len(), false);
    for (index, row) in selected.set_indices().enumerate() {
        // An unknown result may match.
        if mask.is_null(index) || mask.value(index) {
            bits.set_bit(row, true);
        }
    }
    bits.finish()
}

fn bytes_of(adds: &AddColumns, rows: &BooleanBuffer) -> i64 {
    let sizes = adds.size.values();
    rows.set_indices()
        .filter_map(|row| sizes.get(row))
        .fold(0i64, |total, size| total.saturating_add(*size))
}
