//! Streams batches: files are read concurrently, in order, with a bounded amount of data in memory.

use arrow_array::RecordBatch;
use std::num::NonZero;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use deltaic_protocol::{Error, Result};
use deltaic_storage::fault::caught;
use futures::stream::BoxStream;
use futures::{FutureExt, Stream, StreamExt, TryStreamExt};
use tokio::sync::{Semaphore, mpsc};
use tracing::field::Empty;
use tracing::{Span, info_span};

use super::across_files::AcrossFiles;
use super::amount::Amount;
use crate::read::deletion_vectors::read_vectors::{VectorOf, read_vectors, vectors_of};

use super::batches::BatchStream;
use super::guard::Guard;
use super::open::{SplitPolicy, open};
use super::queue::{Worker, spawn};
use super::read_unit::ReadUnit;
use crate::read::file::open_file::OpenFile;
use crate::scan::Rows;
use crate::scan::{Scan, ScanTask, Selection};

/// The maximum of decoded batches in all queues, in KiB: enough to keep all cores busy while rows are returned in
/// order. Each read unit has an equal share, which only a single batch may exceed.
const QUEUED_KIB: u32 = 64 * 1024;
/// The same for rows that are encoded, which takes longer than decoding them.
const QUEUED_TO_WRITE_KIB: u32 = 16 * 1024;
/// The same for a task that is read alone.
const QUEUED_OF_A_TASK_KIB: u32 = 8 * 1024;
/// The number of read units of remote files that are read concurrently: a core can wait for several.
const REMOTE_PIECES: usize = 16;
/// The maximum compressed size of concurrent read units, in KiB. Only a single one may exceed it.
const HELD_KIB: u32 = 128 * 1024;

/// Reads a scan: all of its files, at most `limit` rows. Must be called inside a runtime.
pub async fn stream_scan(scan: &Scan) -> Result<BatchStream> {
    let tasks = scan.tasks().await?;
    let span =
        info_span!(target: "deltaic::scan", "scan", files = tasks.len(), rows = Empty, batches = Empty);
    let batches = match scan.limit() {
        None => stream_tasks(tasks),
        Some(limit) => limited(stream_some(tasks, Some(limit), QUEUED_KIB), limit),
    };
    Ok(counted(batches, span))
}

/// A stream in a span that lasts until the stream is dropped, with its numbers of rows and batches.
fn counted(batches: BatchStream, span: Span) -> BatchStream {
    if span.is_disabled() {
        return batches;
    }
    let mut counts = [0usize; 2];
    let count = move |batch: &Result<RecordBatch>| {
        if let Ok(batch) = batch {
            let [rows, number] = &mut counts;
            *rows += batch.num_rows();
            *number += 1;
            span.record("rows", *rows);
            span.record("batches", *number);
        }
    };
    batches.inspect(count).boxed()
}

/// Reads tasks concurrently; rows are returned in the order of the tasks. Must be called inside a runtime.
pub fn stream_tasks(tasks: Vec<ScanTask>) -> BatchStream {
    stream_some(tasks, None, QUEUED_KIB)
}

/// Like [`stream_tasks`], for rows that are written to other files: fewer are in memory.
pub(crate) fn stream_to_write(tasks: Vec<ScanTask>) -> BatchStream {
    stream_some(tasks, None, QUEUED_TO_WRITE_KIB)
}

/// Like [`stream_tasks`], but uses at most `limit` rows of each task, and `queued` KiB for decoded batches.
fn stream_some(tasks: Vec<ScanTask>, limit: Option<usize>, queued: u32) -> BatchStream {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let (at_once, is_enough) = match tasks.first() {
        // Without a predicate the first files probably have enough rows.
        Some(task) if limit.is_some() && task.context.predicate.is_none() => (1, true),
        Some(task) if task.context.location.file_system().is_none() => (REMOTE_PIECES, false),
        _ => (cores, false),
    };
    let in_parts = !is_enough && tasks.len() < cores;
    let cut = SplitPolicy { limit, in_parts };
    let share = queued / u32::try_from(at_once).unwrap_or(u32::MAX).max(1);
    let shared = Arc::new(AcrossFiles::default());
    let read_units = with_rows(tasks)
        .map(move |task| {
            let shared = Arc::clone(&shared);
            async move { spawn_open(task?, cut, shared).await }
        })
        .buffered(at_once)
        .map_ok(|read_units| futures::stream::iter(read_units.into_iter().map(Ok)))
        .try_flatten()
        .boxed();
    // Lazy: reading starts with the first poll.
    futures::stream::once(async move { ahead(read_units, at_once, share) })
        .flatten()
        .flatten()
        .boxed()
}

/// Returns the batches of each read unit as its own stream. Starts up to `at_once` read units ahead of the consumer.
fn ahead(
    mut read_units: BoxStream<'static, Result<ReadUnit>>,
    at_once: usize,
    share: u32,
) -> BoxStream<'static, BatchStream> {
    // The consumer reads one while the others wait in the channel.
    let (sender, receiver) = mpsc::channel(at_once.saturating_sub(1).max(1));
    let room = Arc::new(Semaphore::new(usize::try_from(HELD_KIB).unwrap_or(usize::MAX)));
    let driver = Worker::new(tokio::spawn(async move {
        while let Some(read_unit) = read_units.next().await {
            let Ok(place) = sender.reserve().await else {
                return;
            };
            match read_unit {
                Ok(read_unit) => {
                    // Acquired in row order, so that the next rows never wait for later ones.
                    let wanted = u32::try_from(read_unit.bytes() >> 10).unwrap_or(u32::MAX);
                    let held = Arc::clone(&room)
                        .acquire_many_owned(wanted.clamp(1, HELD_KIB))
                        .await;
                    place.send(spawn(read_unit, held.ok(), share));
                }
                Err(error) => {
                    place.send(futures::stream::once(async move { Err(error) }).boxed());
                    return;
                }
            }
        }
    }));
    futures::stream::unfold((receiver, Some(driver)), |(mut receiver, driver)| async move {
        if let Some(batches) = receiver.recv().await {
            return Some((batches, (receiver, driver)));
        }
        // A driver that panicked must not look like the end of the files.
        match (&mut driver?.handle).await {
            Ok(()) => None,
            Err(_) => {
                let broken = futures::stream::once(async { Err(caught()) }).boxed();
                Some((broken, (receiver, None)))
            }
        }
    })
    .boxed()
}

/// The number of files whose deletion vectors are read at once, and held until the files are read.
const VECTORS_TOGETHER: usize = 1024;

/// Reads the deletion vectors of tasks.
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
                // Tasks of all rows may be given their rows: those remain.
                for task in chunk.iter_mut().filter(|task| task.selection != Selection::All) {
                    task.rows = Rows::of(&task.selection, &mut vectors)?;
                }
            }
            Ok::<_, Error>(futures::stream::iter(chunk.into_iter().map(Ok)))
        })
        .try_flatten()
}

/// Reads one task.
pub fn stream_task(task: ScanTask) -> BatchStream {
    let guard = Guard::of(&task);
    let batches = async move {
        let read_units = match open(task, SplitPolicy::WHOLE, &AcrossFiles::default()).await? {
            Some(file) => file.read_units(),
            None => Vec::new(),
        };
        Ok::<_, Error>(
            futures::stream::iter(
                read_units
                    .into_iter()
                    .map(|read_unit| spawn(read_unit, None, QUEUED_OF_A_TASK_KIB)),
            )
            .flatten()
            .boxed(),
        )
    };
    guard.batches(batches.into_stream().try_flatten().boxed())
}

/// Opens a file on a thread of the runtime, because decoding the footer takes CPU time.
async fn spawn_open(task: ScanTask, cut: SplitPolicy, shared: Arc<AcrossFiles>) -> Result<Vec<ReadUnit>> {
    let guard = Guard::of(&task);
    let opened = async move {
        let opened = AssertUnwindSafe(open(task, cut, &shared)).catch_unwind().await;
        let file = opened.unwrap_or_else(|_| Err(guard.fault()))?;
        Ok(file.map(OpenFile::read_units).unwrap_or_default())
    };
    let mut worker = Worker::new(tokio::spawn(opened));
    (&mut worker.handle).await.unwrap_or_else(|_| Err(caught()))
}

/// Opens files to measure the columns that are read, and how much of them is decoded; skips files that partition values
/// rule out. Must be called inside a runtime.
pub(crate) async fn survey(tasks: Vec<ScanTask>) -> Result<[Amount; 2]> {
    let shared = Arc::new(AcrossFiles::default());
    let opened = with_rows(tasks).map(|task| {
        let shared = Arc::clone(&shared);
        async move {
            let task = task?;
            let guard = Guard::of(&task);
            let amounts = async move {
                Ok(open(task, SplitPolicy::WHOLE, &shared)
                    .await?
                    .map(|file| file.amounts()))
            };
            let amounts = AssertUnwindSafe(amounts).catch_unwind().await;
            amounts.unwrap_or_else(|_| Err(guard.fault()))
        }
    });
    let none = [Amount::default(); 2];
    opened
        .buffered(REMOTE_PIECES)
        .try_fold(none, |[mut all, mut kept], one: Option<[Amount; 2]>| async move {
            let [more, of_it] = one.unwrap_or(none);
            all.add(more);
            kept.add(of_it);
            Ok([all, kept])
        })
        .await
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
