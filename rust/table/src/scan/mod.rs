//! Plans a scan of a snapshot as independent tasks.

mod columns;
mod plan;
mod positions;
mod residual;
mod row_ids;
mod rows;
mod selection;
mod strings_as;
mod task;
mod variant_as;

pub(crate) use columns::choose;
pub use plan::{Scan, ScanOptions, list_files};
pub use positions::{FILE_PATH, FILE_POSITION};
pub(crate) use residual::{Constants, Residual};
pub(crate) use row_ids::row_id_field;
pub use row_ids::{ROW_COMMIT_VERSION, ROW_ID, row_columns};
pub(crate) use rows::Rows;
pub use selection::Selection;
pub use strings_as::StringsAs;
pub use task::{ScanContext, ScanTask};
pub use variant_as::VariantAs;
