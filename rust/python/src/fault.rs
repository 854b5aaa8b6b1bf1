//! No panic crosses into Python unseen: each becomes an `InternalError` that says where deltaic broke off.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use deltaic_log::fault;

use crate::error::Answer;

/// Notes every panic instead of printing a backtrace, which would help no user.
pub(crate) fn install_hook() {
    set_hook(Box::new(|panic| {
        if let Some(place) = panic.location() {
            fault::note(place.file(), place.line());
        }
    }));
}

/// Runs what a call from Python does, of which a panic is an error like any other.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Answer<T>) -> Answer<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(fault::caught().into()))
}
