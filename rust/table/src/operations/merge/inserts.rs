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
use crate::write::RowStream;

/// Rows that are made at once.
pub(super) const ROWS: usize = 1 << 14;

/// The rows that a clause inserts, with the columns that it sets.
pub(super) fn rows_to_insert(
    clause: &BoundClause,
    snapshot: &Snapshot,
    source: &Arc<SourceRows>,
    rows: Arc<[u32]>,
) -> Result<RowStream> {
    let (schema, columns) = inserted_columns(clause, snapshot)?;
    let (source, made) = (Arc::clone(source), Arc::clone(&schema));
    let batches = (0..rows.len()).step_by(ROWS).map(move |first| {
        let part = rows.get(first..).unwrap_or_default();
        let part = part.get(..ROWS).unwrap_or(part);
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

/// Makes the rows to insert for rows of the source.
pub(super) fn made_rows(
    source: &SourceRows,
    columns: &[BoundValue],
    schema: &SchemaRef,
    rows: &[u32],
) -> Result<RecordBatch> {
    let over = side(SOURCE, source.take(rows)?)?;
    let columns = columns.iter().map(|value| value.evaluate(&over));
    let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(|error| failed(&error))
}
