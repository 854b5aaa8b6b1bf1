//! A Parquet file of actions, written one row group at a time.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use deltaic_protocol::{Error, Result};
use futures::FutureExt;
use futures::future::BoxFuture;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowRowGroupWriterFactory, ArrowWriterOptions};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::{ColumnPath, SchemaDescriptor};

use super::file_out::FileOut;
use super::row_group::{OWN_TASK, RowGroup, failed};
use super::upload::{Landed, Upload};
use deltaic_storage::location::TableLocation;
use deltaic_storage::start;

/// Rows per row group: the batch size of a reader, so that readers decode row groups in parallel.
const GROUP_ROWS: usize = 1 << 16;

/// Maximum size of a row group in bytes, which is buffered in memory.
const GROUP_BYTES: usize = 8 << 20;

/// Maximum size of a page in bytes before compression: small blocks are allocated again soon.
const PAGE_BYTES: usize = 128 << 10;

/// A file, and the result of writing its last row group.
type Written = (FileOut, Result<()>);

/// A Parquet file that is being written.
pub(super) struct ParquetOut {
    relative: Arc<str>,
    schema: SchemaDescriptor,
    groups: ArrowRowGroupWriterFactory,
    group: Option<RowGroup>,
    /// The file, while its last row group is written.
    writing: Option<BoxFuture<'static, Result<Written>>>,
    rows: u64,
}

/// A completed file.
#[derive(Clone, Debug)]
pub(super) struct Finished {
    pub(super) relative: String,
    pub(super) bytes: u64,
    pub(super) rows: u64,
    pub(super) landed: Landed,
}

impl ParquetOut {
    /// Creates a file below the table's root that buffers up to `most_held` bytes.
    pub(super) fn begin(
        location: &TableLocation,
        relative: String,
        schema: &SchemaRef,
        most_held: usize,
    ) -> Result<Self> {
        let path = location.below(&relative)?;
        let mut properties = WriterProperties::builder()
            .set_data_page_size_limit(PAGE_BYTES)
            // Most columns have no dictionary, see `repeats`.
            .set_dictionary_enabled(false)
            .set_compression(Compression::SNAPPY)
            // JSON repeats names: at level 1, Zstandard takes as long as Snappy and half the bytes.
            .set_column_compression(
                ColumnPath::new(OWN_TASK.split('.').map(str::to_owned).collect()),
                Compression::ZSTD(ZstdLevel::default()),
            )
            // Statistics of a row group show whether it contains a kind of action; readers do not use page
            // statistics.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_created_by(concat!("deltaic ", env!("CARGO_PKG_VERSION")).to_owned());
        let relative: Arc<str> = relative.into();
        let leaves = ArrowSchemaConverter::new().convert(schema);
        let leaves = leaves.map_err(|error| failed(&error, &relative))?;
        for leaf in leaves
            .columns()
            .iter()
            .filter(|leaf| repeats(leaf.path().parts()))
        {
            properties = properties.set_column_dictionary_enabled(leaf.path().clone(), true);
        }
        // Readers must derive the types from Parquet, not from an embedded Arrow schema.
        let options = ArrowWriterOptions::new()
            .with_properties(properties.build())
            .with_skip_arrow_metadata(true);
        let is_local = location.file_system().is_some();
        let upload = Upload::new(Arc::clone(location.store()), path, is_local, most_held);
        let (out, groups) = FileOut::begin(&relative, schema, options, upload)?;
        Ok(Self {
            relative,
            schema: leaves,
            groups,
            group: None,
            writing: Some(std::future::ready(Ok((out, Ok(())))).boxed()),
            rows: 0,
        })
    }

    /// Writes rows.
    pub(super) async fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let mut first = 0usize;
        while first < rows.num_rows() {
            if let Some(group) = &mut self.group
                && (group.rows() >= GROUP_ROWS || group.bytes().await? > GROUP_BYTES)
            {
                self.end_group().await?;
            }
            let group = match &mut self.group {
                Some(group) => group,
                None => self.group.insert(self.begin_group()?),
            };
            let count = (GROUP_ROWS - group.rows()).min(rows.num_rows() - first);
            group.write(&rows.slice(first, count)).await?;
            first += count;
        }
        self.rows += u64::try_from(rows.num_rows()).unwrap_or(0);
        Ok(())
    }

    fn begin_group(&self) -> Result<RowGroup> {
        // The index of a row group matters for encrypted files alone.
        let writers = self.groups.create_column_writers(0);
        let writers = writers.map_err(|error| failed(&error, &self.relative))?;
        Ok(RowGroup::new(&self.relative, writers, &self.schema))
    }

    /// Number of rows so far.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Ends the row group, so that the next rows start a new one. It is written while the next one is encoded.
    pub(super) async fn end_group(&mut self) -> Result<()> {
        let Some(group) = self.group.take() else {
            return Ok(());
        };
        let mut out = self.out().await?;
        let written = start(async move {
            let written = out.append(group).await;
            Ok((out, written))
        });
        self.writing = Some(written.boxed());
        Ok(())
    }

    /// Returns the file after its row groups are written.
    async fn out(&mut self) -> Result<FileOut> {
        let written = match self.writing.take() {
            Some(writing) => writing.await,
            None => Err(Error::internal("a file is written after a failure")),
        };
        let (out, written) = written?;
        if let Err(error) = written {
            self.writing = Some(std::future::ready(Ok((out, Ok(())))).boxed());
            return Err(error);
        }
        Ok(out)
    }

    /// Completes the file; it is durable when this returns.
    pub(super) async fn finish(mut self) -> Result<Finished> {
        self.end_group().await?;
        let (bytes, landed) = self.out().await?.finish().await?;
        Ok(Finished {
            relative: self.relative.as_ref().to_owned(),
            bytes,
            rows: self.rows,
            landed,
        })
    }

    /// Aborts the upload of the file.
    pub(super) async fn abort(self) {
        if let Some(writing) = self.writing
            && let Ok((out, _)) = writing.await
        {
            out.abort().await;
        }
    }
}

/// Whether the values of a column usually repeat, so that a dictionary is worth its time and memory. Paths, sizes,
/// times, statistics and bounds differ between nearly all files.
fn repeats(path: &[String]) -> bool {
    const FIELDS: [&str; 7] = [
        "partitionValues",
        "partitionValues_parsed",
        "tags",
        "deletionVector",
        "deletionTimestamp",
        "defaultRowCommitVersion",
        "clusteringProvider",
    ];
    match path {
        [_, statistics, kind, ..] if statistics == "stats_parsed" => kind == "nullCount",
        [_, field, ..] => FIELDS.contains(&field.as_str()),
        _ => false,
    }
}
