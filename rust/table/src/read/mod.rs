//! From scan tasks to record batches.

mod amount;
mod chunk_columns;
mod chunk_statistics;
mod chunk_values;
mod columns;
mod conform;
mod count;
mod deletion_vectors;
mod file_plan;
mod find;
mod footer;
mod int96;
mod known_plans;
mod leaves;
mod list_vectors;
mod open;
mod page_index;
mod piece;
mod row_identity;
mod rows;
mod selection;
mod stream;
mod stretches;
mod variant;
mod weighed;
mod widen;

pub use count::count;
pub use deletion_vectors::{VectorOf, read_vectors};
pub(crate) use file_plan::Asked;
pub use list_vectors::list_vectors;
pub(crate) use rows::Rows;
pub(crate) use stream::survey;
pub use stream::{BatchStream, stream_scan, stream_task, stream_tasks};
pub(crate) use variant::comparable_variants;
