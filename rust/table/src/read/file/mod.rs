//! The plan of a file and the file once it is open.

pub(crate) mod batch_rows;
pub(crate) mod file_plan;
pub(crate) mod known_plans;
pub(crate) mod open_file;
pub(crate) mod row_counts;
pub(crate) mod row_identity;
pub(crate) mod stop;
