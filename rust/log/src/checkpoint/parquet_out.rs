//! A Parquet file of actions, written one row group at a time.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use deltaic_protocol::{Error, ErrorKind, Result};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::async_writer::AsyncArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::upload::{Landed, Upload};
use deltaic_storage::location::TableLocation;
use deltaic_storage::store_error;

/// Rows per row group: the batch size of a reader, so that readers decode row groups in parallel.
const GROUP_ROWS: usize = 1 << 16;

/// Maximum size of a row group in bytes, which is buffered in memory.
const GROUP_BYTES: usize = 32 << 20;

/// A Parquet file that is being written.
pub(super) struct ParquetOut {
    relative: String,
    writer: AsyncArrowWriter<Upload>,
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
        let properties = WriterProperties::builder()
            // Every reader supports Snappy, and it is fast.
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            // Statistics of a row group show whether it contains a kind of action; readers do not use page
            // statistics.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_created_by(concat!("deltaic ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        // Readers must derive the types from Parquet, not from an embedded Arrow schema.
        let options = ArrowWriterOptions::new()
            .with_properties(properties)
            .with_skip_arrow_metadata(true);
        let is_local = location.file_system().is_some();
        let upload = Upload::new(Arc::clone(location.store()), path, is_local, most_held);
        let writer = AsyncArrowWriter::try_new_with_options(upload, Arc::clone(schema), options)
            .map_err(|error| failed(&error, &relative))?;
        Ok(Self {
            relative,
            writer,
            rows: 0,
        })
    }

    /// Writes rows.
    pub(super) async fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        self.rows += u64::try_from(rows.num_rows()).unwrap_or(0);
        let written = self.writer.write(rows).await;
        written.map_err(|error| failed(&error, &self.relative))?;
        if self.writer.in_progress_size() > GROUP_BYTES {
            self.end_group().await?;
        }
        Ok(())
    }

    /// Number of rows so far.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Ends the row group, so that the next rows start a new one.
    pub(super) async fn end_group(&mut self) -> Result<()> {
        if self.writer.in_progress_rows() == 0 {
            return Ok(());
        }
        let ended = self.writer.flush().await;
        ended.map_err(|error| failed(&error, &self.relative))
    }

    /// Completes the file; it is durable when this returns.
    pub(super) async fn finish(mut self) -> Result<Finished> {
        let finished = self.writer.finish().await;
        finished.map_err(|error| failed(&error, &self.relative))?;
        let bytes = u64::try_from(self.writer.bytes_written()).unwrap_or(u64::MAX);
        let landed = self.writer.into_inner().landed().unwrap_or(Landed::Another);
        Ok(Finished {
            relative: self.relative,
            bytes,
            rows: self.rows,
            landed,
        })
    }

    /// Aborts the upload of the file.
    pub(super) async fn abort(self) {
        self.writer.into_inner().abort().await;
    }
}

/// Converts an error of the Parquet writer; a failure of the store is reported as such.
fn failed(error: &ParquetError, relative: &str) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(current) = cause {
        if let Some(store) = current.downcast_ref::<object_store::Error>() {
            return store_error(store, relative);
        }
        cause = current.source();
    }
    Error::new(
        ErrorKind::StorageError,
        format!("the checkpoint cannot be written: {error}"),
    )
    .with("path", relative)
    .hint("the table is unchanged: readers use the commits")
}
