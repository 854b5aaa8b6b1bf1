//! Writes one Parquet file.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use deltaic_protocol::actions::Add;
use deltaic_protocol::partition::folder;
use deltaic_protocol::path_encoding::encode_path;
use deltaic_protocol::properties::{Codec, DataFileSettings};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_storage::clock::{new_id, now_ms};
use deltaic_storage::store_error;
use object_store::buffered::BufWriter;
use parquet::arrow::AsyncArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterVersion};

use super::file_contents::FileContents;
use super::partition::PartitionKey;
use super::statistics::FileStatistics;

/// A data file that is being written.
pub(super) struct DataFile {
    relative: String,
    values: PartitionKey,
    writer: AsyncArrowWriter<BufWriter>,
    statistics: FileStatistics,
}

impl DataFile {
    /// Starts a file in its partition's folder, or under a random prefix if the table requests that. Its name is
    /// unique, so writers never collide.
    pub(super) fn begin(
        location: &TableLocation,
        schema: &SchemaRef,
        values: PartitionKey,
        statistics: FileStatistics,
        (form, contents): (&DataFileSettings, &FileContents),
        number: usize,
    ) -> Result<Self> {
        let (compression, message) = packed(form.codec);
        let kind = contents.file_kind();
        let name = format!("{kind}-{number:05}-{}.c000{message}.parquet", new_id());
        let partition = match form.random_prefix {
            Some(length) => by_chance(length),
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
        let path = location.below(&relative)?;
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_writer_version(match form.second_version {
                true => WriterVersion::PARQUET_2_0,
                false => WriterVersion::PARQUET_1_0,
            })
            .set_created_by(concat!("deltaic ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        // Other readers must derive the types from Parquet, not from an embedded Arrow schema.
        let options = ArrowWriterOptions::new()
            .with_properties(properties)
            .with_skip_arrow_metadata(true);
        let sink = BufWriter::new(Arc::clone(location.store()), path);
        let writer = AsyncArrowWriter::try_new_with_options(sink, Arc::clone(schema), options)
            .map_err(|error| failed(&error, &relative))?;
        Ok(Self {
            relative,
            values,
            writer,
            statistics,
        })
    }

    pub(super) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.statistics.update(batch);
        self.writer
            .write(batch)
            .await
            .map_err(|error| failed(&error, &self.relative))
    }

    /// The approximate number of bytes so far.
    pub(super) fn bytes(&self) -> usize {
        self.writer.bytes_written() + self.writer.in_progress_size()
    }

    pub(super) fn relative(&self) -> &str {
        &self.relative
    }

    /// Abandons the file and its uploaded parts.
    pub(super) async fn abort(self) {
        let _ = self.writer.into_inner().abort().await;
    }

    /// Finishes the file; it is durable when this returns.
    pub(super) async fn finish(mut self) -> Result<(Add, u64)> {
        self.writer
            .finish()
            .await
            .map_err(|error| failed(&error, &self.relative))?;
        let rows = self.statistics.num_records();
        let size = i64::try_from(self.writer.bytes_written())
            .map_err(|_| Error::new(ErrorKind::StorageError, "a data file is too large"))?;
        let add = Add {
            path: encode_path(&self.relative),
            partition_values: self.values.into_iter().collect(),
            size,
            modification_time: now_ms(),
            data_change: true,
            stats: Some(self.statistics.to_json()),
            ..Add::default()
        };
        Ok((add, rows))
    }
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
fn by_chance(length: usize) -> String {
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

fn failed(error: &ParquetError, relative: &str) -> Error {
    if let ParquetError::External(cause) = error {
        if let Some(store) = cause.downcast_ref::<object_store::Error>() {
            return store_error(store, relative);
        }
        if let Some(io) = cause.downcast_ref::<std::io::Error>() {
            return deltaic_storage::io_error(io, relative);
        }
    }
    Error::new(
        ErrorKind::StorageError,
        format!("a data file cannot be written: {error}"),
    )
    .with("path", relative)
}
