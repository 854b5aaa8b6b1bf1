//! The public transaction: verbs stage changes, and one commit applies all of them.
//!
//! Protocol: *Requirements for Writers*, *Add File and Remove File*, *Transaction Identifiers*.

pub(crate) mod attempts;
mod commit;
mod commit_details;
mod described;
mod dry_run;
mod feed;
mod merged_schema;
pub(crate) mod metrics;
pub(crate) mod new_rows;
mod reads;
pub(crate) mod requirement;
mod row_changes;
mod same_rows;
mod schema_evolution;
mod staged;
mod table_transaction;
pub(crate) mod unrecorded;
mod with_files;

pub use attempts::EarlierAttempt;
pub use dry_run::DryRun;
pub(crate) use merged_schema::{Widens, merged_schema};
pub use new_rows::NewRows;
pub use schema_evolution::SchemaMode;
pub use table_transaction::TableTransaction;
