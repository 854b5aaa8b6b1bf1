//! Writes rows to data files, one or more per partition.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use deltaic_log::Snapshot;
use deltaic_log::transaction::StagedFiles;
use deltaic_protocol::Result;
use deltaic_protocol::actions::Add;
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::features::{ensure_appendable, supports_for_writers};
use deltaic_protocol::properties::{DataFileSettings, IndexedColumns, data_file_settings, indexed_columns};
use deltaic_protocol::schema::StructType;
use deltaic_storage::TableLocation;
use futures::StreamExt;

use super::check::{Defaults, Incoming};
use super::conditions::Conditions;
use super::data_file::DataFile;
use super::declared_length::DeclaredLengths;
use super::file_contents::FileContents;
use super::file_schema::file_schema;
use super::partition::{PartitionKey, Splitter};
use super::pieces::{PIECE_BYTES, pieces};
use super::statistics::FileStatistics;
use super::storable::{ensure_storable, without_void};

/// The number of files that are finished concurrently.
const FILES_IN_FLIGHT: usize = 16;

/// The default target size of data files, if the table has no property for it.
const TARGET_BYTES: u64 = 128 << 20;

/// The length of random folder names of files with mapped columns, as in delta-spark.
const RANDOM_PREFIX: usize = 2;

/// The result of a write.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The `add` actions of the files, to be committed.
    pub adds: Vec<Add>,
    /// The number of rows in all files.
    pub rows: u64,
}

/// Writes rows of a table to data files. The table is unchanged until these are committed.
pub struct TableWriter {
    location: Arc<TableLocation>,
    incoming: Incoming,
    lengths: DeclaredLengths,
    conditions: Conditions,
    splitter: Splitter,
    contents: FileContents,
    /// The columns that have statistics.
    data_schema: StructType,
    mode: ColumnMappingMode,
    /// The columns of the files, under their names there.
    file_schema: SchemaRef,
    indexed: IndexedColumns,
    form: DataFileSettings,
    open: BTreeMap<PartitionKey, DataFile>,
    /// The files that were started.
    files: StagedFiles,
    /// The number of files that were started.
    begun: usize,
    written: Written,
}

impl TableWriter {
    /// Verifies that the table can be written and that data of the schema match it, before anything is written.
    pub fn try_new(snapshot: &Snapshot, incoming: &Schema) -> Result<Self> {
        Self::of_contents(snapshot, incoming, FileContents::Rows)
    }

    /// The same for files with other contents, whose own columns are in the incoming data.
    pub(crate) fn of_contents(
        snapshot: &Snapshot,
        incoming: &Schema,
        contents: FileContents,
    ) -> Result<Self> {
        let located = |error: deltaic_protocol::Error| {
            error
                .with("table", snapshot.location().uri())
                .with("version", snapshot.version())
        };
        ensure_appendable(snapshot.configuration()).map_err(located)?;
        let partition_columns = &snapshot.metadata().partition_columns;
        ensure_storable(snapshot.schema(), partition_columns).map_err(located)?;
        let mut data_schema = without_void(snapshot.schema(), partition_columns);
        data_schema
            .fields
            .retain(|field| contents.has_statistics() && !partition_columns.contains(&field.name));
        let table = Arc::new(contents.with_own_columns(snapshot.schema()));
        let schema = without_void(&table, partition_columns);
        let protocol = snapshot.protocol();
        let defaults = match supports_for_writers(protocol, "allowColumnDefaults") {
            true => Defaults::Applied,
            false => Defaults::Ignored,
        };
        let mode = snapshot.column_mapping();
        let in_files = StructType {
            fields: schema
                .fields
                .iter()
                .filter(|field| !partition_columns.contains(&field.name))
                .cloned()
                .collect(),
        };
        let mut form = data_file_settings(snapshot.metadata()).map_err(located)?;
        if mode.is_mapped() {
            // Folders do not show the names of columns, which may change.
            form.random_prefix = form.random_prefix.or(Some(RANDOM_PREFIX));
        }
        Ok(Self {
            location: Arc::clone(snapshot.location()),
            incoming: Incoming::with_defaults(incoming, &table, partition_columns, defaults)
                .map_err(located)?,
            lengths: match contents.are_checked() {
                true => DeclaredLengths::of(&schema),
                false => DeclaredLengths::default(),
            },
            conditions: match contents.are_checked() {
                true => Conditions::of_table(snapshot.configuration(), &schema).map_err(located)?,
                false => Conditions::default(),
            },
            splitter: Splitter::try_new(&schema, partition_columns, mode)?,
            file_schema: file_schema(&in_files, mode)?,
            mode,
            contents,
            data_schema,
            indexed: indexed_columns(snapshot.metadata()).map_err(located)?,
            form,
            open: BTreeMap::new(),
            files: StagedFiles::new(snapshot.location()),
            begun: 0,
            written: Written::default(),
        })
    }

    /// Requires that every row matches a predicate.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate`, `UnsupportedExpression`.
    pub(crate) fn require(&mut self, predicate: &Predicate, schema: &StructType) -> Result<()> {
        self.conditions.replace(predicate, schema)
    }

    /// Writes the rows of a batch to the files of their partitions.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        for piece in pieces(batch, PIECE_BYTES, self.incoming.row_bytes()) {
            let rows = self.lengths.apply(self.incoming.conform(&piece)?)?;
            self.conditions.ensure(&rows)?;
            for (values, rows) in self.splitter.split(&rows)? {
                self.write_partition(values, &rows).await?;
            }
        }
        Ok(())
    }

    async fn write_partition(&mut self, values: PartitionKey, rows: &RecordBatch) -> Result<()> {
        let file = match self.open.entry(values) {
            std::collections::btree_map::Entry::Occupied(open) => open.into_mut(),
            std::collections::btree_map::Entry::Vacant(slot) => {
                let statistics = FileStatistics::new(
                    &self.data_schema,
                    &self.indexed,
                    self.form.string_prefix,
                    self.mode,
                );
                let (values, number) = (slot.key().clone(), self.begun);
                let file = DataFile::begin(
                    &self.location,
                    &self.file_schema,
                    values,
                    statistics,
                    (&self.form, &self.contents),
                    number,
                )?;
                self.files.add([file.relative().to_owned()]);
                self.begun += 1;
                slot.insert(file)
            }
        };
        file.write(rows).await?;
        if is_full(&self.form, file) {
            self.roll_full_files().await?;
        }
        Ok(())
    }

    async fn roll_full_files(&mut self) -> Result<()> {
        let full: Vec<PartitionKey> = self
            .open
            .iter()
            .filter(|(_, file)| is_full(&self.form, file))
            .map(|(values, _)| values.clone())
            .collect();
        for values in full {
            if let Some(file) = self.open.remove(&values) {
                self.finish_file(file).await?;
            }
        }
        Ok(())
    }

    async fn finish_file(&mut self, file: DataFile) -> Result<()> {
        let (add, rows) = file.finish().await?;
        self.written.adds.push(add);
        self.written.rows += rows;
        Ok(())
    }

    /// Finishes all files; they are durable when this returns, and not yet committed.
    #[tracing::instrument(target = "deltaic::commit", name = "write files", level = "info", skip_all, fields(files = tracing::field::Empty, rows = tracing::field::Empty))]
    pub async fn finish(&mut self) -> Result<Written> {
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
        if let Some(error) = failure {
            return Err(error);
        }
        let span = tracing::Span::current();
        span.record("files", self.written.adds.len());
        span.record("rows", self.written.rows);
        Ok(std::mem::take(&mut self.written))
    }

    /// Deletes the written files, after a failure that guarantees that nothing was committed. A file that cannot be
    /// deleted remains as an unreferenced file.
    pub async fn abort(&mut self) {
        if !self.files.owner().is_current() {
            return;
        }
        while let Some((_, file)) = self.open.pop_first() {
            file.abort().await;
        }
        self.files.delete().await;
    }

    /// Returns the files that were started, for a caller that may have to delete them.
    pub(crate) fn into_files(self) -> StagedFiles {
        self.files
    }
}

fn is_full(form: &DataFileSettings, file: &DataFile) -> bool {
    file.bytes() as u64 >= form.target_bytes.unwrap_or(TARGET_BYTES)
}
