//! One Parquet file in the making.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use deltaic_log::TableLocation;
use deltaic_log::clock::{new_id, now_ms};
use deltaic_log::store_error::store_error;
use deltaic_protocol::actions::Add;
use deltaic_protocol::partition::{encode_path, folder};
use deltaic_protocol::{Error, ErrorKind, Result};
use object_store::buffered::BufWriter;
use parquet::arrow::AsyncArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::partition::PartitionValues;
use super::statistics::FileStatistics;

/// A data file that is being written.
pub(super) struct DataFile {
    relative: String,
    values: PartitionValues,
    writer: AsyncArrowWriter<BufWriter>,
    statistics: FileStatistics,
}

impl DataFile {
    /// Begins a file in its partition's folder; its name is unique, so no writer meets another's.
    pub(super) fn begin(
        location: &TableLocation,
        schema: &SchemaRef,
        values: PartitionValues,
        statistics: FileStatistics,
        number: usize,
    ) -> Result<Self> {
        let name = format!("part-{number:05}-{}.c000.zstd.parquet", new_id());
        let folder = folder(
            values
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_deref())),
        );
        let relative = if folder.is_empty() {
            name
        } else {
            format!("{folder}/{name}")
        };
        let path = location.below(&relative)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(
                ZstdLevel::try_new(1).map_err(|error| failed(&error, &relative))?,
            ))
            .set_created_by(concat!("deltaic ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        // Other readers are to take the types from Parquet, not from Arrow's own schema beside it.
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

    /// Bytes so far, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.writer.bytes_written() + self.writer.in_progress_size()
    }

    pub(super) fn relative(&self) -> &str {
        &self.relative
    }

    /// Gives the file up: what the store holds of it so far goes.
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

fn failed(error: &ParquetError, relative: &str) -> Error {
    if let ParquetError::External(cause) = error {
        if let Some(store) = cause.downcast_ref::<object_store::Error>() {
            return store_error(store, relative);
        }
        if let Some(io) = cause.downcast_ref::<std::io::Error>() {
            return deltaic_log::store_error::io_error(io, relative);
        }
    }
    Error::new(
        ErrorKind::StorageError,
        format!("a data file cannot be written: {error}"),
    )
    .with("path", relative)
}
