//! Work on all cores, in order, a bounded share of it at a time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use deltaic_protocol::{Error, ErrorKind, Result};
use futures::{StreamExt, TryStreamExt};
use tokio::task::JoinHandle;

/// Runs futures on the runtime's threads, at most `in_flight` of them at once, and gives their answers in order. The
/// first error ends it; what still runs then is stopped, as it is when the caller lets go.
///
/// Must be called inside a runtime.
pub(crate) async fn in_parallel<T, F>(tasks: impl IntoIterator<Item = F>, in_flight: usize) -> Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    // Collected first: a lazy iterator inside the stream would tie its borrows to the future.
    let tasks: Vec<F> = tasks.into_iter().collect();
    futures::stream::iter(tasks)
        .map(|task| Running(tokio::spawn(task)))
        .buffered(in_flight.max(1))
        .try_collect()
        .await
}

/// Runs a computation beside the runtime's own work; where it panics, that is an error like any other.
pub(crate) async fn compute<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    Running(tokio::task::spawn_blocking(work)).await
}

/// A task that ends with whoever waits for it.
struct Running<T>(JoinHandle<Result<T>>);

impl<T> Future for Running<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|joined| {
            joined.unwrap_or_else(|_| {
                Err(Error::new(
                    ErrorKind::CorruptLog,
                    "reading the log broke off: its bytes make no sense",
                ))
            })
        })
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
