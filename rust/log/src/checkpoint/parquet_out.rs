//! A Parquet file of actions, written one row group at a time.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::location::TableLocation;
use deltaic_storage::parquet_writer::{Creation, FileForm, FileWriter, Landed};
use parquet::arrow::ArrowSchemaConverter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

/// The column with the statistics of files, as JSON.
const STATISTICS: &str = "add.stats";

/// Rows per row group: the batch size of a reader, so that readers decode row groups in parallel.
const GROUP_ROWS: usize = 1 << 16;

/// Maximum size of a row group in bytes, which is buffered in memory.
const GROUP_BYTES: usize = 8 << 20;

/// Maximum size of a page in bytes before compression: small blocks are allocated again soon.
const PAGE_BYTES: usize = 128 << 10;

/// A Parquet file that is being written.
pub(super) struct ParquetOut {
    relative: String,
    file: FileWriter,
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
        let mut properties = WriterProperties::builder()
            .set_data_page_size_limit(PAGE_BYTES)
            // Most columns have no dictionary, see `repeats`.
            .set_dictionary_enabled(false)
            .set_compression(Compression::SNAPPY)
            // JSON repeats names: at level 1, Zstandard takes as long as Snappy and half the bytes.
            .set_column_compression(
                ColumnPath::new(STATISTICS.split('.').map(str::to_owned).collect()),
                Compression::ZSTD(ZstdLevel::default()),
            )
            // Statistics of a row group show whether it contains a kind of action; readers do not use page
            // statistics.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_created_by(concat!("deltaic ", env!("CARGO_PKG_VERSION")).to_owned());
        // Readers must derive the types from Parquet, not from an embedded Arrow schema.
        let leaves = ArrowSchemaConverter::new().convert(schema);
        let leaves = leaves.map_err(|error| unwritable(&error, &relative))?;
        for leaf in leaves
            .columns()
            .iter()
            .filter(|leaf| repeats(leaf.path().parts()))
        {
            properties = properties.set_column_dictionary_enabled(leaf.path().clone(), true);
        }
        let form = FileForm {
            properties: properties.build(),
            row_group_rows: GROUP_ROWS,
            row_group_bytes: GROUP_BYTES,
            is_copied: Vec::new(),
        };
        let creation = Creation::IfAbsent { most_held };
        let file = FileWriter::begin(location, &relative, (schema, &leaves), form, creation);
        Ok(Self {
            file: file.map_err(without_effect)?,
            relative,
            rows: 0,
        })
    }

    /// Starts to write rows, once those of the last call are written.
    pub(super) async fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        self.rows += u64::try_from(rows.num_rows()).unwrap_or(0);
        let rows = rows.clone();
        let written = self.file.write(0, async move { Ok(rows) }).await;
        written.map_err(without_effect)
    }

    /// Number of rows so far.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Ends the row group, so that the next rows start a new one.
    pub(super) async fn end_group(&mut self) -> Result<()> {
        self.file.end_row_group(Vec::new()).await.map_err(without_effect)
    }

    /// Completes the file; it is durable when this returns.
    pub(super) async fn finish(self) -> Result<Finished> {
        let (bytes, landed) = self.file.finish().await.map_err(without_effect)?;
        Ok(Finished {
            relative: self.relative,
            bytes,
            rows: self.rows,
            landed,
        })
    }

    /// Aborts the upload of the file.
    pub(super) async fn abort(self) {
        self.file.abort().await;
    }
}

/// Adds what a failure means for the table.
fn without_effect(error: Error) -> Error {
    error.or_hint("the table is unchanged: readers use the commits")
}

/// The error of columns that Parquet does not have.
fn unwritable(error: &ParquetError, relative: &str) -> Error {
    let what = format!("the checkpoint cannot be written: {error}");
    Error::new(ErrorKind::StorageError, what).with("path", relative)
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
