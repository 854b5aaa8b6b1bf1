//! Sends the finished bytes of a file, while the next rows are encoded.

use bytes::Bytes;
use deltaic_protocol::{Error, Result};

use super::upload::{Landed, Upload};
use crate::{Running, start};

/// An upload that runs beside the caller.
pub(super) struct Sending {
    /// `None` while bytes are sent, and after a failure.
    upload: Option<Upload>,
    running: Option<Running<(Upload, Result<()>)>>,
    /// The number of bytes that are being sent.
    in_flight: usize,
}

impl Sending {
    pub(super) fn new(upload: Upload) -> Self {
        Self {
            upload: Some(upload),
            running: None,
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
        let mut upload = self.upload.take().ok_or_else(broken)?;
        self.in_flight = pieces.iter().map(Bytes::len).sum();
        self.running = Some(start(async move {
            let mut sent = Ok(());
            for piece in pieces {
                if sent.is_ok() {
                    sent = upload.write(piece).await;
                }
            }
            Ok((upload, sent))
        }));
        Ok(())
    }

    /// Waits until all bytes are sent.
    pub(super) async fn settle(&mut self) -> Result<()> {
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        let done = running.await;
        self.running = None;
        self.in_flight = 0;
        let (upload, sent) = done?;
        self.upload = Some(upload);
        sent
    }

    /// Creates the file: it is durable when this returns.
    pub(super) async fn complete(&mut self) -> Result<Landed> {
        self.settle().await?;
        self.upload.as_mut().ok_or_else(broken)?.complete().await
    }

    /// Abandons the file and its uploaded parts.
    pub(super) async fn abort(&mut self) {
        let _ = self.settle().await;
        if let Some(upload) = self.upload.take() {
            upload.abort().await;
        }
    }
}

fn broken() -> Error {
    Error::internal("bytes are written to a file that failed")
}
