//! Writes rows to data files, one or more per partition.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use deltaic_log::Snapshot;
use deltaic_log::transaction::{EmptyPartitionText, StagedFiles};
use deltaic_protocol::actions::Add;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::properties::Codec;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Result, TableConfiguration};
use deltaic_storage::TableLocation;
use deltaic_storage::memory_budget::MemoryBudget;
use futures::StreamExt;

use super::copies::file_copy::FileCopy;
use super::data_file::DataFile;
use super::file_contents::FileContents;
use super::generate::identity::{IdentityColumns, Share};
use super::partition::PartitionKey;
use super::plan::WritePlan;
use super::temporary::spill::Spill;
use super::write_limits::Limits;

/// The number of files that are finished concurrently.
const FILES_IN_FLIGHT: usize = 16;

/// A file without rows in this many pieces of batches is finished if another one needs its place.
const IDLE_PIECES: usize = 64;

/// The result of a write.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The `add` actions of the files, to be committed.
    pub adds: Vec<Add>,
    /// The number of rows in all files.
    pub rows: u64,
    /// The new high-water marks of identity columns, for the table's schema.
    pub high_water_marks: Vec<(String, i64)>,
}

impl Written {
    /// The metrics of a commit that creates a table with the files, named as by Spark.
    pub(crate) fn metrics(&self) -> Vec<(&'static str, i64)> {
        let bytes = self.adds.iter().map(|add| add.size);
        vec![
            ("numFiles", i64::try_from(self.adds.len()).unwrap_or(i64::MAX)),
            ("numOutputRows", i64::try_from(self.rows).unwrap_or(i64::MAX)),
            ("numOutputBytes", bytes.fold(0, i64::saturating_add)),
        ]
    }
}

/// Writes rows of a table to data files. The table is unchanged until these are committed.
pub struct TableWriter {
    pub(super) location: Arc<TableLocation>,
    pub(super) plan: WritePlan,
    identities: IdentityColumns,
    open: BTreeMap<PartitionKey, DataFile>,
    /// The files that were started.
    pub(super) files: StagedFiles,
    /// The number of files that were started.
    pub(super) begun: usize,
    /// The number of pieces of batches that were written.
    pieces: usize,
    /// The maximum number of rows of a file.
    most_rows: Option<NonZeroUsize>,
    pub(super) limits: Limits,
    spill: Spill,
    /// The file with copied chunks that is being written.
    pub(super) copy: Option<FileCopy>,
    written: Written,
}

impl TableWriter {
    /// Verifies that the table can be written and that data of the schema match it, before anything is written.
    pub fn try_new(snapshot: &Snapshot, incoming: &Schema) -> Result<Self> {
        Self::of_contents(snapshot, snapshot.configuration(), incoming, FileContents::Rows)
    }

    /// The same for a configuration that the commit of the rows may change, and for files with other contents, whose own
    /// columns are in the incoming data.
    pub(crate) fn of_contents(
        snapshot: &Snapshot,
        configuration: &TableConfiguration,
        incoming: &Schema,
        contents: FileContents,
    ) -> Result<Self> {
        let plan = WritePlan::try_new(configuration, incoming, contents).map_err(|error| {
            error
                .with("table", snapshot.location().uri())
                .with("version", snapshot.version())
        })?;
        Ok(Self::of_plan(snapshot.location(), plan))
    }

    /// Writes files at a location as a plan requires.
    pub(crate) fn of_plan(location: &Arc<TableLocation>, plan: WritePlan) -> Self {
        Self {
            location: Arc::clone(location),
            identities: plan.identities.clone(),
            plan,
            open: BTreeMap::new(),
            files: StagedFiles::new(location),
            begun: 0,
            pieces: 0,
            most_rows: None,
            limits: Limits::of(MemoryBudget::default()),
            spill: Spill::new(Limits::of(MemoryBudget::default()).spill_bytes),
            copy: None,
            written: Written::default(),
        }
    }

    /// States that the rows are new, and what happens to empty text in partition columns.
    pub(crate) fn expect_new_rows(&mut self, empty_text: EmptyPartitionText) {
        self.plan.expect_new_rows(empty_text);
    }

    /// Limits the memory of rows in progress. Must be called before rows are written.
    pub(crate) fn limit_memory(&mut self, budget: MemoryBudget) {
        self.limits = Limits::of(budget);
        self.spill = Spill::new(self.limits.spill_bytes);
    }

    /// Generates only a share of the values of identity columns. Must be called before rows are written.
    pub(crate) fn limit_identities_to(&mut self, share: Share) {
        self.identities.limit_to(share);
    }

    /// Limits the number of rows of a file. Must be called before rows are written.
    pub(crate) fn limit_rows(&mut self, rows: NonZeroUsize) {
        self.most_rows = Some(rows);
    }

    /// Replaces the codec of the table.
    pub(crate) fn set_codec(&mut self, codec: Codec) {
        self.plan.form.codec = codec;
    }

    /// Replaces the table's target size of data files, in bytes.
    pub(crate) fn set_target_bytes(&mut self, bytes: u64) {
        self.plan.form.target_bytes = Some(bytes);
    }

    /// Requires that every row matches a predicate.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate`, `UnsupportedExpression`.
    pub(crate) fn require(&mut self, predicate: &Predicate, schema: &StructType) -> Result<()> {
        self.plan.require(predicate, schema)
    }

    /// Writes the rows of a batch to the files of their partitions. Errors of the store may be returned by a later call.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        for piece in self.plan.pieces(batch) {
            let rows = self.completed(&piece)?;
            self.write_completed(&rows).await?;
        }
        Ok(())
    }

    /// Cuts a batch, so that completing and writing each piece takes bounded memory.
    pub(crate) fn pieces(&self, batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> + use<> {
        self.plan.pieces(batch)
    }

    /// The schema of completed rows.
    pub(crate) fn completed_schema(&self) -> &SchemaRef {
        self.plan.completed_schema()
    }

    /// Converts rows to those that are written: with all columns of the table, generated values included.
    pub(crate) fn completed(&mut self, rows: &RecordBatch) -> Result<RecordBatch> {
        self.plan.completed(rows, &mut self.identities)
    }

    /// Writes completed rows to the files of their partitions.
    pub(crate) async fn write_completed(&mut self, rows: &RecordBatch) -> Result<()> {
        self.pieces += 1;
        for (values, rows) in self.plan.split(rows)? {
            if self.copy.is_some() {
                self.write_copy(values, rows).await?;
                continue;
            }
            self.write_partition(values, rows).await?;
        }
        Ok(())
    }

    pub(super) async fn write_partition(&mut self, values: PartitionKey, rows: RecordBatch) -> Result<()> {
        let waits = match self.open.contains_key(&values) {
            true => false,
            // The order of a partition's rows is kept.
            false => self.spill.contains(&values) || !self.has_room().await?,
        };
        match waits {
            true => self.spill.add(values, rows),
            false => self.encode(values, rows).await,
        }
    }

    /// Whether another file can be opened. If the rows are sorted by partition, a file that had no rows for long is
    /// finished first.
    async fn has_room(&mut self) -> Result<bool> {
        if self.open.len() < self.limits.open_files {
            return Ok(true);
        }
        let oldest = self.open.iter().min_by_key(|(_, file)| file.last_piece);
        let idle = oldest.filter(|(_, file)| self.pieces - file.last_piece >= IDLE_PIECES);
        let idle = idle.map(|(values, _)| values.clone());
        match idle.and_then(|values| self.open.remove(&values)) {
            Some(file) => self.finish_file(file).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// Writes rows to the open file of their partition, and to further ones if it is full.
    async fn encode(&mut self, values: PartitionKey, rows: RecordBatch) -> Result<()> {
        let Some(most) = self.most_rows else {
            return self.encode_in_one(values, rows).await;
        };
        let mut rest = rows;
        while rest.num_rows() > 0 {
            let in_file = self.open.get(&values).map_or(0, |file| file.rows % most);
            let fits = rest.num_rows().min(most.get() - in_file);
            self.encode_in_one(values.clone(), rest.slice(0, fits)).await?;
            rest = rest.slice(fits, rest.num_rows() - fits);
        }
        Ok(())
    }

    /// Writes rows to the open file of their partition, which is replaced if it is full.
    async fn encode_in_one(&mut self, values: PartitionKey, rows: RecordBatch) -> Result<()> {
        let is_full = match self.open.get_mut(&values) {
            Some(file) => {
                file.settle().await?;
                file.bytes() as u64 >= self.plan.target_bytes()
                    || self.most_rows.is_some_and(|most| file.rows >= most.get())
            }
            None => false,
        };
        if let Some(full) = is_full.then(|| self.open.remove(&values)).flatten() {
            self.finish_file(full).await?;
        }
        let file = match self.open.entry(values) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(slot) => {
                let values = slot.key().clone();
                let file = DataFile::begin(
                    &self.location,
                    &self.plan,
                    values,
                    &rows,
                    (self.begun, Vec::new()),
                )?;
                self.files.add([file.relative().to_owned()]);
                self.begun += 1;
                slot.insert(file)
            }
        };
        file.last_piece = self.pieces;
        file.rows += rows.num_rows();
        file.write(rows).await?;
        self.free_memory().await
    }

    /// Finishes the largest row groups in progress while all of them together are too large.
    async fn free_memory(&mut self) -> Result<()> {
        let mut held: usize = self.open.values().map(DataFile::memory).sum();
        while held > self.limits.encoded_bytes {
            let Some(largest) = self.open.values_mut().max_by_key(|file| file.memory()) else {
                break;
            };
            let freed = largest.memory();
            if freed == 0 {
                break;
            }
            largest.end_row_group(Vec::new()).await?;
            held = self.open.values().map(DataFile::memory).sum();
        }
        Ok(())
    }

    /// Writes the rows of partitions whose files were not open, a few partitions at a time.
    async fn write_spilled(&mut self) -> Result<()> {
        let none = Spill::new(self.limits.spill_bytes);
        let mut spill = std::mem::replace(&mut self.spill, none);
        while let Some((values, mut parts)) = spill.take() {
            if self.open.len() >= self.limits.open_files {
                self.finish_open().await?;
            }
            loop {
                let part = parts.next()?;
                if part.is_empty() {
                    break;
                }
                for rows in part {
                    self.encode(values.clone(), rows).await?;
                }
            }
        }
        Ok(())
    }

    pub(super) async fn finish_file(&mut self, file: DataFile) -> Result<()> {
        let (add, rows) = file.finish().await?;
        self.written.adds.push(add);
        self.written.rows += rows;
        Ok(())
    }

    /// Finishes all files; they are durable when this returns, and not yet committed.
    #[tracing::instrument(target = "deltaic::commit", name = "write files", level = "info", skip_all, fields(files = tracing::field::Empty, rows = tracing::field::Empty))]
    pub async fn finish(&mut self) -> Result<Written> {
        self.end_copy().await?;
        self.write_spilled().await?;
        self.finish_open().await?;
        let span = tracing::Span::current();
        span.record("files", self.written.adds.len());
        span.record("rows", self.written.rows);
        self.written.high_water_marks = self.identities.marks();
        Ok(std::mem::take(&mut self.written))
    }

    /// Finishes all open files, so that the next rows are written to others.
    pub(crate) async fn end_files(&mut self) -> Result<()> {
        self.finish_open().await
    }

    /// Finishes all open files.
    async fn finish_open(&mut self) -> Result<()> {
        let has_failed = &AtomicBool::new(false);
        let finish = |file: DataFile| async move {
            if has_failed.load(Ordering::Relaxed) {
                file.abort().await;
                return None;
            }
            let finished = file.finish().await;
            has_failed.fetch_or(finished.is_err(), Ordering::Relaxed);
            Some(finished)
        };
        // Finishing a file is mostly waiting for the store.
        let files = std::mem::take(&mut self.open).into_values().map(finish);
        let mut finished = futures::stream::iter(files).buffered(FILES_IN_FLIGHT);
        let mut failure = None;
        // After a failure the others are awaited too: a dropped upload may still create its file.
        while let Some(file) = finished.next().await {
            match file {
                Some(Ok((add, rows))) => {
                    self.written.adds.push(add);
                    self.written.rows += rows;
                }
                Some(Err(error)) => failure = failure.or(Some(error)),
                None => {}
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// Deletes the written files, after a failure that guarantees that nothing was committed. A file that cannot be
    /// deleted remains as an unreferenced file.
    pub async fn abort(&mut self) {
        if !self.files.owner().is_current() {
            return;
        }
        let copied = self.copy.take().and_then(|copy| copy.file);
        for file in std::mem::take(&mut self.open).into_values().chain(copied) {
            file.abort().await;
        }
        self.files.delete().await;
    }

    /// Returns the files that were started, for a caller that may have to delete them.
    pub(crate) fn into_files(self) -> StagedFiles {
        self.files
    }
}
