//! Reads scan tasks into record batches.

mod columns;
mod deletion_vectors;
mod file;
mod local;
mod parquet;
mod pruning;
mod stream;

pub(crate) use columns::conform::conform;
pub(crate) use columns::find::find as find_column;
pub(crate) use columns::variant::{comparable_variants, unshredded};
pub use deletion_vectors::list_vectors::list_vectors;
pub use deletion_vectors::read_vectors::{VectorOf, read_vectors};
pub(crate) use parquet::footer::{Footer, damaged};
pub(crate) use parquet::int96::int96_as_instants;
pub(crate) use parquet::page_index::with_page_index;
pub(crate) use pruning::chunk_columns::{InChunks, column_at};
pub use stream::BatchStream;
pub(crate) use stream::batch_stream::stream_to_write;
pub(crate) use stream::batch_stream::survey;
pub use stream::batch_stream::{stream_scan, stream_task, stream_tasks};
pub use stream::count::count;
