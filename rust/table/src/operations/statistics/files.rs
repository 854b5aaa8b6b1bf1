//! Reads data files to compute their statistics, several files at once.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::Arc;

use arrow_array::Array;
use deltaic_log::Snapshot;
use deltaic_log::checkpoint::whole_adds;
use deltaic_log::progress::Stage;
use deltaic_log::transaction::CommitOptions;
use deltaic_protocol::actions::Add;
use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
use deltaic_protocol::properties::{IndexedColumns, data_file_settings};
use deltaic_protocol::schema::{ColumnName, StructType};
use deltaic_protocol::statistics::{StatisticsBuilder, StatisticsSchema, StatisticsText};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::start;
use futures::TryStreamExt;
use futures::stream::FuturesUnordered;

use super::columns::{StatisticsColumns, containing};
use super::request::ComputedStatistics;
use crate::operations::optimize::of_partitions;
use crate::read::stream_to_write;
use crate::rows::live_files::paths_that_may_match;
use crate::scan::{Scan, ScanOptions, ScanTask};
use crate::transaction::attempts::KnownStatistics;
use crate::write::FileStatistics;

/// The files of some partitions whose statistics were computed.
pub(super) struct Described {
    /// The number of files of these partitions.
    pub(super) read: usize,
    /// The files whose statistics differ, with the new ones.
    pub(super) changed: Vec<Add>,
}

/// Computes the statistics of files, except those that are known.
pub(super) async fn describe_files(
    snapshot: &Snapshot,
    request: &ComputedStatistics,
    options: &CommitOptions,
    known: &mut KnownStatistics,
) -> Result<Described> {
    let predicate = request.predicate.as_ref();
    let predicate = predicate.map(|predicate| of_partitions(snapshot, predicate));
    let columns = StatisticsColumns::try_new(snapshot, request.columns.as_deref())?;
    let paths = paths_that_may_match(snapshot, predicate.transpose()?.as_ref()).await?;
    let adds = whole_adds(snapshot, Some(&paths)).await?;
    let mut reader = Reader::try_new(snapshot)?;
    options.progress.begin(Stage::Files, adds.len() as u64);
    let unknown: Vec<&Add> = adds
        .iter()
        .filter(|add| !known.contains_key(&key_of(add)))
        .collect();
    options.progress.advance(adds.len() - unknown.len());
    let at_once = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut left = unknown.into_iter();
    let mut running = FuturesUnordered::new();
    loop {
        // Each job is made when it starts: those of all files would take much memory.
        while running.len() < at_once
            && let Some(add) = left.next()
        {
            let job = reader.job(add, columns.of_file(add.stats.as_deref()))?;
            let (key, progress) = (key_of(add), Arc::clone(&options.progress));
            running.push(start(async move {
                let stats = job.read().await?;
                progress.step();
                Ok::<_, Error>((key, stats))
            }));
        }
        let Some((key, stats)) = running.try_next().await? else {
            break;
        };
        known.insert(key, stats);
    }
    let same = SameStatistics::new(&columns.data, reader.mode);
    let mut described = Described {
        read: adds.len(),
        changed: Vec::new(),
    };
    for add in adds {
        let Some(stats) = known.get(&key_of(&add)) else {
            return Err(Error::internal("the statistics of a file were not computed"));
        };
        if !same.are_equal(add.stats.as_deref(), stats)? {
            described.changed.push(Add {
                stats: Some(stats.clone()),
                data_change: false,
                ..add
            });
        }
    }
    described.changed.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(described)
}

/// Reads the files of a version.
struct Reader<'a> {
    snapshot: &'a Snapshot,
    /// The number of characters of a string that are kept.
    prefix: usize,
    mode: ColumnMappingMode,
    /// The scans of the columns that were needed so far.
    scans: HashMap<Vec<ColumnName>, (Scan, StructType)>,
}

impl<'a> Reader<'a> {
    fn try_new(snapshot: &'a Snapshot) -> Result<Self> {
        Ok(Self {
            snapshot,
            prefix: data_file_settings(snapshot.metadata())?.string_prefix,
            mode: snapshot.column_mapping(),
            scans: HashMap::new(),
        })
    }

    /// The job that reads columns of a file.
    fn job(&mut self, add: &Add, columns: Vec<ColumnName>) -> Result<Job> {
        if !self.scans.contains_key(&columns) {
            let read = containing(self.snapshot.schema(), &columns);
            let scan = Scan::try_new(
                self.snapshot.clone(),
                ScanOptions {
                    columns: Some(read.fields.iter().map(|field| field.name.clone()).collect()),
                    ..ScanOptions::default()
                },
            )?;
            self.scans.insert(columns.clone(), (scan, read));
        }
        let (scan, read) = self
            .scans
            .get(&columns)
            .ok_or_else(|| Error::internal("a scan is not prepared"))?;
        let indexed = IndexedColumns::Named(columns);
        let mut statistics = FileStatistics::new(read, &indexed, self.prefix, self.mode);
        if let Some(vector) = &add.deletion_vector {
            let rows = u64::try_from(vector.cardinality).map_err(|_| {
                let what = "a deletion vector has a negative number of rows";
                Error::new(ErrorKind::CorruptLog, what).with("path", add.path.as_str())
            })?;
            statistics.with_deleted(rows);
        }
        Ok(Job {
            task: scan.task_of(add),
            statistics,
        })
    }
}

/// A file to read.
struct Job {
    task: ScanTask,
    statistics: FileStatistics,
}

impl Job {
    /// Returns the statistics of the rows that are not deleted, as JSON.
    async fn read(mut self) -> Result<String> {
        let mut batches = stream_to_write(vec![self.task]);
        while let Some(batch) = batches.try_next().await? {
            self.statistics.update(&batch);
        }
        Ok(self.statistics.to_json())
    }
}

/// Compares statistics by their values, because writers spell them in different ways.
struct SameStatistics {
    schema: StatisticsSchema,
}

impl SameStatistics {
    fn new(data: &StructType, mode: ColumnMappingMode) -> Self {
        Self {
            schema: StatisticsSchema::all(data, &|field| name_in_log(field, mode).to_owned()),
        }
    }

    fn are_equal(&self, before: Option<&str>, after: &str) -> Result<bool> {
        let Some(before) = before else {
            return Ok(false);
        };
        if before == after {
            return Ok(true);
        }
        let mut builder = StatisticsBuilder::with_capacity(&self.schema, 2);
        for stats in [before, after] {
            builder.push(StatisticsText::Plain(stats.as_bytes()));
        }
        let columns = builder.finish()?;
        let mut parts = [
            &columns.num_records,
            &columns.tight_bounds,
            &columns.min,
            &columns.max,
            &columns.null_count,
        ]
        .into_iter();
        Ok(parts.all(|part| part.slice(0, 1).to_data() == part.slice(1, 1).to_data()))
    }
}

/// A file with its deletion vector, whose rows are always the same.
fn key_of(add: &Add) -> String {
    let vector = add.deletion_vector.as_ref();
    let vector = vector.map(|vector| (&vector.storage_type, &vector.path_or_inline_dv, vector.offset));
    format!("{}\n{vector:?}", add.path)
}
