//! Reads the batches of a read unit on a thread of the runtime, ahead of the consumer up to a limit.

use std::sync::Arc;

use arrow_array::RecordBatch;
use deltaic_protocol::Result;
use deltaic_storage::fault::caught;
use futures::{FutureExt, StreamExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;

use super::batches::BatchStream;
use super::guard::Guard;
use super::read_unit::ReadUnit;
use crate::read::file::stop::Stop;

/// Work on another thread. Dropping it aborts the work at its next await; work that never awaits checks a cancellation
/// flag.
pub(crate) struct Worker<T> {
    pub(crate) handle: JoinHandle<T>,
    stop: Stop,
}

impl<T> Worker<T> {
    pub(crate) fn new(handle: JoinHandle<T>) -> Self {
        let stop = Stop::default();
        Self { handle, stop }
    }
}

impl<T> Drop for Worker<T> {
    fn drop(&mut self) {
        self.stop.set();
        self.handle.abort();
    }
}

/// Starts to read a read unit and returns its batches in order. At most `share` KiB of batches are buffered.
pub(crate) fn spawn(read_unit: ReadUnit, room: Option<OwnedSemaphorePermit>, share: u32) -> BatchStream {
    let (sender, receiver) = mpsc::unbounded_channel();
    let queue = Arc::new(Semaphore::new(usize::try_from(share).unwrap_or(usize::MAX)));
    let guard = Guard::of(read_unit.task());
    let stop = Stop::default();
    let stopped = stop.clone();
    let work = async move {
        let mut batches = guard.batches(read_unit.read(stopped).boxed());
        let mut handful = Handful::new(sender, share);
        // Buffered batches are sent before this task awaits anything.
        while let Some(batch) = match batches.next().now_or_never() {
            Some(batch) => batch,
            None if handful.send() => batches.next().await,
            None => return,
        } {
            let failed = batch.is_err();
            let bytes = batch.as_ref().map_or(0, RecordBatch::get_array_memory_size);
            let kib = u32::try_from(bytes >> 10).unwrap_or(share).clamp(1, share);
            let place = match Arc::clone(&queue).try_acquire_many_owned(kib) {
                Ok(place) => Ok(place),
                Err(_) if handful.send() => Arc::clone(&queue).acquire_many_owned(kib).await,
                Err(_) => return,
            };
            if !handful.add(batch, place.ok(), kib) || failed {
                return;
            }
        }
        handful.send();
        drop(room);
    };
    let worker = Worker {
        handle: tokio::spawn(work),
        stop,
    };
    futures::stream::unfold((receiver, Some(worker)), |(mut receiver, worker)| async move {
        if let Some(batches) = receiver.recv().await {
            let batches = batches.into_iter().map(|(batch, place)| {
                drop(place);
                batch
            });
            return Some((futures::stream::iter(batches).left_stream(), (receiver, worker)));
        }
        // The queue was closed: a worker that panicked must not look like the end of its file.
        match (&mut worker?.handle).await {
            Ok(()) => None,
            Err(_) => {
                let broken = futures::stream::once(async { Err(caught()) });
                Some((broken.right_stream(), (receiver, None)))
            }
        }
    })
    .flatten()
    .boxed()
}

/// A batch, and its permit for the queue.
type Queued = (Result<RecordBatch>, Option<OwnedSemaphorePermit>);

/// Batches that are sent together: a wake-up of the consumer costs as much as decoding a small batch.
struct Handful {
    sender: mpsc::UnboundedSender<Vec<Queued>>,
    batches: Vec<Queued>,
    kib: u32,
    /// The size in KiB at which a group is sent: the first batch alone, then larger groups.
    enough: u32,
    most: u32,
}

impl Handful {
    fn new(sender: mpsc::UnboundedSender<Vec<Queued>>, share: u32) -> Self {
        Self {
            sender,
            batches: Vec::new(),
            kib: 0,
            enough: 0,
            most: share / 8,
        }
    }

    /// Adds a batch and returns whether the consumer wants more.
    fn add(&mut self, batch: Result<RecordBatch>, place: Option<OwnedSemaphorePermit>, kib: u32) -> bool {
        self.batches.push((batch, place));
        self.kib = self.kib.saturating_add(kib);
        self.kib < self.enough || self.send()
    }

    /// Sends the buffered batches and returns whether the consumer wants more.
    fn send(&mut self) -> bool {
        if self.batches.is_empty() {
            return !self.sender.is_closed();
        }
        self.enough = self.kib.saturating_mul(2).min(self.most);
        self.kib = 0;
        self.sender.send(std::mem::take(&mut self.batches)).is_ok()
    }
}

impl Drop for Handful {
    fn drop(&mut self) {
        self.send();
    }
}
