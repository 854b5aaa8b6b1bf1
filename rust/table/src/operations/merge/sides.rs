//! Rows of both sides of a merge, as columns of structs: expressions refer to `target.…` and `source.…`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray, UInt32Array};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use arrow_select::take::take;
use deltaic_protocol::expr::{SOURCE, TARGET};
use deltaic_protocol::{Error, Result};

/// A batch with the rows of one side.
pub(super) fn side(name: &str, rows: ArrayRef) -> Result<RecordBatch> {
    let schema = Schema::new(vec![Field::new(name, rows.data_type().clone(), true)]);
    RecordBatch::try_new(Arc::new(schema), vec![rows]).map_err(|error| failed(&error))
}

/// A batch with rows of both sides.
pub(super) fn joined(target: ArrayRef, source: ArrayRef) -> Result<RecordBatch> {
    let field = |name: &str, rows: &ArrayRef| Field::new(name, rows.data_type().clone(), true);
    let schema: SchemaRef = Arc::new(Schema::new(vec![field(TARGET, &target), field(SOURCE, &source)]));
    RecordBatch::try_new(schema, vec![target, source]).map_err(|error| failed(&error))
}

pub(super) fn failed(error: &ArrowError) -> Error {
    Error::internal(format!("rows cannot be merged: {error}"))
}

/// The rows of the table in a batch, as a column of structs: without the columns with the positions.
pub(super) fn target_rows(batch: &RecordBatch) -> Result<ArrayRef> {
    let count = batch.num_columns().saturating_sub(2);
    let fields = batch.schema_ref().fields().iter().take(count).cloned().collect();
    let columns = batch.columns().iter().take(count).cloned().collect();
    let rows = StructArray::try_new_with_length(fields, columns, None, batch.num_rows());
    Ok(Arc::new(rows.map_err(|error| failed(&error))?))
}

/// Rows of a column of structs.
pub(super) fn taken(rows: &ArrayRef, indices: impl Iterator<Item = u32>) -> Result<ArrayRef> {
    let indices = UInt32Array::from_iter_values(indices);
    match rows.as_struct().num_columns() {
        0 => Ok(Arc::new(StructArray::new_empty_fields(indices.len(), None))),
        _ => take(rows, &indices, None).map_err(|error| failed(&error)),
    }
}
