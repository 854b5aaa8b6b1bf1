//! The columns of data files, converted to those of the table.

use arrow_schema::ArrowError;
use deltaic_protocol::{Error, ErrorKind};

pub(crate) mod conform;
pub(crate) mod decimals;
pub(crate) mod file_columns;
pub(crate) mod find;
pub(crate) mod leaves;
pub(crate) mod padded;
pub(crate) mod string_form;
pub(crate) mod variant;
pub(crate) mod widen;

/// The hint for a file that does not match the schema.
pub(crate) const UNFIT: &str =
    "the file was not written for this table's schema: restore it, or remove it from the table";

pub(crate) fn unfit(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptData,
        format!("the data file does not fit the table's schema: {error}"),
    )
    .hint(UNFIT)
}
