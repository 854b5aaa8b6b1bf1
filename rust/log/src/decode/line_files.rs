//! Shared code for reading files with one action per line, whole or in pieces.

use std::sync::Arc;

use deltaic_protocol::{Error, ErrorKind, Result};

use super::file_batch::{FileBatch, Span, StatisticsSource};
use super::lines::LineBatches;
use crate::listing::LogFile;
use deltaic_storage::store_error;

/// Creates the batches of a decoder with the spans of their rows.
pub(super) fn batches(
    made: LineBatches,
    adds: Vec<Span>,
    removes: Vec<Span>,
) -> Result<(Option<FileBatch>, Option<FileBatch>)> {
    let adds = match made.adds {
        Some((batch, places)) => {
            let source = StatisticsSource::Lines(Arc::new(places));
            Some(FileBatch::try_new(batch, adds, source)?)
        }
        None => None,
    };
    let removes = match made.removes {
        Some(batch) => Some(FileBatch::try_new(batch, removes, StatisticsSource::None)?),
        None => None,
    };
    Ok((adds, removes))
}

pub(super) fn unreadable(error: &object_store::Error, file: &LogFile) -> Error {
    match error {
        object_store::Error::NotFound { .. } => {
            Error::new(ErrorKind::CorruptLog, "the commit was listed but does not exist")
                .with("path", file.relative())
                .with("version", file.path.version)
                .hint("the log may have been cleaned up concurrently: reopen the table")
        }
        other => store_error(other, &file.relative()).with("version", file.path.version),
    }
}
