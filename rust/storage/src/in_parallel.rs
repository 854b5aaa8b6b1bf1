//! Parallel execution on all cores, in order and with a bounded number of tasks.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use deltaic_protocol::Result;
use futures::{FutureExt, StreamExt, TryStreamExt};
use tokio::task::JoinHandle;

use crate::fault;

/// Runs futures on the runtime's threads, at most `in_flight` of them at once, and returns their results in
/// order. The first error aborts the remaining tasks, as does dropping the returned future.
///
/// Must be called inside a runtime.
pub async fn in_parallel<T, F>(tasks: impl IntoIterator<Item = F>, in_flight: usize) -> Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    // Collected first: a lazy iterator inside the stream would tie its borrows to the future.
    let tasks: Vec<F> = tasks.into_iter().collect();
    futures::stream::iter(tasks)
        .map(start)
        .buffered(in_flight.max(1))
        .try_collect()
        .await
}

/// Starts a future on the runtime's threads, and returns its result; dropping the returned future aborts it.
///
/// Must be called inside a runtime.
pub fn start<T, F>(task: F) -> Running<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    Running(tokio::spawn(unbroken(task)))
}

/// Runs a computation on a blocking thread of the runtime; a panic is returned as an error.
pub async fn compute<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let work = move || catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(fault::caught()));
    Running(tokio::task::spawn_blocking(work)).await
}

/// Runs a future; a panic is returned as an error with its location.
async fn unbroken<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.unwrap_or_else(|_| Err(fault::caught()))
}

/// A task that is aborted on drop.
#[derive(Debug)]
pub struct Running<T>(JoinHandle<Result<T>>);

impl<T> Future for Running<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|joined| {
            // Only a runtime that shuts down cancels a task that is awaited.
            joined.unwrap_or_else(|_| Err(fault::caught()))
        })
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaic_protocol::ErrorKind;

    #[test]
    fn a_panic_is_an_internal_error() {
        let runtime = tokio::runtime::Builder::new_multi_thread().build();
        runtime.expect("a runtime").block_on(async {
            let broken = in_parallel([async { panic!("provoked") as Result<()> }], 2).await;
            assert_eq!(broken.expect_err("a fault").kind(), ErrorKind::Internal);
            let broken = compute(|| panic!("provoked") as Result<()>).await;
            assert_eq!(broken.expect_err("a fault").kind(), ErrorKind::Internal);
        });
    }
}
