//! What every call does: it runs on the runtime, reports its progress and log records, and raises errors.

pub(crate) mod diagnostics;
pub(crate) mod error;
pub(crate) mod fault;
pub(crate) mod progress;
pub(crate) mod runtime;
