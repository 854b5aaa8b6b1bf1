//! The **contents** of a Delta table: everything outside `_delta_log/`.
//!
//! * Reading: a [`scan::Scan`] plans [`scan::ScanTask`]s from a snapshot, and `read` converts each to record batches.
//! * Writing: a [`write::TableWriter`] writes record batches to data files and creates their `add` actions.
//! * Transactions: a [`transaction::TableTransaction`] stages added and removed files, and commits them once.
//! * Altering: [`alter::alter`] verifies changes that depend on the rows.
//! * Change feed: [`changes::Changes`] plans tasks from the commits of a range.
//! * Checking: [`check::check`] reports what is wrong with a table.

pub mod alter;
pub mod changes;
pub mod check;
pub mod handover;
pub mod read;
pub mod scan;
pub mod transaction;
pub mod write;
