//! Verbs as Python requests them: a file each converts the arguments, and all are run, previewed and staged alike.

mod driver;
mod merge;
mod optimize;
mod rows;
mod statistics;

pub(crate) use driver::{preview, preview_reading, run, run_reading};
pub(crate) use merge::{MergeRequest, merge};
pub(crate) use optimize::OptimizeRequest;
pub(crate) use rows::{delete, replaced, update};
pub(crate) use statistics::StatisticsRequest;
