//! The end of a Parquet file: takes row groups that are encoded, and uploads their bytes.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_schema::SchemaRef;
use bytes::Bytes;
use deltaic_protocol::Result;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowRowGroupWriterFactory, ArrowWriterOptions};
use parquet::file::writer::SerializedFileWriter;

use super::row_group::{RowGroup, failed};
use super::upload::{Landed, Upload};
use deltaic_storage::store_error;

/// Size of the pieces in which bytes are passed to the upload, which collects them to parts. Small blocks are
/// allocated again soon.
const PIECE_BYTES: usize = 512 << 10;

/// A file whose row groups are encoded elsewhere.
pub(super) struct FileOut {
    relative: Arc<str>,
    file: SerializedFileWriter<Sink>,
    sink: Sink,
    upload: Upload,
}

impl FileOut {
    /// Creates a file, and a factory of encoders for its row groups.
    pub(super) fn begin(
        relative: &Arc<str>,
        schema: &SchemaRef,
        options: ArrowWriterOptions,
        upload: Upload,
    ) -> Result<(Self, ArrowRowGroupWriterFactory)> {
        let sink = Sink::default();
        let (file, groups) = ArrowWriter::try_new_with_options(sink.clone(), Arc::clone(schema), options)
            .and_then(ArrowWriter::into_serialized_writer)
            .map_err(|error| failed(&error, relative))?;
        let out = Self {
            relative: Arc::clone(relative),
            file,
            sink,
            upload,
        };
        Ok((out, groups))
    }

    /// Writes a row group.
    pub(super) async fn append(&mut self, group: RowGroup) -> Result<()> {
        let failed = |error| failed(&error, &self.relative);
        let columns = group.finish().await?;
        let mut group = self.file.next_row_group().map_err(failed)?;
        for column in columns {
            column.append_to_row_group(&mut group).map_err(failed)?;
            let pieces = std::mem::take(&mut self.sink.pieces().complete);
            for piece in pieces {
                let sent = self.upload.write(Bytes::from(piece)).await;
                sent.map_err(|error| store_error(&error, &self.relative))?;
            }
        }
        group.close().map_err(failed)?;
        Ok(())
    }

    /// Completes the file, which is durable when this returns; returns its size in bytes.
    pub(super) async fn finish(&mut self) -> Result<(u64, Landed)> {
        self.file
            .finish()
            .map_err(|error| failed(&error, &self.relative))?;
        let failed = |error| store_error(&error, &self.relative);
        let Pieces { complete, last } = std::mem::take(&mut *self.sink.pieces());
        for piece in complete.into_iter().chain([last]) {
            self.upload.write(Bytes::from(piece)).await.map_err(failed)?;
        }
        let bytes = u64::try_from(self.file.bytes_written()).unwrap_or(u64::MAX);
        Ok((bytes, self.upload.complete().await.map_err(failed)?))
    }

    /// Aborts the upload of the file.
    pub(super) async fn abort(self) {
        self.upload.abort().await;
    }
}

/// The bytes of a file that were written and not sent yet, in pieces of one size.
#[derive(Clone, Debug, Default)]
struct Sink(Arc<Mutex<Pieces>>);

#[derive(Debug, Default)]
struct Pieces {
    complete: Vec<Vec<u8>>,
    last: Vec<u8>,
}

impl Sink {
    fn pieces(&self) -> MutexGuard<'_, Pieces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut pieces = self.pieces();
        let taken = bytes.len().min(PIECE_BYTES - pieces.last.len());
        pieces
            .last
            .extend_from_slice(bytes.get(..taken).unwrap_or_default());
        if pieces.last.len() == PIECE_BYTES {
            let next = Vec::with_capacity(PIECE_BYTES);
            let full = std::mem::replace(&mut pieces.last, next);
            pieces.complete.push(full);
        }
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
