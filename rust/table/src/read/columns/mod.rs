//! The columns of data files, converted to those of the table.

pub(crate) mod conform;
pub(crate) mod dictionary_decode;
pub(crate) mod file_columns;
pub(crate) mod find;
pub(crate) mod leaves;
pub(crate) mod padded;
pub(crate) mod variant;
pub(crate) mod widen;

/// The hint for a file that does not match the schema.
pub(crate) const UNFIT: &str =
    "the file was not written for this table's schema: restore it, or remove it from the table";
