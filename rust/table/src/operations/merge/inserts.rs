//! Makes the rows that a merge inserts.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use deltaic_log::Snapshot;
use deltaic_protocol::expr::{BoundValue, SOURCE};
use deltaic_protocol::{Error, Result};
use futures::stream;

use super::bound_merge::{BoundAction, BoundClause};
use super::sides::{failed, side};
use super::source::SourceRows;
use super::used_columns::UsedColumns;
use crate::write::RowStream;

/// Rows that are made at once.
const ROWS: usize = 1 << 14;

/// The rows that a clause inserts, with the columns that it sets.
pub(super) fn rows_to_insert(
    clause: &BoundClause,
    snapshot: &Snapshot,
    source: &Arc<SourceRows>,
    rows: Arc<[u32]>,
) -> Result<RowStream> {
    let (schema, columns) = inserted_columns(clause, snapshot)?;
    let (source, made) = (Arc::clone(source), Arc::clone(&schema));
    let lengths = made_at_once(&source, &columns, &rows).map(<[u32]>::len);
    let lengths: Vec<usize> = lengths.collect();
    let mut first = 0;
    let batches = lengths.into_iter().map(move |length| {
        let part = rows.get(first..first + length).unwrap_or_default();
        first += length;
        let batch = made_rows(&source, &columns, &made, part);
        batch.map_err(|error| ArrowError::ExternalError(Box::new(error)))
    });
    Ok(RowStream::new(schema, stream::iter(batches)))
}

/// The columns that a clause sets, and their values.
pub(super) fn inserted_columns(
    clause: &BoundClause,
    snapshot: &Snapshot,
) -> Result<(SchemaRef, Vec<BoundValue>)> {
    let BoundAction::Insert(values) = &clause.action else {
        return Err(Error::internal("the clause inserts no rows"));
    };
    let mut columns: Vec<BoundValue> = Vec::new();
    let mut fields = Vec::new();
    for (field, value) in snapshot.schema().fields.iter().zip(values) {
        if let Some(value) = value {
            fields.push(Field::new(&field.name, value.data_type().to_arrow()?, true));
            columns.push(value.clone());
        }
    }
    Ok((Arc::new(Schema::new(fields)), columns))
}

/// Divides rows of the source, so that the rows to insert take bounded memory.
pub(super) fn made_at_once<'r>(
    source: &SourceRows,
    columns: &[BoundValue],
    rows: &'r [u32],
) -> impl Iterator<Item = &'r [u32]> {
    let used = source.columns_of(&UsedColumns::of(SOURCE).with_values(columns));
    let parts = rows.chunks(ROWS);
    parts.flat_map(move |rows| source.divided(rows, &used, |row| *row))
}

/// Makes the rows to insert for rows of the source.
pub(super) fn made_rows(
    source: &SourceRows,
    columns: &[BoundValue],
    schema: &SchemaRef,
    rows: &[u32],
) -> Result<RecordBatch> {
    let used = source.columns_of(&UsedColumns::of(SOURCE).with_values(columns));
    let over = side(SOURCE, source.take(rows, &used)?)?;
    let columns = columns.iter().map(|value| value.evaluate(&over));
    let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(|error| failed(&error))
}
