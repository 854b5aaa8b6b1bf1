//! Sends the finished bytes of a data file to the store, while the next rows are encoded.

use bytes::Bytes;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::{Running, start, store_error};
use object_store::buffered::BufWriter;
use parquet::arrow::async_writer::AsyncFileWriter;
use parquet::errors::ParquetError;

/// The file in the store.
pub(super) struct Upload {
    relative: String,
    /// `None` while bytes are sent, and after a failure.
    sink: Option<BufWriter>,
    sending: Option<Running<(BufWriter, Result<()>)>>,
    /// The number of bytes that are being sent.
    in_flight: usize,
}

impl Upload {
    pub(super) fn new(relative: &str, sink: BufWriter) -> Self {
        Self {
            relative: relative.to_owned(),
            sink: Some(sink),
            sending: None,
            in_flight: 0,
        }
    }

    /// The number of bytes that are being sent.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Starts to send bytes, once those of the last call are sent. Returns errors of those.
    pub(super) async fn send(&mut self, pieces: Vec<Bytes>) -> Result<()> {
        if pieces.is_empty() {
            return Ok(());
        }
        self.settle().await?;
        let mut sink = self.sink.take().ok_or_else(|| self.broken())?;
        self.in_flight = pieces.iter().map(Bytes::len).sum();
        let relative = self.relative.clone();
        self.sending = Some(start(async move {
            let mut sent = Ok(());
            for piece in pieces {
                if sent.is_ok() {
                    sent = AsyncFileWriter::write(&mut sink, piece).await;
                }
            }
            Ok((sink, sent.map_err(|error| failed(&error, &relative))))
        }));
        Ok(())
    }

    /// Waits until all bytes are sent.
    async fn settle(&mut self) -> Result<()> {
        let Some(sending) = &mut self.sending else {
            return Ok(());
        };
        let done = sending.await;
        self.sending = None;
        self.in_flight = 0;
        let (sink, sent) = done?;
        self.sink = Some(sink);
        sent
    }

    /// Creates the file: it is durable when this returns.
    pub(super) async fn complete(&mut self) -> Result<()> {
        self.settle().await?;
        let sink = self.sink.as_mut();
        let Some(sink) = sink else {
            return Err(self.broken());
        };
        let complete = AsyncFileWriter::complete(sink).await;
        complete.map_err(|error| failed(&error, &self.relative))
    }

    /// Abandons the file and its uploaded parts.
    pub(super) async fn abort(&mut self) {
        let _ = self.settle().await;
        if let Some(sink) = &mut self.sink {
            let _ = sink.abort().await;
        }
    }

    fn broken(&self) -> Error {
        Error::internal("bytes are written to a file that failed").with("path", self.relative.as_str())
    }
}

/// Returns the error of a data file that cannot be written.
pub(super) fn failed(error: &ParquetError, relative: &str) -> Error {
    if let ParquetError::External(cause) = error {
        if let Some(store) = cause.downcast_ref::<object_store::Error>() {
            return store_error(store, relative);
        }
        if let Some(error) = cause.downcast_ref::<Error>() {
            return error.clone();
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
