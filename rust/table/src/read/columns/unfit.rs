//! The error for a data file that does not fit the table's schema.

use arrow_schema::ArrowError;
use deltaic_protocol::{Error, ErrorKind};

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
