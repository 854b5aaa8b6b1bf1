//! A runtime for each thread, on which the invariants run async calls.

use tokio::runtime::Runtime;

thread_local! {
    /// A runtime for each thread. It starts no others, whose memory and panics would not be counted.
    static RUNTIME: Runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .on_thread_start(|| std::process::abort())
        .build()
        .expect("the runtime can be created");
}

/// Runs an async call to completion.
pub(super) fn block_on<T>(work: impl Future<Output = T>) -> T {
    RUNTIME.with(|runtime| runtime.block_on(work))
}
