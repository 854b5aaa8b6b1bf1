//! Cancels rows of a version that were removed from one file and added unchanged to another: they are not changes.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, LargeListArray, ListArray, RecordBatch, StructArray};
use arrow_row::{OwnedRow, RowConverter, SortField};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use arrow_select::filter::filter_record_batch;
use deltaic_protocol::schema::VARIANT_EXTENSION;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::change_columns::CHANGE_TYPE;
use crate::read::comparable_variants;

/// Returns the rows of a version without pairs of an identical delete and insert.
///
/// Rows are compared in every column except the change type; NaNs are equal if their bits are, and maps if they have
/// the same entries in the same order.
pub(super) fn without_rewrites(batches: Vec<RecordBatch>) -> Result<Vec<RecordBatch>> {
    let Some(first) = batches.first() else {
        return Ok(batches);
    };
    let compared: Vec<usize> = first
        .schema_ref()
        .fields()
        .iter()
        .enumerate()
        .filter(|(_, field)| field.name() != CHANGE_TYPE)
        .map(|(index, _)| index)
        .collect();
    let columns = |batch: &RecordBatch| -> Result<Vec<ArrayRef>> {
        let columns = compared
            .iter()
            .map(|index| comparable(batch.schema_ref().field(*index), batch.column(*index)));
        columns.collect::<Result<_, _>>().map_err(failed)
    };
    let fields = columns(first)?
        .iter()
        .map(|column| SortField::new(column.data_type().clone()))
        .collect();
    let converter = RowConverter::new(fields).map_err(failed)?;
    let mut went: HashMap<OwnedRow, u64> = HashMap::new();
    for batch in &batches {
        let rows = converter.convert_columns(&columns(batch)?).map_err(failed)?;
        for (row, is_insert) in rows.iter().zip(inserts(batch)?) {
            if !is_insert {
                *went.entry(row.owned()).or_default() += 1;
            }
        }
    }
    // Each insert cancels one identical delete; the remaining rows are the changes.
    let mut came_too: HashMap<OwnedRow, u64> = HashMap::new();
    let mut left = Vec::with_capacity(batches.len());
    let mut kept_inserts: Vec<Vec<bool>> = Vec::with_capacity(batches.len());
    for batch in &batches {
        let rows = converter.convert_columns(&columns(batch)?).map_err(failed)?;
        let mut kept = Vec::with_capacity(batch.num_rows());
        for (row, is_insert) in rows.iter().zip(inserts(batch)?) {
            if !is_insert {
                kept.push(true);
                continue;
            }
            let row = row.owned();
            match went.get_mut(&row) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    *came_too.entry(row).or_default() += 1;
                    kept.push(false);
                }
                _ => kept.push(true),
            }
        }
        kept_inserts.push(kept);
    }
    for (batch, mut kept) in batches.iter().zip(kept_inserts) {
        let rows = converter.convert_columns(&columns(batch)?).map_err(failed)?;
        for ((row, is_insert), kept) in rows.iter().zip(inserts(batch)?).zip(&mut kept) {
            if !is_insert && let Some(count) = came_too.get_mut(&row.owned()).filter(|count| **count > 0) {
                *count -= 1;
                *kept = false;
            }
        }
        let batch = filter_record_batch(batch, &BooleanArray::from(kept)).map_err(failed)?;
        if batch.num_rows() > 0 {
            left.push(batch);
        }
    }
    Ok(left)
}

/// For each row, whether it is an insert.
fn inserts(batch: &RecordBatch) -> Result<Vec<bool>> {
    let kinds = batch
        .column_by_name(CHANGE_TYPE)
        .and_then(|column| column.as_string_opt::<i32>())
        .ok_or_else(|| {
            Error::new(ErrorKind::CorruptData, "a change has no type").with("field", CHANGE_TYPE)
        })?;
    Ok(kinds.iter().map(|kind| kind == Some("insert")).collect())
}

/// Converts a column to one that the row format supports: maps to lists of their entries, variants to text.
fn comparable(field: &Field, column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    if field.extension_type_name() == Some(VARIANT_EXTENSION) {
        return comparable_variants(column);
    }
    Ok(match column.data_type() {
        DataType::Map(entries, _) => {
            let map = column.as_map();
            let entries_array: ArrayRef = Arc::new(map.entries().clone());
            let inner = comparable(entries, &entries_array)?;
            let field = Arc::new(Field::new(entries.name(), inner.data_type().clone(), false));
            Arc::new(ListArray::try_new(
                field,
                map.offsets().clone(),
                inner,
                map.nulls().cloned(),
            )?)
        }
        DataType::List(element) => {
            let list = column.as_list::<i32>();
            let inner = comparable(element, list.values())?;
            let field = Field::clone(element).with_data_type(inner.data_type().clone());
            Arc::new(ListArray::try_new(
                Arc::new(field),
                list.offsets().clone(),
                inner,
                list.nulls().cloned(),
            )?)
        }
        DataType::LargeList(element) => {
            let list = column.as_list::<i64>();
            let inner = comparable(element, list.values())?;
            let field = Field::clone(element).with_data_type(inner.data_type().clone());
            Arc::new(LargeListArray::try_new(
                Arc::new(field),
                list.offsets().clone(),
                inner,
                list.nulls().cloned(),
            )?)
        }
        DataType::Struct(fields) if !fields.is_empty() => {
            let rows = column.as_struct();
            let parts = fields.iter().zip(rows.columns());
            let columns: Vec<ArrayRef> = parts
                .map(|(field, part)| comparable(field, part))
                .collect::<Result<_, _>>()?;
            let fields: Fields = fields
                .iter()
                .zip(&columns)
                .map(|(field, column)| {
                    Arc::new(Field::clone(field).with_data_type(column.data_type().clone()))
                })
                .collect();
            Arc::new(StructArray::try_new(fields, columns, rows.nulls().cloned())?)
        }
        _ => Arc::clone(column),
    })
}

fn failed(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptData,
        format!("the rows of a version cannot be compared: {error}"),
    )
}
