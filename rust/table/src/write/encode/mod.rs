//! Encodes columns as Parquet, with the statistics of the `add` actions.

pub(super) mod dictionaries;
pub(super) mod file_columns;
pub(super) mod file_schema;
pub(super) mod shredding;
pub(super) mod statistics;
pub(super) mod variant_annotation;
