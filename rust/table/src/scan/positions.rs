//! The columns with the data file of each row and the row's position in it.
//!
//! A path and a position identify a row of a version: `TableTransaction::delete_rows` takes them.

use deltaic_protocol::schema::{DataType, PrimitiveType, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

/// The path of the data file, as in the log.
pub const FILE_PATH: &str = "_file_path";
/// The position of the row in the data file, counted from 0, deleted rows included.
pub const FILE_POSITION: &str = "_file_position";

/// The fields that are appended to the columns of a scan.
///
/// # Errors
///
/// `SchemaMismatch` if the table has a column of the same name.
pub(super) fn fields(schema: &StructType) -> Result<[StructField; 2]> {
    for name in [FILE_PATH, FILE_POSITION] {
        if schema.field_ignoring_case(name).is_some() {
            return Err(Error::new(
                ErrorKind::SchemaMismatch,
                format!("the table has a column {name}, which a scan with positions adds"),
            )
            .with("field", name)
            .hint("rename the column"));
        }
    }
    Ok([
        (FILE_PATH, PrimitiveType::String),
        (FILE_POSITION, PrimitiveType::Long),
    ]
    .map(|(name, data_type)| StructField::new(name, DataType::Primitive(data_type), false)))
}
