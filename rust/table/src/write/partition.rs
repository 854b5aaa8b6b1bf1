//! Splits batches by partition values.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_row::{OwnedRow, RowConverter, SortField};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use arrow_select::take::take;
use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
use deltaic_protocol::expr::Scalar;
use deltaic_protocol::partition::HIVE_NULL;
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

/// The values of a partition, as text for the log; `None` is NULL.
pub(super) type PartitionKey = Vec<(String, Option<String>)>;

/// Splits batches of a table's rows by partition.
pub(super) struct Splitter {
    mode: ColumnMappingMode,
    partitions: Vec<(usize, StructField)>,
    data: Vec<usize>,
    data_schema: SchemaRef,
    converter: Option<RowConverter>,
}

fn failed(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::SchemaMismatch,
        format!("the rows cannot be split by their partition values: {error}"),
    )
}

impl Splitter {
    /// `data` are the positions of the columns that files have.
    pub(super) fn try_new(
        schema: &StructType,
        partition_columns: &[String],
        data: Vec<usize>,
        mode: ColumnMappingMode,
    ) -> Result<Self> {
        let arrow = schema.to_arrow()?;
        let position = |name: &String| schema.fields.iter().position(|field| field.name == *name);
        let partitions: Vec<(usize, StructField)> = partition_columns
            .iter()
            .filter_map(|name| {
                position(name).and_then(|index| Some((index, schema.fields.get(index)?.clone())))
            })
            .collect();
        let data_schema = Arc::new(Schema::new(arrow.project(&data).map_err(failed)?.fields));
        let converter = if partitions.is_empty() {
            None
        } else {
            let fields = partitions
                .iter()
                .map(|(index, _)| SortField::new(arrow.field(*index).data_type().clone()))
                .collect();
            Some(RowConverter::new(fields).map_err(failed)?)
        };
        Ok(Self {
            mode,
            partitions,
            data,
            data_schema,
            converter,
        })
    }

    /// The positions of the partition columns.
    pub(super) fn partition_columns(&self) -> impl Iterator<Item = usize> {
        self.partitions.iter().map(|(position, _)| *position)
    }

    /// The positions of the columns that files have.
    pub(super) fn data_columns(&self) -> &[usize] {
        &self.data
    }

    /// Returns the batch's rows by partition, with the columns that files have; partitions in order of first appearance.
    pub(super) fn split(&self, batch: &RecordBatch) -> Result<Vec<(PartitionKey, RecordBatch)>> {
        let data: Vec<ArrayRef> = self
            .data
            .iter()
            .map(|index| Arc::clone(batch.column(*index)))
            .collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let data = RecordBatch::try_new_with_options(Arc::clone(&self.data_schema), data, &options)
            .map_err(failed)?;
        let Some(converter) = &self.converter else {
            return Ok(vec![(Vec::new(), data)]);
        };
        let keys: Vec<ArrayRef> = self
            .partitions
            .iter()
            .map(|(index, _)| Arc::clone(batch.column(*index)))
            .collect();
        let rows = converter.convert_columns(&keys).map_err(failed)?;
        let mut order: Vec<Vec<u32>> = Vec::new();
        let mut found: HashMap<OwnedRow, usize> = HashMap::new();
        let mut last: Option<(usize, usize)> = None;
        for (row, key) in rows.iter().enumerate() {
            let at = match last {
                // Data are often sorted, so the partition of the previous row is tried first.
                Some((before, at)) if rows.row(before) == key => at,
                _ => *found.entry(key.owned()).or_insert_with(|| {
                    order.push(Vec::new());
                    order.len() - 1
                }),
            };
            last = Some((row, at));
            if let (Some(members), Ok(row)) = (order.get_mut(at), u32::try_from(row)) {
                members.push(row);
            }
        }
        order
            .into_iter()
            .map(|members| {
                let first = members.first().copied().unwrap_or(0);
                let values = self.values_at(&keys, usize::try_from(first).unwrap_or(0))?;
                if members.len() == data.num_rows() {
                    return Ok((values, data.clone()));
                }
                let picks = UInt32Array::from(members);
                let columns = data
                    .columns()
                    .iter()
                    .map(|column| take(column, &picks, None).map_err(failed))
                    .collect::<Result<Vec<_>>>()?;
                let options = RecordBatchOptions::new().with_row_count(Some(picks.len()));
                let rows =
                    RecordBatch::try_new_with_options(Arc::clone(&self.data_schema), columns, &options);
                Ok((values, rows.map_err(failed)?))
            })
            .collect()
    }

    fn values_at(&self, keys: &[ArrayRef], row: usize) -> Result<PartitionKey> {
        self.partitions
            .iter()
            .zip(keys)
            .map(|((_, field), key)| {
                let name = name_in_log(field, self.mode).to_owned();
                Ok((name, text_of(field, scalar_at(key, field, row))?))
            })
            .collect()
    }
}

/// Returns a value as text, after verifying that it parses to the same value.
fn text_of(field: &StructField, scalar: Option<Scalar>) -> Result<Option<String>> {
    let Some(scalar) = scalar else {
        return Ok(None);
    };
    let refuse = |why: String| {
        Err(Error::new(ErrorKind::ConstraintViolation, why)
            .with("field", field.name.as_str())
            .hint(
                "the protocol cannot represent this partition value: use another value, or NULL; \
                 empty_partition_text=\"null\" replaces empty text by NULL",
            ))
    };
    match scalar.to_partition_text() {
        None => refuse("a partition value is not UTF-8 or is out of range".to_owned()),
        Some(text) if text.is_empty() || text == HIVE_NULL => {
            refuse(format!("the partition value {text:?} would be read back as NULL"))
        }
        Some(text) => Ok(Some(text)),
    }
}

fn scalar_at(array: &ArrayRef, field: &StructField, row: usize) -> Option<Scalar> {
    Scalar::of_row(array, row, field.data_type.as_primitive()?)
}
