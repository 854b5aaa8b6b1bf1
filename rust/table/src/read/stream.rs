//! Batches as they come: files read side by side, in order, with a bounded number of batches in flight.

use std::num::NonZero;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use arrow_array::RecordBatch;
use deltaic_log::fault::{caught, caught_over_bytes};
use deltaic_log::location::without_secrets;
use deltaic_protocol::{Error, ErrorKind, Result};
use futures::stream::BoxStream;
use futures::{FutureExt, Stream, StreamExt, TryStreamExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::deletion_vectors::{VectorOf, read_vectors, vectors_of};
use super::open::open;
use super::rows::Rows;
use crate::scan::{Scan, ScanTask};

/// Record batches as they come.
pub type BatchStream = BoxStream<'static, Result<RecordBatch>>;

/// Batches that may wait in each file's queue.
const QUEUE: usize = 2;

/// Reads a scan: all of its files, at most `limit` rows. Must be called inside a runtime.
pub async fn stream_scan(scan: &Scan) -> Result<BatchStream> {
    let files = stream_tasks(scan.tasks().await?);
    Ok(match scan.limit() {
        None => files,
        Some(limit) => limited(files, limit),
    })
}

/// Reads tasks side by side; their rows come in the tasks' order. Must be called inside a runtime.
pub fn stream_tasks(tasks: Vec<ScanTask>) -> BatchStream {
    let at_once = std::thread::available_parallelism().map_or(1, NonZero::get);
    with_rows(tasks)
        .map_ok(spawn)
        .map(|batches| async move {
            batches.unwrap_or_else(|error| futures::stream::once(async move { Err(error) }).boxed())
        })
        .buffered(at_once)
        .flatten()
        .boxed()
}

/// How many files' deletion vectors are read together, and held until the files are read.
const VECTORS_TOGETHER: usize = 1024;

/// The tasks with the rows that are left of their files.
fn with_rows(tasks: Vec<ScanTask>) -> impl Stream<Item = Result<ScanTask>> {
    let mut left = tasks.into_iter();
    let chunks = std::iter::from_fn(move || {
        let chunk: Vec<ScanTask> = left.by_ref().take(VECTORS_TOGETHER).collect();
        (!chunk.is_empty()).then_some(chunk)
    });
    futures::stream::iter(chunks)
        .then(|mut chunk| async move {
            let wanted: Vec<VectorOf> = chunk.iter().flat_map(vectors_of).collect();
            if let Some(first) = chunk.first().filter(|_| !wanted.is_empty()) {
                let context = Arc::clone(&first.context);
                let vectors = read_vectors(&context.location, wanted)
                    .await
                    .map_err(|error| error.with("version", context.version))?;
                let mut vectors = vectors.into_iter();
                for task in &mut chunk {
                    task.rows = Rows::of(&task.selection, &mut vectors);
                }
            }
            Ok::<_, Error>(futures::stream::iter(chunk.into_iter().map(Ok)))
        })
        .try_flatten()
}

/// Reads one task.
pub fn stream_task(task: ScanTask) -> BatchStream {
    let (path, version) = (without_secrets(task.path()), task.context.version);
    let batches = AssertUnwindSafe(open(task).into_stream().try_flatten()).catch_unwind();
    // The Parquet reader can panic on bytes that were made for it; here that is damage like any other.
    batches
        .map(move |batch| {
            batch.unwrap_or_else(|_| {
                Err(caught_over_bytes(
                    Error::new(
                        ErrorKind::CorruptData,
                        "the data file cannot be read: its bytes make no sense",
                    )
                    .with("path", path.as_str())
                    .with("version", version)
                    .hint("the file is truncated or damaged: restore it from a backup"),
                ))
            })
        })
        .boxed()
}

fn spawn(task: ScanTask) -> BatchStream {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let worker = Worker(tokio::spawn(async move {
        let mut batches = stream_task(task);
        while let Some(batch) = batches.next().await {
            let failed = batch.is_err();
            if sender.send(batch).await.is_err() || failed {
                return;
            }
        }
    }));
    futures::stream::unfold((receiver, Some(worker)), |(mut receiver, worker)| async move {
        if let Some(batch) = receiver.recv().await {
            return Some((batch, (receiver, worker)));
        }
        // The queue closed: a worker that broke must not look like the end of its file.
        match (&mut worker?.0).await {
            Ok(()) => None,
            Err(_) => Some((Err(caught()), (receiver, None))),
        }
    })
    .boxed()
}

/// A file's reader. Whoever lets go of the batches ends it, also where it waits for a store that does not answer.
struct Worker(JoinHandle<()>);

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn limited(batches: BatchStream, limit: usize) -> BatchStream {
    futures::stream::try_unfold((batches, limit), |(mut batches, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        Ok(batches.try_next().await?.map(|batch| {
            let rows = batch.num_rows().min(left);
            (batch.slice(0, rows), (batches, left - rows))
        }))
    })
    .boxed()
}
