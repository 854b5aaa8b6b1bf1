//! Writes one Parquet file.

use std::sync::Arc;

use arrow_array::RecordBatch;
use deltaic_protocol::actions::Add;
use deltaic_protocol::partition::folder;
use deltaic_protocol::path_encoding::encode_path;
use deltaic_protocol::properties::Codec;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_storage::clock::{new_id, now_ms};
use deltaic_storage::parquet_writer::{Creation, EncodedChunk, FileForm, FileWriter};
use deltaic_storage::{Running, start};
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterVersion};

use super::encode::dictionaries::columns_without_dictionary;
use super::encode::shredding::Shredding;
use super::encode::statistics::FileStatistics;
use super::encode::variant_annotation::parquet_schema;
use super::partition::PartitionKey;
use super::plan::WritePlan;
use super::sizes::bytes_of;

/// The maximum number of rows of a row group.
const ROW_GROUP_ROWS: usize = 1 << 20;

/// The encoded size at which a row group ends, which bounds the memory of a file.
const ROW_GROUP_BYTES: usize = 128 << 20;

/// A data file that is being written. Rows are encoded on other threads, while the caller prepares the next ones.
pub(super) struct DataFile {
    relative: String,
    values: PartitionKey,
    /// The number of the piece that had the last rows of the file.
    pub(super) last_piece: usize,
    /// The number of rows, those that are being encoded included.
    pub(super) rows: usize,
    file: FileWriter,
    shredding: Option<Arc<Shredding>>,
    /// `None` while they are collected.
    statistics: Option<Box<FileStatistics>>,
    collecting: Option<Running<Box<FileStatistics>>>,
}

impl DataFile {
    /// Starts a file in its partition's folder, or under a random prefix if the table requests that. Its name is
    /// unique, so writers never collide. The chunks of some columns may be copied.
    pub(super) fn begin(
        location: &TableLocation,
        plan: &WritePlan,
        values: PartitionKey,
        first: &RecordBatch,
        (number, is_copied): (usize, Vec<bool>),
    ) -> Result<Self> {
        let (form, contents) = (&plan.form, &plan.contents);
        let (compression, message) = packed(form.codec);
        let kind = contents.file_kind();
        let name = format!("{kind}-{number:05}-{}.c000{message}.parquet", new_id());
        let partition = match form.random_prefix {
            Some(length) => random_folder(length),
            None => folder(
                values
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_deref())),
            ),
        };
        let folder = contents.folder(&partition);
        let relative = if folder.is_empty() {
            name
        } else {
            format!("{folder}/{name}")
        };
        let shredding = plan.shredding(first)?;
        let schema = shredding.as_ref().map_or(&plan.file_schema, Shredding::schema);
        let mut properties = WriterProperties::builder()
            .set_compression(compression)
            .set_writer_version(match form.second_version {
                true => WriterVersion::PARQUET_2_0,
                false => WriterVersion::PARQUET_1_0,
            })
            .set_created_by(concat!("deltaic ", env!("CARGO_PKG_VERSION")).to_owned());
        for column in columns_without_dictionary(schema, first) {
            properties = properties.set_column_dictionary_enabled(column, false);
        }
        // Other readers must derive the types from Parquet, so the file has no embedded Arrow schema.
        let parquet = parquet_schema(schema).map_err(|error| unwritable(&error, &relative))?;
        let (row_group_rows, row_group_bytes) = match is_copied.is_empty() {
            true => (ROW_GROUP_ROWS, ROW_GROUP_BYTES),
            false => (usize::MAX, usize::MAX),
        };
        let form = FileForm {
            properties: properties.build(),
            row_group_rows,
            row_group_bytes,
            is_copied,
        };
        let columns = (schema, &parquet);
        Ok(Self {
            file: FileWriter::begin(location, &relative, columns, form, Creation::UniqueName)?,
            relative,
            values,
            last_piece: 0,
            rows: 0,
            shredding: shredding.map(Arc::new),
            statistics: Some(Box::new(plan.statistics())),
            collecting: None,
        })
    }

    /// Starts to write rows, and collects their statistics at the same time, once those of the last call are written.
    /// Returns errors of those.
    pub(super) async fn write(&mut self, batch: RecordBatch) -> Result<()> {
        let mut statistics = self.collected().await?;
        let (rows, bytes) = (batch.clone(), bytes_of(&batch));
        let shredding = self.shredding.clone();
        let shredded = async move {
            match shredding {
                Some(shredding) => shredding.apply(&batch),
                None => Ok(batch),
            }
        };
        self.file.write(bytes, shredded).await?;
        self.collecting = Some(start(async move {
            statistics.update(&rows);
            Ok(statistics)
        }));
        Ok(())
    }

    /// Returns the statistics of all rows.
    async fn collected(&mut self) -> Result<Box<FileStatistics>> {
        match self.collecting.take() {
            Some(collecting) => collecting.await,
            None => self.statistics.take().ok_or_else(broken),
        }
    }

    /// Waits until all rows are written.
    pub(super) async fn settle(&mut self) -> Result<()> {
        self.file.settle().await
    }

    /// The approximate number of bytes so far, without rows that are being encoded.
    pub(super) fn bytes(&self) -> usize {
        self.file.bytes()
    }

    /// The memory of the row group in progress and of rows that are being encoded.
    pub(super) fn memory(&self) -> usize {
        self.file.memory()
    }

    /// Finishes the row group in progress, which frees its memory, with chunks that are copied.
    pub(super) async fn end_row_group(&mut self, copied: Vec<EncodedChunk>) -> Result<()> {
        self.file.end_row_group(copied).await
    }

    /// The partition of the file.
    pub(super) fn values(&self) -> &PartitionKey {
        &self.values
    }

    pub(super) fn relative(&self) -> &str {
        &self.relative
    }

    /// Abandons the file and its uploaded parts.
    pub(super) async fn abort(self) {
        self.file.abort().await;
    }

    /// Finishes the file; it is durable when this returns.
    pub(super) async fn finish(mut self) -> Result<(Add, u64)> {
        let statistics = match self.collected().await {
            Ok(statistics) => statistics,
            Err(error) => {
                self.abort().await;
                return Err(error);
            }
        };
        let (bytes, _) = self.file.finish().await?;
        let rows = statistics.num_records();
        let size = i64::try_from(bytes)
            .map_err(|_| Error::new(ErrorKind::StorageError, "a data file is too large"))?;
        let add = Add {
            path: encode_path(&self.relative),
            partition_values: self.values.into_iter().collect(),
            size,
            modification_time: now_ms(),
            data_change: true,
            stats: Some(statistics.to_json()),
            ..Add::default()
        };
        Ok((add, rows))
    }
}

/// The error of a file that lost its statistics to an earlier failure.
fn broken() -> Error {
    Error::internal("rows are written to a file that failed")
}

/// The error of columns that Parquet does not have.
fn unwritable(error: &ParquetError, relative: &str) -> Error {
    let what = format!("a data file cannot be written: {error}");
    Error::new(ErrorKind::StorageError, what).with("path", relative)
}

/// Returns a codec for the writer, and its suffix for file names.
fn packed(codec: Codec) -> (Compression, &'static str) {
    match codec {
        Codec::Uncompressed => (Compression::UNCOMPRESSED, ""),
        Codec::Snappy => (Compression::SNAPPY, ".snappy"),
        Codec::Gzip => (Compression::GZIP(GzipLevel::default()), ".gz"),
        Codec::Brotli => (Compression::BROTLI(BrotliLevel::default()), ".br"),
        Codec::Lz4 => (Compression::LZ4, ".lz4hadoop"),
        Codec::Lz4Raw => (Compression::LZ4_RAW, ".lz4raw"),
        Codec::Zstd => (Compression::ZSTD(ZstdLevel::default()), ".zstd"),
    }
}

/// Returns a random folder name of this length, which distributes requests over the store.
fn random_folder(length: usize) -> String {
    // Lowercase only: some file systems ignore case.
    const SIGNS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut name = String::new();
    while name.len() < length {
        // The last 15 hex digits of a random id are all random.
        let id = new_id().replace('-', "");
        let digits = id.get(17..).unwrap_or_default();
        let mut chance = u64::from_str_radix(digits, 16).unwrap_or_default();
        for _ in 0..12.min(length - name.len()) {
            let sign = SIGNS.get(usize::try_from(chance % 32).unwrap_or_default());
            name.extend(sign.map(|sign| char::from(*sign)));
            chance /= 32;
        }
    }
    name
}
