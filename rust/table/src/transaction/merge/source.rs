//! The rows of a merge's source, kept in memory and found by their keys.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray, new_null_array};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use arrow_select::interleave::interleave_record_batch;
use deltaic_protocol::expr::{BoundValue, JoinKey, SOURCE, TARGET};
use deltaic_protocol::schema::{StructType, schema_from_arrow};
use deltaic_protocol::{Error, ErrorKind, Result};
use hashbrown::HashTable;

use crate::write::{Incoming, RowStream};

/// The rows that are merged into a table. They are kept in memory, because every one of them may be needed several times.
pub struct SourceRows {
    pub(super) schema: StructType,
    fields: Fields,
    batches: Vec<RecordBatch>,
    /// For each row, its batch and its position there.
    places: Vec<(usize, usize)>,
}

impl SourceRows {
    /// Reads all rows of a stream.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch` for columns that are no columns of a table, or for invalid values; errors of the stream.
    pub async fn read(stream: impl Into<RowStream>) -> Result<Self> {
        let mut stream = stream.into();
        let schema = schema_from_arrow(stream.schema())?;
        let incoming = Incoming::try_new(stream.schema(), &Arc::new(schema.clone()), &[])?;
        let (mut batches, mut places) = (Vec::new(), Vec::new());
        while let Some(batch) = stream.next().await? {
            if batch.num_rows() == 0 {
                continue;
            }
            places.extend((0..batch.num_rows()).map(|row| (batches.len(), row)));
            batches.push(incoming.conform(&batch)?);
        }
        if u32::try_from(places.len()).is_err() {
            let what = format!("the source of a merge has {} rows", places.len());
            return Err(Error::new(ErrorKind::InvalidArgument, what)
                .hint("merge it in parts of at most 4,294,967,295 rows"));
        }
        let fields = schema.to_arrow()?.fields().clone();
        Ok(Self {
            schema,
            fields,
            batches,
            places,
        })
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The values of an expression of the source, for each batch.
    pub(super) fn evaluated<'a>(
        &'a self,
        value: &'a BoundValue,
    ) -> impl Iterator<Item = Result<ArrayRef>> + 'a {
        let rows = self
            .batches
            .iter()
            .map(|batch| side(SOURCE, self.as_structs(batch)?));
        rows.map(|rows| value.evaluate(&rows?))
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

    fn as_structs(&self, rows: &RecordBatch) -> Result<ArrayRef> {
        let columns = rows.columns().to_vec();
        let structs = StructArray::try_new_with_length(self.fields.clone(), columns, None, rows.num_rows());
        Ok(Arc::new(structs.map_err(|error| failed(&error))?))
    }

    /// NULL instead of a row of the source, for rows without a match.
    pub(super) fn nulls(&self, rows: usize) -> ArrayRef {
        new_null_array(&DataType::Struct(self.fields.clone()), rows)
    }
}

/// The rows of a source by their keys.
pub(super) struct KeyIndex {
    converter: RowConverter,
    keys: Rows,
    /// The first row of each key.
    first: HashTable<u32>,
    /// For each row, the next one of the same key.
    next: Vec<Option<u32>>,
    hashes: RandomState,
}

impl KeyIndex {
    /// Finds the keys of all rows.
    ///
    /// # Errors
    ///
    /// Those of evaluating the keys.
    pub(super) fn try_new(source: &SourceRows, on: &[JoinKey]) -> Result<Self> {
        let fields = on
            .iter()
            .map(|key| Ok(SortField::new(key.source.data_type().to_arrow()?)));
        let converter = RowConverter::new(fields.collect::<Result<_>>()?).map_err(|error| failed(&error))?;
        let mut index = Self {
            keys: converter.empty_rows(source.len(), 0),
            converter,
            first: HashTable::new(),
            next: vec![None; source.len()],
            hashes: RandomState::new(),
        };
        let mut row = 0;
        for batch in &source.batches {
            let batch = side(SOURCE, source.as_structs(batch)?)?;
            let (columns, is_key) = key_columns(on.iter().map(|key| (&key.source, key.null_safe)), &batch)?;
            let appended = index.converter.append(&mut index.keys, &columns);
            appended.map_err(|error| failed(&error))?;
            for is_key in is_key {
                if is_key {
                    index.insert(row)?;
                }
                row += 1;
            }
        }
        Ok(index)
    }

    fn insert(&mut self, row: u32) -> Result<()> {
        let (keys, hashes) = (&self.keys, &self.hashes);
        let key = keys.row(row as usize);
        let hash_of = |row: &u32| hashes.hash_one(keys.row(*row as usize).as_ref());
        let hash = hashes.hash_one(key.as_ref());
        let same = |other: &u32| keys.row(*other as usize) == key;
        match self.first.find_mut(hash, same) {
            Some(first) => {
                // The rows of a key are a list that starts with its last row.
                let before = std::mem::replace(first, row);
                let slot = self.next.get_mut(row as usize);
                *slot.ok_or_else(|| Error::internal("a row of the source is missing"))? = Some(before);
            }
            None => {
                self.first.insert_unique(hash, row, hash_of);
            }
        }
        Ok(())
    }

    /// Calls `found` with each row of a batch of the target and each row of the source that has its key.
    ///
    /// # Errors
    ///
    /// Those of evaluating the keys, and of `found`.
    pub(super) fn find(
        &self,
        on: &[JoinKey],
        target: &RecordBatch,
        mut found: impl FnMut(u32, u32) -> Result<()>,
    ) -> Result<()> {
        let (columns, is_key) = key_columns(on.iter().map(|key| (&key.target, key.null_safe)), target)?;
        let keys = self
            .converter
            .convert_columns(&columns)
            .map_err(|error| failed(&error))?;
        for ((row, key), is_key) in (0u32..).zip(&keys).zip(is_key) {
            if !is_key {
                continue;
            }
            let same = |other: &u32| self.keys.row(*other as usize) == key;
            let mut next = self.first.find(self.hashes.hash_one(key.as_ref()), same).copied();
            while let Some(source) = next {
                found(row, source)?;
                next = self.next.get(source as usize).copied().flatten();
            }
        }
        Ok(())
    }
}

/// Evaluates keys. Returns their columns and whether each row has a key: NULL equals NULL only if that is requested.
fn key_columns<'a>(
    keys: impl Iterator<Item = (&'a BoundValue, bool)>,
    rows: &RecordBatch,
) -> Result<(Vec<ArrayRef>, Vec<bool>)> {
    let mut has_key = vec![true; rows.num_rows()];
    let mut columns = Vec::new();
    for (value, null_safe) in keys {
        let column = value.evaluate(rows)?;
        if !null_safe && let Some(nulls) = column.logical_nulls() {
            for (has_key, is_valid) in has_key.iter_mut().zip(&nulls) {
                *has_key &= is_valid;
            }
        }
        columns.push(with_equal_floats(column));
    }
    Ok((columns, has_key))
}

/// Returns values that are equal in Spark with equal bytes: 0.0 and -0.0, and every NaN.
fn with_equal_floats(column: ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float32 => {
            let floats = column.as_primitive::<Float32Type>();
            Arc::new(floats.unary::<_, Float32Type>(|value| match value {
                value if value.is_nan() => f32::NAN,
                value => value + 0.0,
            }))
        }
        DataType::Float64 => {
            let floats = column.as_primitive::<Float64Type>();
            Arc::new(floats.unary::<_, Float64Type>(|value| match value {
                value if value.is_nan() => f64::NAN,
                value => value + 0.0,
            }))
        }
        _ => column,
    }
}

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
