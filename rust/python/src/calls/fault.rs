//! Converts each panic to an `InternalError` that reports its source location, so that none crosses into Python.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use deltaic_storage::fault;

use super::error::CallResult;

/// Records every panic instead of printing a backtrace, which would not help a user.
pub(crate) fn install_hook() {
    set_hook(Box::new(|panic| {
        if let Some(place) = panic.location() {
            fault::note(place.file(), place.line());
        }
    }));
}

/// Runs the body of a call from Python and converts a panic to an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> CallResult<T>) -> CallResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(fault::caught().into()))
}
