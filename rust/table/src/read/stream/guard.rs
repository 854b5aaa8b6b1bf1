//! Treats bytes that make the Parquet reader panic as a damaged file.

use std::panic::AssertUnwindSafe;

use deltaic_protocol::{Error, ErrorKind, Version};
use deltaic_storage::fault::caught_over_bytes;
use deltaic_storage::location::without_secrets;
use futures::StreamExt;

use super::batches::BatchStream;
use crate::scan::ScanTask;

/// Names the file that is being read.
#[derive(Clone)]
pub(crate) struct Guard {
    path: String,
    version: Version,
}

impl Guard {
    pub(crate) fn of(task: &ScanTask) -> Self {
        Self {
            path: without_secrets(task.path()),
            version: task.context.version,
        }
    }

    pub(crate) fn fault(&self) -> Error {
        caught_over_bytes(
            Error::new(
                ErrorKind::CorruptData,
                "the data file cannot be read: its bytes are invalid",
            )
            .with("path", self.path.as_str())
            .with("version", self.version)
            .hint("the file is truncated or damaged: restore it from a backup"),
        )
    }

    pub(crate) fn batches(self, batches: BatchStream) -> BatchStream {
        AssertUnwindSafe(batches)
            .catch_unwind()
            .map(move |batch| batch.unwrap_or_else(|_| Err(self.fault())))
            .boxed()
    }
}
