//! Deletes files that the table no longer needs.
//!
//! A file is needed if the newest version or a tombstone younger than the retention names it, as a data file or as a
//! deletion vector. Candidates are the files of the table's folder ([`Candidates::Listed`]), those of an inventory, or
//! those that the log removed; hidden files and files younger than the retention are never deleted.
//!
//! Protocol: *Vacuum Protocol Check*, *Add File and Remove File*, *Deletion Vectors*, *Change Data Files*.

mod delete;
mod found;
mod hidden;
mod inner_tables;
mod inventory;
mod last_vacuum;
mod listed;
mod lite;
mod needed;
mod paths;
mod plan;
mod record;
mod request;
mod retention;
mod run;

pub use found::FileToDelete;
pub use inventory::{InventoryEntry, inventory_entries};
pub use request::{Candidates, RetentionCheck, VacuumRequest};
pub use run::{Vacuumed, vacuum};
