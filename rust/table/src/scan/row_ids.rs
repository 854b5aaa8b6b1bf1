//! The columns with the row id and row commit version of each row.
//!
//! Protocol: *Row Tracking*, *Reader Requirements for Row Tracking*.

use deltaic_log::Snapshot;
use deltaic_protocol::row_tracking::{MaterializedColumns, RowTracking};
use deltaic_protocol::schema::{DataType, PrimitiveType, StructField};
use deltaic_protocol::{Error, ErrorKind, Result};

/// The id of a row, which is stable while the row exists.
pub const ROW_ID: &str = "_row_id";
/// The version that inserted the row, or last updated it.
pub const ROW_COMMIT_VERSION: &str = "_row_commit_version";

/// The fields that are appended to the columns of a scan.
pub(super) fn fields() -> [StructField; 2] {
    [ROW_ID, ROW_COMMIT_VERSION]
        .map(|name| StructField::new(name, DataType::Primitive(PrimitiveType::Long), false))
}

/// The field of the row id.
pub(crate) fn row_id_field() -> Option<StructField> {
    let [id, _] = fields();
    Some(id)
}

/// Returns the columns in which data files store the row ids and row commit versions of copied rows.
///
/// # Errors
///
/// `UnsupportedFeature` if row tracking is not enabled, `SchemaMismatch` if the table has a column of the same
/// name.
pub(super) fn materialized_columns(snapshot: &Snapshot) -> Result<MaterializedColumns> {
    let RowTracking::Enabled(columns) = RowTracking::of(snapshot.configuration())? else {
        return Err(Error::new(
            ErrorKind::UnsupportedFeature,
            "row tracking is not enabled for the table, so its rows have no ids",
        )
        .with("feature", "rowTracking")
        .hint("rows have ids from the version on that sets delta.enableRowTracking"));
    };
    columns.validate(snapshot.schema(), snapshot.column_mapping())?;
    for name in [ROW_ID, ROW_COMMIT_VERSION] {
        if snapshot.schema().field_ignoring_case(name).is_some() {
            return Err(Error::new(
                ErrorKind::SchemaMismatch,
                format!("the table has a column {name}, which a scan with row ids adds"),
            )
            .with("field", name)
            .hint("rename the column"));
        }
    }
    Ok(columns)
}

/// Returns the names of the columns in which data files store the row ids and row commit versions of copied rows.
///
/// # Errors
///
/// Those of a scan with row ids.
pub fn row_columns(snapshot: &Snapshot) -> Result<(String, String)> {
    let columns = materialized_columns(snapshot).map_err(|error| {
        error
            .with("table", snapshot.location().uri())
            .with("version", snapshot.version())
    })?;
    Ok((columns.row_id, columns.row_commit_version))
}
