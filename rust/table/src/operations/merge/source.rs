//! The rows of a merge's source.

use std::sync::{Arc, OnceLock};

use arrow_array::{Array, ArrayRef, RecordBatch, StructArray, new_null_array};
use arrow_schema::{DataType, Field, Fields, Schema};
use arrow_select::interleave::interleave;
use deltaic_protocol::expr::{BoundValue, SOURCE};
use deltaic_protocol::schema::{PrimitiveType, StructType, schema_from_arrow};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::memory_budget::MemoryBudget;

use super::sides::{failed, side};
use super::spilled_source::{KeptRows, SpilledSource};
use super::used_columns::UsedColumns;
use crate::write::{COPIED_BYTES, Incoming, RowStream, bytes_of, divided, longest_value, size_of_value};

/// The rows that are merged into a table. They are kept, because every one of them may be needed several times: in memory,
/// or in a temporary file if they are too many.
pub struct SourceRows {
    pub(super) schema: StructType,
    fields: Fields,
    batches: Vec<RecordBatch>,
    /// For each row, its batch and its position there.
    places: Vec<(usize, usize)>,
    /// For each column, the size of its largest value, once it is needed.
    longest: Vec<OnceLock<usize>>,
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
            longest: fields.iter().map(|_| OnceLock::new()).collect(),
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

    /// The positions of columns that expressions use.
    pub(super) fn columns_of(&self, used: &UsedColumns) -> Vec<usize> {
        let columns = self.fields.iter().enumerate();
        let used = columns.filter(|(_, field)| used.includes(field.name()));
        used.map(|(column, _)| column).collect()
    }

    /// The values of a column, batch by batch.
    fn parts_of(&self, column: usize) -> impl Iterator<Item = &ArrayRef> {
        let batches = self.batches.iter();
        batches.filter_map(move |batch| batch.columns().get(column))
    }

    /// The size of the values of the largest row in columns, or more.
    pub(super) fn longest_row(&self, columns: &[usize]) -> usize {
        let longest = columns.iter().filter_map(|column| {
            let known = self.longest.get(*column)?;
            Some(*known.get_or_init(|| self.parts_of(*column).map(longest_value).max().unwrap_or(0)))
        });
        longest.fold(0, usize::saturating_add)
    }

    /// The size of the values of a row in columns.
    pub(super) fn size_of_row(&self, row: u32, columns: &[usize]) -> usize {
        let Some((batch, row)) = self.places.get(row as usize) else {
            return 0;
        };
        let Some(batch) = self.batches.get(*batch) else {
            return 0;
        };
        let values = columns.iter().filter_map(|column| batch.columns().get(*column));
        values.map(|column| size_of_value(column, *row)).sum()
    }

    /// Divides rows, so that their values in columns take bounded memory.
    pub(super) fn divided<'r, R>(
        &self,
        rows: &'r [R],
        columns: &[usize],
        source_of: impl Fn(&R) -> u32,
    ) -> Vec<&'r [R]> {
        let longest = self.longest_row(columns);
        divided(rows, longest, COPIED_BYTES, |row| {
            self.size_of_row(source_of(row), columns)
        })
    }

    /// The values of rows in columns, as a column of structs.
    pub(super) fn take(&self, rows: &[u32], columns: &[usize]) -> Result<ArrayRef> {
        let places = rows.iter().map(|row| self.places.get(*row as usize).copied());
        let places: Option<Vec<(usize, usize)>> = places.collect();
        let places = places.ok_or_else(|| Error::internal("a row of the source is missing"))?;
        if self.batches.is_empty() {
            return Ok(self.nulls(0, columns));
        }
        let taken = columns.iter().map(|column| {
            let parts: Vec<&dyn Array> = self.parts_of(*column).map(AsRef::as_ref).collect();
            interleave(&parts, &places).map_err(|error| failed(&error))
        });
        let taken = taken.collect::<Result<_>>()?;
        let structs = StructArray::try_new_with_length(self.fields_at(columns), taken, None, rows.len());
        Ok(Arc::new(structs.map_err(|error| failed(&error))?))
    }

    fn fields_at(&self, columns: &[usize]) -> Fields {
        let fields = columns.iter().filter_map(|column| self.fields.get(*column));
        fields.cloned().collect()
    }

    pub(super) fn as_structs(&self, rows: &RecordBatch) -> Result<ArrayRef> {
        let columns = rows.columns().to_vec();
        let structs = StructArray::try_new_with_length(self.fields.clone(), columns, None, rows.num_rows());
        Ok(Arc::new(structs.map_err(|error| failed(&error))?))
    }

    /// NULL instead of a row of the source in columns, for rows without a match.
    pub(super) fn nulls(&self, rows: usize, columns: &[usize]) -> ArrayRef {
        new_null_array(&DataType::Struct(self.fields_at(columns)), rows)
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
