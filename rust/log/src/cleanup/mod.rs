//! Metadata cleanup: what of a log has expired, and its deletion in an order that a crash cannot hurt.
//!
//! Protocol: *Metadata Cleanup*, *Checkpoints*, *Checkpoint Protection*, *Maintenance Operations on Catalog-managed
//! Tables*. The decision is a plan over values, which can be printed; carrying it out deletes oldest versions first, so
//! that at any moment the versions that a listing shows can all be read.

mod cutoff;
mod delete;
mod leftovers;
mod plan;
mod protected;
mod rules;
mod run;
mod sidecars;
mod store_time;
mod waves;

pub(crate) use cutoff::SHORT_RETENTION_MS;
pub use cutoff::{Cutoff, cutoff_ms};
pub use plan::{CleanupPlan, Deletion, Expired, Kept, Known, plan};
pub use rules::CleanupRules;
pub use run::{CleanedUp, clean_up, clean_up_now, plan_cleanup};
pub use store_time::store_time_ms;
pub(crate) use store_time::written_at_ms;
