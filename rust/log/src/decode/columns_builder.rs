//! Builders of the columns of file actions, row by row.

use std::sync::Arc;

use arrow_array::builder::{
    Int32Builder, Int64Builder, MapBuilder, MapFieldNames, NullBufferBuilder, StringBuilder,
};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StructArray, new_null_array};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use deltaic_protocol::actions::columns::{
    add_schema, add_schema_with_rows, deletion_vector_fields, remove_schema,
};
use deltaic_protocol::actions::{AddLine, PartitionText, RemoveLine};
use deltaic_protocol::deletion_vector::DescriptorText;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::file_line::{Descriptor, FileAdd, FileRemove};

pub(super) fn arrow_failed(error: &ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("the actions cannot be converted to columns: {error}"),
    )
}

/// Initial capacity: most commits contain few actions, and there may be many commits.
fn small_text() -> StringBuilder {
    StringBuilder::with_capacity(0, 0)
}

struct PartitionValuesBuilder(MapBuilder<StringBuilder, StringBuilder>);

impl PartitionValuesBuilder {
    fn new() -> Self {
        let names = MapFieldNames {
            entry: "entries".to_owned(),
            key: "key".to_owned(),
            value: "value".to_owned(),
        };
        Self(MapBuilder::with_capacity(
            Some(names),
            small_text(),
            small_text(),
            0,
        ))
    }

    fn push<'a>(&mut self, values: Option<impl Iterator<Item = (&'a str, Option<&'a str>)>>) -> Result<()> {
        let is_there = values.is_some();
        for (key, value) in values.into_iter().flatten() {
            self.0.keys().append_value(key);
            self.0.values().append_option(value);
        }
        self.0.append(is_there).map_err(|error| arrow_failed(&error))
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.0.finish())
    }
}

fn pairs<'a>(values: &'a PartitionText<'_>) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
    values.0.iter().map(|(key, value)| (&**key, value.as_deref()))
}

fn descriptor<'a>(vector: &'a DescriptorText<'_>) -> Descriptor<'a> {
    Descriptor {
        storage_type: &vector.storage_type,
        path_or_inline_dv: &vector.path_or_inline_dv,
        offset: vector.offset,
        size_in_bytes: vector.size_in_bytes,
        cardinality: vector.cardinality,
    }
}

/// Deletion vector columns. Most tables have none, so memory is allocated for the first one.
struct DeletionVectorBuilder {
    storage_type: StringBuilder,
    path_or_inline_dv: StringBuilder,
    offset: Int32Builder,
    size_in_bytes: Int32Builder,
    cardinality: Int64Builder,
    nulls: NullBufferBuilder,
    rows: usize,
    any: bool,
}

impl DeletionVectorBuilder {
    fn new() -> Self {
        Self {
            storage_type: small_text(),
            path_or_inline_dv: small_text(),
            offset: Int32Builder::with_capacity(0),
            size_in_bytes: Int32Builder::with_capacity(0),
            cardinality: Int64Builder::with_capacity(0),
            nulls: NullBufferBuilder::new(0),
            rows: 0,
            any: false,
        }
    }

    fn push(&mut self, vector: Option<Descriptor<'_>>) {
        if vector.is_some() && !self.any {
            self.any = true;
            (0..self.rows).for_each(|_| self.append(None));
        }
        self.rows += 1;
        if self.any {
            self.append(vector);
        }
    }

    fn append(&mut self, vector: Option<Descriptor<'_>>) {
        self.nulls.append(vector.is_some());
        self.offset.append_option(vector.and_then(|vector| vector.offset));
        let vector = vector.unwrap_or_default();
        self.storage_type.append_value(vector.storage_type);
        self.path_or_inline_dv.append_value(vector.path_or_inline_dv);
        self.size_in_bytes.append_value(vector.size_in_bytes);
        self.cardinality.append_value(vector.cardinality);
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        if !self.any {
            return Ok(new_null_array(
                &DataType::Struct(deletion_vector_fields()),
                self.rows,
            ));
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.storage_type.finish()),
            Arc::new(self.path_or_inline_dv.finish()),
            Arc::new(self.offset.finish()),
            Arc::new(self.size_in_bytes.finish()),
            Arc::new(self.cardinality.finish()),
        ];
        let array = StructArray::try_new(deletion_vector_fields(), columns, self.nulls.finish());
        Ok(Arc::new(array.map_err(|error| arrow_failed(&error))?))
    }
}

/// A column of optional numbers, such as row ids. Most tables have none, so memory is allocated for the first one.
#[derive(Default)]
struct SeldomNumbers {
    numbers: Vec<Option<i64>>,
    rows: usize,
}

impl SeldomNumbers {
    fn push(&mut self, number: Option<i64>) {
        if number.is_some() && self.numbers.is_empty() {
            self.numbers.resize(self.rows, None);
        }
        self.rows += 1;
        if number.is_some() || !self.numbers.is_empty() {
            self.numbers.push(number);
        }
    }

    fn any(&self) -> bool {
        !self.numbers.is_empty()
    }

    fn finish(mut self) -> ArrayRef {
        self.numbers.resize(self.rows, None);
        Arc::new(Int64Array::from(self.numbers))
    }
}

/// Creates the batch; spare capacity is released, since a snapshot keeps the columns in memory.
fn batch(schema: SchemaRef, mut columns: Vec<ArrayRef>) -> Result<Option<RecordBatch>> {
    for column in &mut columns {
        if let Some(column) = Arc::get_mut(column) {
            column.shrink_to_fit();
        }
    }
    let batch = RecordBatch::try_new(schema, columns).map_err(|error| arrow_failed(&error))?;
    Ok((batch.num_rows() > 0).then_some(batch))
}

/// The position of each add's statistics in a log file, including the quotes: first byte and length. A length
/// of 0 means none.
#[derive(Clone, Debug, Default)]
pub struct StatisticsPlaces {
    /// Offsets of the first bytes.
    pub first: Vec<u64>,
    /// Lengths in bytes.
    pub length: Vec<u32>,
}

/// Builds a batch of adds.
pub(super) struct AddsBuilder {
    path: StringBuilder,
    size: Int64Builder,
    modification_time: Int64Builder,
    partition_values: PartitionValuesBuilder,
    deletion_vector: DeletionVectorBuilder,
    base_row_id: SeldomNumbers,
    default_row_commit_version: SeldomNumbers,
    places: StatisticsPlaces,
}

impl AddsBuilder {
    pub(super) fn new() -> Self {
        Self {
            path: small_text(),
            size: Int64Builder::with_capacity(0),
            modification_time: Int64Builder::with_capacity(0),
            partition_values: PartitionValuesBuilder::new(),
            deletion_vector: DeletionVectorBuilder::new(),
            base_row_id: SeldomNumbers::default(),
            default_row_commit_version: SeldomNumbers::default(),
            places: StatisticsPlaces::default(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.first.len()
    }

    /// Adds an add and the position of its statistics in the file: first byte and length.
    pub(super) fn push(
        &mut self,
        add: &FileAdd<'_>,
        pairs: &[(&str, Option<&str>)],
        place: Option<(u64, u32)>,
    ) -> Result<()> {
        self.path.append_value(add.path);
        self.size.append_value(add.size);
        self.modification_time.append_value(add.modification_time);
        self.partition_values.push(Some(pairs.iter().copied()))?;
        self.deletion_vector.push(add.deletion_vector);
        self.base_row_id.push(add.base_row_id);
        self.default_row_commit_version
            .push(add.default_row_commit_version);
        self.push_place(place);
        Ok(())
    }

    /// Like [`AddsBuilder::push`], for the slow path.
    pub(super) fn push_line(&mut self, add: &AddLine<'_>, place: Option<(u64, u32)>) -> Result<()> {
        self.path.append_value(&*add.path);
        self.size.append_value(add.size);
        self.modification_time.append_value(add.modification_time);
        self.partition_values.push(Some(pairs(&add.partition_values)))?;
        self.deletion_vector
            .push(add.deletion_vector.as_ref().map(descriptor));
        self.base_row_id.push(add.base_row_id);
        self.default_row_commit_version
            .push(add.default_row_commit_version);
        self.push_place(place);
        Ok(())
    }

    fn push_place(&mut self, place: Option<(u64, u32)>) {
        let (first, length) = place.unwrap_or_default();
        self.places.first.push(first);
        self.places.length.push(length);
    }

    pub(super) fn finish(mut self) -> Result<Option<(RecordBatch, StatisticsPlaces)>> {
        self.places.first.shrink_to_fit();
        self.places.length.shrink_to_fit();
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.path.finish()),
            Arc::new(self.size.finish()),
            Arc::new(self.modification_time.finish()),
            self.partition_values.finish(),
            self.deletion_vector.finish()?,
        ];
        let mut schema = add_schema();
        if self.base_row_id.any() || self.default_row_commit_version.any() {
            schema = add_schema_with_rows();
            columns.push(self.base_row_id.finish());
            columns.push(self.default_row_commit_version.finish());
        }
        let places = self.places;
        Ok(batch(schema, columns)?.map(|batch| (batch, places)))
    }
}

/// Builds a batch of removes.
pub(super) struct RemovesBuilder {
    path: StringBuilder,
    deletion_timestamp: Int64Builder,
    size: Int64Builder,
    partition_values: PartitionValuesBuilder,
    deletion_vector: DeletionVectorBuilder,
    rows: usize,
}

impl RemovesBuilder {
    pub(super) fn new() -> Self {
        Self {
            path: small_text(),
            deletion_timestamp: Int64Builder::with_capacity(0),
            size: Int64Builder::with_capacity(0),
            partition_values: PartitionValuesBuilder::new(),
            deletion_vector: DeletionVectorBuilder::new(),
            rows: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows
    }

    pub(super) fn push(&mut self, remove: &FileRemove<'_>, pairs: &[(&str, Option<&str>)]) -> Result<()> {
        self.path.append_value(remove.path);
        self.deletion_timestamp.append_option(remove.deletion_timestamp);
        self.size.append_option(remove.size);
        self.partition_values
            .push(remove.has_partition_values.then(|| pairs.iter().copied()))?;
        self.deletion_vector.push(remove.deletion_vector);
        self.rows += 1;
        Ok(())
    }

    /// Like [`RemovesBuilder::push`], for the slow path.
    pub(super) fn push_line(&mut self, remove: &RemoveLine<'_>) -> Result<()> {
        self.path.append_value(&*remove.path);
        self.deletion_timestamp.append_option(remove.deletion_timestamp);
        self.size.append_option(remove.size);
        self.partition_values
            .push(remove.partition_values.as_ref().map(pairs))?;
        self.deletion_vector
            .push(remove.deletion_vector.as_ref().map(descriptor));
        self.rows += 1;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Option<RecordBatch>> {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.path.finish()),
            Arc::new(self.deletion_timestamp.finish()),
            Arc::new(self.size.finish()),
            self.partition_values.finish(),
            self.deletion_vector.finish()?,
        ];
        batch(remove_schema(), columns)
    }
}
