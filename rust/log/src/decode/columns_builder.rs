//! Building the columns of file actions row by row.

use std::sync::Arc;

use arrow_array::builder::{
    Int32Builder, Int64Builder, MapBuilder, MapFieldNames, NullBufferBuilder, StringBuilder,
};
use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_schema::{ArrowError, SchemaRef};
use deltaic_protocol::actions::columns::{Statistics, add_schema, deletion_vector_fields, remove_schema};
use deltaic_protocol::actions::{AddLine, PartitionText, RemoveLine};
use deltaic_protocol::deletion_vector::DescriptorText;
use deltaic_protocol::{Error, ErrorKind, Result};

pub(super) fn arrow_failed(error: &ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("the actions do not fit into columns: {error}"),
    )
}

/// Most commits hold a handful of actions and there may be many: room is made when it is needed.
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

    fn push(&mut self, values: Option<&PartitionText<'_>>) -> Result<()> {
        for (key, value) in values.iter().flat_map(|values| &values.0) {
            self.0.keys().append_value(&**key);
            self.0.values().append_option(value.as_deref());
        }
        self.0
            .append(values.is_some())
            .map_err(|error| arrow_failed(&error))
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.0.finish())
    }
}

struct DeletionVectorBuilder {
    storage_type: StringBuilder,
    path_or_inline_dv: StringBuilder,
    offset: Int32Builder,
    size_in_bytes: Int32Builder,
    cardinality: Int64Builder,
    present: Vec<bool>,
}

impl DeletionVectorBuilder {
    fn new() -> Self {
        Self {
            storage_type: small_text(),
            path_or_inline_dv: small_text(),
            offset: Int32Builder::with_capacity(0),
            size_in_bytes: Int32Builder::with_capacity(0),
            cardinality: Int64Builder::with_capacity(0),
            present: Vec::new(),
        }
    }

    fn push(&mut self, vector: Option<&DescriptorText<'_>>) {
        self.storage_type
            .append_value(vector.map_or("", |vector| &vector.storage_type));
        self.path_or_inline_dv
            .append_value(vector.map_or("", |vector| &vector.path_or_inline_dv));
        self.offset.append_option(vector.and_then(|vector| vector.offset));
        self.size_in_bytes
            .append_value(vector.map_or(0, |vector| vector.size_in_bytes));
        self.cardinality
            .append_value(vector.map_or(0, |vector| vector.cardinality));
        self.present.push(vector.is_some());
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        let mut nulls = NullBufferBuilder::new(self.present.len());
        self.present.drain(..).for_each(|present| nulls.append(present));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.storage_type.finish()),
            Arc::new(self.path_or_inline_dv.finish()),
            Arc::new(self.offset.finish()),
            Arc::new(self.size_in_bytes.finish()),
            Arc::new(self.cardinality.finish()),
        ];
        let array = StructArray::try_new(deletion_vector_fields(), columns, nulls.finish());
        Ok(Arc::new(array.map_err(|error| arrow_failed(&error))?))
    }
}

fn batch(schema: SchemaRef, columns: Vec<ArrayRef>) -> Result<Option<RecordBatch>> {
    let batch = RecordBatch::try_new(schema, columns).map_err(|error| arrow_failed(&error))?;
    Ok((batch.num_rows() > 0).then_some(batch))
}

/// Builds a batch of adds.
pub(super) struct AddsBuilder {
    statistics: Statistics,
    path: StringBuilder,
    size: Int64Builder,
    modification_time: Int64Builder,
    partition_values: PartitionValuesBuilder,
    deletion_vector: DeletionVectorBuilder,
    stats: StringBuilder,
}

impl AddsBuilder {
    pub(super) fn new(statistics: Statistics) -> Self {
        Self {
            statistics,
            path: small_text(),
            size: Int64Builder::with_capacity(0),
            modification_time: Int64Builder::with_capacity(0),
            partition_values: PartitionValuesBuilder::new(),
            deletion_vector: DeletionVectorBuilder::new(),
            stats: small_text(),
        }
    }

    pub(super) fn push(&mut self, add: &AddLine<'_>) -> Result<()> {
        self.path.append_value(&*add.path);
        self.size.append_value(add.size);
        self.modification_time.append_value(add.modification_time);
        self.partition_values.push(Some(&add.partition_values))?;
        self.deletion_vector.push(add.deletion_vector.as_ref());
        if self.statistics == Statistics::Text {
            // Statistics that are not a JSON string cannot be used, and harm nothing.
            self.stats.append_option(
                add.stats
                    .and_then(|raw| serde_json::from_str::<String>(raw.get()).ok()),
            );
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) -> Result<Option<RecordBatch>> {
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.path.finish()),
            Arc::new(self.size.finish()),
            Arc::new(self.modification_time.finish()),
            self.partition_values.finish(),
            self.deletion_vector.finish()?,
        ];
        if self.statistics == Statistics::Text {
            columns.push(Arc::new(self.stats.finish()));
        }
        batch(add_schema(self.statistics), columns)
    }
}

/// Builds a batch of removes.
pub(super) struct RemovesBuilder {
    path: StringBuilder,
    deletion_timestamp: Int64Builder,
    size: Int64Builder,
    partition_values: PartitionValuesBuilder,
    deletion_vector: DeletionVectorBuilder,
}

impl RemovesBuilder {
    pub(super) fn new() -> Self {
        Self {
            path: small_text(),
            deletion_timestamp: Int64Builder::with_capacity(0),
            size: Int64Builder::with_capacity(0),
            partition_values: PartitionValuesBuilder::new(),
            deletion_vector: DeletionVectorBuilder::new(),
        }
    }

    pub(super) fn push(&mut self, remove: &RemoveLine<'_>) -> Result<()> {
        self.path.append_value(&*remove.path);
        self.deletion_timestamp.append_option(remove.deletion_timestamp);
        self.size.append_option(remove.size);
        self.partition_values.push(remove.partition_values.as_ref())?;
        self.deletion_vector.push(remove.deletion_vector.as_ref());
        Ok(())
    }

    pub(super) fn finish(&mut self) -> Result<Option<RecordBatch>> {
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
