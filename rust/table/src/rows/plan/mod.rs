//! How the files of a version change: which are removed, changed by a deletion vector or rewritten.

pub(crate) mod changed_file;
pub(crate) mod delete_plan;
pub(crate) mod file_vectors;
pub(crate) mod plan_parts;
pub(crate) mod planned_file;
