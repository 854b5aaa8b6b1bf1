//! Metadata cleanup: determines which log files have expired, and deletes them in a crash-safe order.
//!
//! Protocol: *Metadata Cleanup*, *Checkpoints*, *Checkpoint Protection*, *Maintenance Operations on Catalog-managed
//! Tables*. The decision is a printable plan over values; it is carried out oldest versions first, so that at any
//! moment all versions that a listing shows can be read.

mod cutoff;
mod delete;
mod deletion;
mod plan;
mod protected;
mod rules;
mod run;
mod sidecars;
mod stale_files;
mod store_time;
mod waves;

pub use self::deletion::Deletion;
pub use self::deletion::Expired;
pub(crate) use cutoff::SHORT_RETENTION_MS;
pub use cutoff::{Cutoff, cutoff_ms};
pub use plan::{CleanupPlan, LogFacts, RetentionReason, plan};
pub use rules::CleanupRules;
pub use run::{CleanedUp, clean_up, clean_up_now, plan_cleanup};
pub use store_time::store_time_ms;
pub(crate) use store_time::written_at_ms;
