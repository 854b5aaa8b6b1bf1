//! What a Delta table **holds**: everything beside `_delta_log/`.
//!
//! Reading: a [`scan::Scan`] plans [`scan::ScanTask`]s from a snapshot, and `read` turns each into record batches.
//! Writing: a [`write::TableWriter`] turns record batches into data files and the `add` actions that name them.
//! A change in the making: a [`transaction::TableTransaction`] stages what comes and goes, and commits it once.
//! Altering: [`alter::alter`] proves by the rows what the log does not tell.
//! The change feed: [`changes::Changes`] plans tasks from what the versions of a range say.
//! Checking: [`check::check`] tells what is wrong with a table.

pub mod alter;
pub mod changes;
pub mod check;
pub mod handover;
pub mod read;
pub mod scan;
pub mod transaction;
pub mod write;
