//! Reads local files in large pieces, into memory of the thread that uses it.
//!
//! The allocator keeps a large block that a blocking thread allocated, after it was freed, until the same thread
//! allocates again: with dozens of blocking threads that is most of a process's memory.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::{Error, GetResult, GetResultPayload};

/// Size of a piece of a streamed file in bytes.
const PIECE_BYTES: usize = 1 << 20;

/// Returns the requested bytes.
///
/// # Errors
///
/// Errors of the store.
pub(crate) async fn bytes_of(got: GetResult) -> Result<Bytes, Error> {
    match got.payload {
        GetResultPayload::File(file, _) => read(Arc::new(file), got.range).await,
        GetResultPayload::Stream(_) => got.bytes().await,
    }
}

/// Returns the requested bytes piece by piece.
///
/// # Errors
///
/// Errors of the store.
pub fn pieces_of(got: GetResult) -> BoxStream<'static, Result<Bytes, Error>> {
    let GetResultPayload::File(file, _) = got.payload else {
        return got.into_stream();
    };
    let (file, Range { start, end }) = (Arc::new(file), got.range);
    let starts = futures::stream::iter((start..end).step_by(PIECE_BYTES));
    let pieces = starts.then(move |start| {
        let length = u64::try_from(PIECE_BYTES).unwrap_or(u64::MAX);
        read(Arc::clone(&file), start..end.min(start.saturating_add(length)))
    });
    // A file that became shorter ends early, which its reader detects.
    pieces
        .try_filter(|piece| std::future::ready(!piece.is_empty()))
        .boxed()
}

async fn read(file: Arc<File>, range: Range<u64>) -> Result<Bytes, Error> {
    let failed = |source: std::io::Error| Error::Generic {
        store: "LocalFileSystem",
        source: source.into(),
    };
    let length = range.end.saturating_sub(range.start);
    let mut bytes = Vec::new();
    let reserved = bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX));
    reserved.map_err(|error| failed(error.into()))?;
    let reading = tokio::task::spawn_blocking(move || {
        let mut file = file.as_ref();
        file.seek(SeekFrom::Start(range.start))?;
        file.take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    let read: std::io::Result<Vec<u8>> = reading.await.map_err(|error| failed(error.into()))?;
    read.map(Bytes::from).map_err(failed)
}
