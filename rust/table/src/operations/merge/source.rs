//! The rows of a merge's source.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StructArray, new_null_array};
use arrow_schema::{DataType, Field, Fields, Schema};
use arrow_select::interleave::interleave_record_batch;
use deltaic_protocol::expr::{BoundValue, SOURCE};
use deltaic_protocol::schema::{PrimitiveType, StructType, schema_from_arrow};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::memory_budget::MemoryBudget;

use super::sides::{failed, side};
use super::spilled_source::{KeptRows, SpilledSource};
use crate::write::{Incoming, RowStream, bytes_of};

/// The rows that are merged into a table. They are kept, because every one of them may be needed several times: in memory,
/// or in a temporary file if they are too many.
pub struct SourceRows {
    pub(super) schema: StructType,
    fields: Fields,
    batches: Vec<RecordBatch>,
    /// For each row, its batch and its position there.
    places: Vec<(usize, usize)>,
    /// All rows, if they do not fit in memory.
    pub(super) spilled: Option<SpilledSource>,
}

impl SourceRows {
    /// Reads all rows of a stream. At most a share of the memory is used for them.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch` for columns that are no columns of a table, or for invalid values; `StorageError` if the rows do not
    /// fit in a temporary file; errors of the stream.
    pub async fn read(stream: impl Into<RowStream>, memory: MemoryBudget) -> Result<Self> {
        let mut stream = stream.into();
        let schema = source_schema(stream.schema())?;
        // No file has columns without a type, except as partition values.
        let names: Vec<String> = schema.names().map(str::to_owned).collect();
        let incoming = Incoming::try_new(stream.schema(), &Arc::new(schema.clone()), &names)?;
        let mut kept = KeptRows::new(memory);
        while let Some(batch) = stream.next().await? {
            if batch.num_rows() > 0 {
                kept.add(&incoming, &batch)?;
            }
        }
        let (batches, spilled) = kept.finish()?;
        let fields = schema.to_arrow()?.fields().clone();
        let mut source = Self::of_batches(schema, fields, batches)?;
        source.spilled = spilled;
        Ok(source)
    }

    /// Rows in memory.
    ///
    /// # Errors
    ///
    /// `ValueError` for too many rows.
    pub(super) fn of_batches(schema: StructType, fields: Fields, batches: Vec<RecordBatch>) -> Result<Self> {
        let mut places = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
        for (number, batch) in batches.iter().enumerate() {
            places.extend((0..batch.num_rows()).map(|row| (number, row)));
        }
        if u32::try_from(places.len()).is_err() {
            let what = format!("the source of a merge has {} rows", places.len());
            return Err(Error::new(ErrorKind::InvalidArgument, what)
                .hint("merge it in parts of at most 4,294,967,295 rows"));
        }
        Ok(Self {
            schema,
            fields,
            batches,
            places,
            spilled: None,
        })
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.places.len() + self.spilled.as_ref().map_or(0, SpilledSource::len)
    }

    /// The size of the values of all rows.
    pub(super) fn bytes(&self) -> usize {
        let batches = self.batches.iter().map(bytes_of).sum::<usize>();
        batches + self.spilled.as_ref().map_or(0, SpilledSource::bytes)
    }

    /// The columns.
    pub(super) fn fields(&self) -> &Fields {
        &self.fields
    }

    /// The values of an expression of the source, for each batch.
    pub(super) fn evaluated<'a>(
        &'a self,
        value: &'a BoundValue,
    ) -> impl Iterator<Item = Result<ArrayRef>> + 'a {
        let spilled = self.spilled.iter().flat_map(SpilledSource::batches);
        let spilled = spilled.map(|batch| side(SOURCE, self.as_structs(&batch?)?));
        self.in_memory().chain(spilled).map(|rows| value.evaluate(&rows?))
    }

    /// The batches of rows in memory, for evaluating expressions.
    pub(super) fn in_memory(&self) -> impl Iterator<Item = Result<RecordBatch>> {
        self.batches
            .iter()
            .map(|batch| side(SOURCE, self.as_structs(batch)?))
    }

    /// The rows at these positions, as a column of structs.
    pub(super) fn take(&self, rows: &[u32]) -> Result<ArrayRef> {
        let places = rows.iter().map(|row| self.places.get(*row as usize).copied());
        let places: Option<Vec<(usize, usize)>> = places.collect();
        let places = places.ok_or_else(|| Error::internal("a row of the source is missing"))?;
        if self.batches.is_empty() {
            return Ok(self.nulls(0));
        }
        let batches: Vec<&RecordBatch> = self.batches.iter().collect();
        let taken = interleave_record_batch(&batches, &places).map_err(|error| failed(&error))?;
        self.as_structs(&taken)
    }

    pub(super) fn as_structs(&self, rows: &RecordBatch) -> Result<ArrayRef> {
        let columns = rows.columns().to_vec();
        let structs = StructArray::try_new_with_length(self.fields.clone(), columns, None, rows.num_rows());
        Ok(Arc::new(structs.map_err(|error| failed(&error))?))
    }

    /// NULL instead of a row of the source, for rows without a match.
    pub(super) fn nulls(&self, rows: usize) -> ArrayRef {
        new_null_array(&DataType::Struct(self.fields.clone()), rows)
    }
}

/// The columns of a source. Columns of Arrow's null type are NULL, as in an append.
fn source_schema(arrow: &Schema) -> Result<StructType> {
    let has_type = |field: &Field| *field.data_type() != DataType::Null;
    let fields = arrow.fields().iter().map(|field| match has_type(field) {
        true => Field::clone(field),
        false => Field::new(field.name(), DataType::Boolean, true),
    });
    let mut schema = schema_from_arrow(&Schema::new(fields.collect::<Vec<_>>()))?;
    for (field, given) in schema.fields.iter_mut().zip(arrow.fields()) {
        if !has_type(given) {
            field.data_type = PrimitiveType::Void.into();
        }
    }
    Ok(schema)
}
