//! Finds a column of the table among the columns of a file: by name, physical name or id.
//!
//! Protocol: *Reader Requirements for Column Mapping*.

use arrow_schema::{Field, Fields};
use deltaic_protocol::column_mapping::{ColumnMappingMode, field_id, name_in_log};
use deltaic_protocol::schema::StructField;
use deltaic_protocol::{Error, ErrorKind, Result};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;
use parquet::schema::types::Type;

use super::unfit::UNFIT;

/// Returns the index of a column among those of a file, or of a struct in it; `None` if the file is older than the
/// column.
///
/// # Errors
///
/// `CorruptData` if two columns have its id.
pub(crate) fn find(fields: &Fields, wanted: &StructField, mode: ColumnMappingMode) -> Result<Option<usize>> {
    // Columns that only change data files have are in no schema, and have no ids.
    let id = field_id(wanted).filter(|_| mode == ColumnMappingMode::Id);
    let Some(id) = id else {
        return find_name(fields, name_in_log(wanted, mode));
    };
    let has_id = |field: &Field| id_of(field) == Some(id);
    let mut found = fields.iter().enumerate().filter(|(_, field)| has_id(field));
    match (found.next(), found.next()) {
        (Some((_, one)), Some((_, other))) => Err(Error::new(
            ErrorKind::CorruptData,
            format!(
                "the columns {} and {} of the file have the id {id}",
                one.name(),
                other.name()
            ),
        )
        .with("field", wanted.name.as_str())),
        (found, _) => Ok(found.map(|(index, _)| index)),
    }
}

fn id_of(field: &Field) -> Option<i32> {
    field.metadata().get(PARQUET_FIELD_ID_META_KEY)?.parse().ok()
}

/// Finds a column by its exact name, or else by the only name that differs in case alone.
///
/// # Errors
///
/// `CorruptData` if several match.
pub(crate) fn find_name(fields: &Fields, wanted: &str) -> Result<Option<usize>> {
    let only = |found: &mut dyn Iterator<Item = usize>| match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(Error::new(
            ErrorKind::CorruptData,
            format!("the file has several columns {wanted:?}"),
        )
        .with("field", wanted)
        .hint(UNFIT)),
        (found, _) => Ok(found),
    };
    let exact = fields.iter().enumerate();
    let mut exact = exact
        .filter(|(_, field)| field.name() == wanted)
        .map(|(index, _)| index);
    if let Some(index) = only(&mut exact)? {
        return Ok(Some(index));
    }
    let lower = wanted.to_lowercase();
    let alike = fields.iter().enumerate();
    let mut alike = alike
        .filter(|(_, field)| field.name().to_lowercase() == lower)
        .map(|(index, _)| index);
    only(&mut alike)
}

/// Verifies that a file of a table that is mapped by id has field ids: without any, all of its columns would be NULL.
///
/// # Errors
///
/// `CorruptData`.
pub(crate) fn ensure_ids(file: &Type, mode: ColumnMappingMode) -> Result<()> {
    if mode != ColumnMappingMode::Id || file.get_fields().is_empty() || has_ids(file) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::CorruptData,
        "the table's columns are found by their ids, and the file has none",
    )
    .hint("the file was not written for this table: restore it, or remove it from the table"))
}

fn has_ids(group: &Type) -> bool {
    group
        .get_fields()
        .iter()
        .any(|field| field.get_basic_info().has_id() || (field.is_group() && has_ids(field)))
}
