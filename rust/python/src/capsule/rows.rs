//! Converts a producer's arrays to record batches, after validating each of them.

use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowArray;
use arrow_array::{Array, RecordBatch, RecordBatchOptions, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_table::write::{Fault, validate_batch};

use super::c_data::{Stream, import};

/// The source of arrays.
pub(super) enum Source {
    /// A stream of arrays.
    Stream(Stream),
    /// A single array.
    Array(Option<FFI_ArrowArray>),
}

/// An iterator of validated batches. It ends after an error.
pub(super) struct Rows {
    source: Option<Source>,
    data_type: DataType,
    schema: SchemaRef,
    rows: u64,
}

impl Rows {
    /// Returns the batches of a source; `None` if its arrays are not structs.
    pub(super) fn new(source: Source, field: &Field) -> Option<Self> {
        let DataType::Struct(fields) = field.data_type() else {
            return None;
        };
        Some(Self {
            source: Some(source),
            data_type: field.data_type().clone(),
            schema: Arc::new(Schema::new(fields.clone()).with_metadata(field.metadata().clone())),
            rows: 0,
        })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let array = match self.source.as_mut() {
            Some(Source::Stream(stream)) => stream.next()?,
            Some(Source::Array(array)) => array.take(),
            None => None,
        };
        let Some(array) = array else {
            return Ok(None);
        };
        let imported = import(array, &self.data_type);
        let data = imported.map_err(|fault| fault.into_error(self.rows))?;
        if let Some(row) = data
            .nulls()
            .and_then(|nulls| nulls.iter().position(|is_valid| !is_valid))
        {
            let fault = Fault::new("all columns of a row are NULL together, as a struct that is NULL");
            let fault = fault.hint("nothing was written; drop such rows, or make each column NULL");
            return Err(fault.in_row(row).into_error(self.rows));
        }
        validate_batch(&data, self.rows)?;
        self.rows += data.len() as u64;
        let rows = StructArray::from(data);
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let batch =
            RecordBatch::try_new_with_options(Arc::clone(&self.schema), rows.columns().to_vec(), &options);
        batch
            .map(Some)
            .map_err(|error| Error::new(ErrorKind::SchemaMismatch, error.to_string()))
    }
}

impl Iterator for Rows {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_batch() {
            Ok(batch) => batch.map(Ok),
            Err(error) => {
                self.source = None;
                Some(Err(ArrowError::ExternalError(Box::new(error))))
            }
        }
    }
}

impl RecordBatchReader for Rows {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
