//! Plans a scan of a snapshot as independent tasks.

mod columns;
mod explain;
mod plan;
mod residual;
mod row_ids;
mod selection;
mod task;
mod variant_as;

pub(crate) use columns::choose;
pub use plan::{Scan, ScanOptions, list_files};
pub(crate) use residual::residual;
pub(crate) use row_ids::row_id_field;
pub use row_ids::{ROW_COMMIT_VERSION, ROW_ID, row_columns};
pub use selection::Selection;
pub use task::{ScanContext, ScanTask};
pub use variant_as::VariantAs;
