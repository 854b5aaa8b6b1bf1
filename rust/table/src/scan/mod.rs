//! From a snapshot and a question to tasks that can be read one by one.

mod explain;
mod plan;
mod task;
mod variant_as;

pub use plan::{Scan, ScanOptions, list_files};
pub use task::{ScanContext, ScanTask};
pub use variant_as::VariantAs;
