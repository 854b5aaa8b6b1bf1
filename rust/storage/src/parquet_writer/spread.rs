//! Does parts of some work on the threads of the runtime.

use std::future::Future;

use deltaic_protocol::Result;

use crate::{Running, start};

/// Fewer rows are encoded at once: starting the work would cost more.
const SPREAD_ROWS: usize = 8192;

/// Does the work of each part; the results are in the order of the parts.
pub(super) async fn spread<T, R, W>(
    parts: impl ExactSizeIterator<Item = T>,
    rows: usize,
    work: impl Fn(T) -> W,
) -> Result<Vec<R>>
where
    R: Send + 'static,
    W: Future<Output = Result<R>> + Send + 'static,
{
    let mut done: Vec<Result<R>> = Vec::with_capacity(parts.len());
    if rows < SPREAD_ROWS || parts.len() < 2 {
        for part in parts {
            done.push(Ok(work(part).await?));
        }
    } else {
        let tasks: Vec<Running<R>> = parts.map(|part| start(work(part))).collect();
        // All are awaited even if one fails, so that no work is left over.
        for task in tasks {
            done.push(task.await);
        }
    }
    done.into_iter().collect()
}
