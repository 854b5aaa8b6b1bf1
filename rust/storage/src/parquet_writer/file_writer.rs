//! Writes one Parquet file.

use std::future::Future;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use deltaic_protocol::{Error, Result};
use parquet::schema::types::SchemaDescriptor;
use tracing::Instrument;

use super::encoded_chunk::EncodedChunk;
use super::encoder::Encoder;
use super::file_form::FileForm;
use super::sending::Sending;
use super::upload::{Creation, Landed, Upload};
use crate::{Running, TableLocation, start};

/// A Parquet file that is being written. Rows are encoded on other threads, while the caller prepares the next ones.
pub struct FileWriter {
    relative: Arc<str>,
    /// `None` while rows are encoded.
    parts: Option<Box<Parts>>,
    busy: Option<Running<(Box<Parts>, Result<()>)>>,
    /// The memory of the rows that are being encoded and of those in the row group before.
    busy_memory: usize,
    /// After a failure the file may lack rows: it can only be abandoned.
    has_failed: bool,
}

/// What writing rows to a file changes.
struct Parts {
    encoder: Encoder,
    sending: Sending,
}

impl FileWriter {
    /// Starts a file below the root of a table, of columns that have the given types in Parquet.
    ///
    /// # Errors
    ///
    /// `StorageError` if the columns cannot be written; those of [`TableLocation::below`].
    pub fn begin(
        location: &TableLocation,
        relative: &str,
        (schema, parquet): (&SchemaRef, &SchemaDescriptor),
        form: FileForm,
        creation: Creation,
    ) -> Result<Self> {
        let upload = Upload::new(location, relative, creation)?;
        let relative: Arc<str> = relative.into();
        let encoder = Encoder::try_new(schema, parquet, form);
        let encoder = encoder.map_err(|error| located(error, &relative))?;
        Ok(Self {
            relative,
            parts: Some(Box::new(Parts {
                encoder,
                sending: Sending::new(upload),
            })),
            busy: None,
            busy_memory: 0,
            has_failed: false,
        })
    }

    /// Starts to write rows of about this size, once those of the last call are written. Returns errors of those.
    ///
    /// # Errors
    ///
    /// Those of earlier rows; `StorageError` if rows cannot be encoded, or the store fails.
    pub async fn write<R>(&mut self, bytes: usize, rows: R) -> Result<()>
    where
        R: Future<Output = Result<RecordBatch>> + Send + 'static,
    {
        self.settle().await?;
        let mut parts = self.parts.take().ok_or_else(broken)?;
        self.busy_memory = parts.memory() + bytes;
        let relative = Arc::clone(&self.relative);
        let work = async move {
            let written = match rows.await {
                Ok(rows) => parts.write(&rows).await,
                Err(error) => Err(error),
            };
            Ok((parts, written.map_err(|error| located(error, &relative))))
        };
        self.busy = Some(start(work.in_current_span()));
        Ok(())
    }

    /// Waits until all rows are written.
    ///
    /// # Errors
    ///
    /// Those of the rows.
    pub async fn settle(&mut self) -> Result<()> {
        if let Some(busy) = &mut self.busy {
            let done = busy.await;
            self.busy = None;
            let written = done.and_then(|(parts, written)| {
                self.parts = Some(parts);
                written
            });
            self.has_failed = written.is_err();
            return written;
        }
        match self.has_failed {
            true => Err(broken()),
            false => Ok(()),
        }
    }

    /// The approximate number of bytes so far, without rows that are being encoded.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let encoder = self.parts.as_ref().map(|parts| &parts.encoder);
        encoder.map_or(0, |encoder| encoder.written() + encoder.in_progress())
    }

    /// The memory of the row group in progress and of rows that are being encoded.
    #[must_use]
    pub fn memory(&self) -> usize {
        let parts = self.parts.as_ref();
        parts.map_or(self.busy_memory, |parts| parts.memory())
    }

    /// Finishes the row group in progress, which frees its memory, with the chunks of the leaves of columns that are
    /// copied.
    ///
    /// # Errors
    ///
    /// Those of [`Self::write`].
    pub async fn end_row_group(&mut self, copied: Vec<EncodedChunk>) -> Result<()> {
        self.settle().await?;
        let parts = self.parts.as_mut().ok_or_else(broken)?;
        let ended = Box::pin(parts.end_row_group(copied)).await;
        self.has_failed = ended.is_err();
        ended.map_err(|error| located(error, &self.relative))
    }

    /// Finishes the file; it is durable when this returns. Returns its size in bytes, and whose file exists now. After a
    /// failure there is none.
    ///
    /// # Errors
    ///
    /// Those of [`Self::write`].
    pub async fn finish(mut self) -> Result<(u64, Landed)> {
        if let Err(error) = self.encode_rest().await {
            self.abort().await;
            return Err(error);
        }
        let mut parts = self.parts.take().ok_or_else(broken)?;
        let landed = match parts.sending.complete().await {
            Ok(landed) => landed,
            Err(error) => {
                parts.sending.abort().await;
                return Err(error);
            }
        };
        let bytes = u64::try_from(parts.encoder.written()).unwrap_or(u64::MAX);
        Ok((bytes, landed))
    }

    async fn encode_rest(&mut self) -> Result<()> {
        self.settle().await?;
        let parts = self.parts.as_mut().ok_or_else(broken)?;
        let rest = Box::pin(parts.finish()).await;
        rest.map_err(|error| located(error, &self.relative))
    }

    /// Abandons the file and its uploaded parts.
    pub async fn abort(mut self) {
        let _ = self.settle().await;
        if let Some(mut parts) = self.parts {
            parts.sending.abort().await;
        }
    }
}

impl Parts {
    async fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        self.encoder.write(rows).await?;
        self.send().await
    }

    /// Sends the finished bytes to the store.
    async fn send(&mut self) -> Result<()> {
        let bytes = self.encoder.take_bytes()?;
        self.sending.send(bytes).await
    }

    async fn end_row_group(&mut self, copied: Vec<EncodedChunk>) -> Result<()> {
        self.encoder.end_row_group(copied).await?;
        let bytes = self.encoder.take_bytes()?;
        match bytes.is_empty() {
            // The row group ended before: its memory is freed when its bytes are sent.
            true => self.sending.settle().await,
            false => self.sending.send(bytes).await,
        }
    }

    /// Encodes what is left, with the footer.
    async fn finish(&mut self) -> Result<()> {
        self.encoder.finish().await?;
        self.send().await
    }

    /// The memory of the row group in progress and of those that are being sent.
    fn memory(&self) -> usize {
        self.encoder.memory() + self.sending.in_flight()
    }
}

/// The error of a file that lost its rows to an earlier failure.
fn broken() -> Error {
    Error::internal("rows are written to a file that failed")
}

/// Adds the path of the file, unless the error has one.
fn located(error: Error, relative: &str) -> Error {
    error.with("path", relative)
}
