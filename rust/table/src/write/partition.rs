//! Splits batches by partition values.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_ord::partition::partition;
use arrow_row::{OwnedRow, RowConverter, SortField};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use arrow_select::take::{take, take_record_batch};
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
        // Data are often sorted, so keys are compared first, and only that of each run is looked up.
        let runs = partition(&keys).map_err(failed)?.ranges();
        let starts = UInt32Array::from_iter_values(runs.iter().filter_map(|run| run.start.try_into().ok()));
        let of_runs = keys.iter().map(|key| take(key, &starts, None));
        let of_runs = of_runs
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(failed)?;
        let rows = converter.convert_columns(&of_runs).map_err(failed)?;
        let mut members: Vec<Vec<Range<usize>>> = Vec::new();
        let mut found: HashMap<OwnedRow, usize> = HashMap::new();
        for (key, run) in rows.iter().zip(runs) {
            let at = *found.entry(key.owned()).or_insert_with(|| {
                members.push(Vec::new());
                members.len() - 1
            });
            if let Some(members) = members.get_mut(at) {
                members.push(run);
            }
        }
        members
            .into_iter()
            .map(|runs| {
                let first = runs.first().map_or(0, |run| run.start);
                Ok((self.values_at(&keys, first)?, rows_of(&data, &runs)?))
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

/// The rows of runs; those of one run are not copied.
fn rows_of(batch: &RecordBatch, runs: &[Range<usize>]) -> Result<RecordBatch> {
    if let [run] = runs {
        return Ok(batch.slice(run.start, run.len()));
    }
    let rows = runs.iter().cloned().flatten();
    let picks = UInt32Array::from_iter_values(rows.filter_map(|row| row.try_into().ok()));
    take_record_batch(batch, &picks).map_err(failed)
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

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_array::{Float64Array, Int64Array};
    use deltaic_protocol::schema::PrimitiveType;

    use super::*;

    /// The rows of each partition of a table with the columns `part` and `id`.
    fn split(parts: Vec<Option<f64>>) -> Vec<(Option<String>, Vec<i64>)> {
        let field = |name: &str, kind: PrimitiveType| StructField::new(name, kind.into(), true);
        let schema = StructType {
            fields: vec![
                field("part", PrimitiveType::Double),
                field("id", PrimitiveType::Long),
            ],
        };
        let ids = Int64Array::from_iter_values((0..).take(parts.len()));
        let columns: Vec<ArrayRef> = vec![Arc::new(Float64Array::from(parts)), Arc::new(ids)];
        let arrow = Arc::new(schema.to_arrow().expect("a schema"));
        let rows = RecordBatch::try_new(arrow, columns).expect("rows");
        let splitter = Splitter::try_new(&schema, &["part".to_owned()], vec![1], ColumnMappingMode::None);
        let parts = splitter.expect("a splitter").split(&rows).expect("split");
        let ids = |rows: &RecordBatch| rows.column(0).as_primitive::<Int64Type>().values().to_vec();
        let parts = parts.into_iter();
        parts
            .map(|(mut key, rows)| (key.remove(0).1, ids(&rows)))
            .collect()
    }

    #[test]
    fn rows_of_a_partition_keep_their_order() {
        let text = |value: &str| Some(value.to_owned());
        let sorted = split(vec![Some(1.0), Some(1.0), None, None, Some(2.0)]);
        let expected = vec![
            (text("1.0"), vec![0, 1]),
            (None, vec![2, 3]),
            (text("2.0"), vec![4]),
        ];
        assert_eq!(sorted, expected);
        let mixed = split(vec![None, Some(1.0), None, Some(1.0), Some(1.0)]);
        assert_eq!(mixed, vec![(None, vec![0, 2]), (text("1.0"), vec![1, 3, 4])]);
        assert!(split(Vec::new()).is_empty());
    }

    #[test]
    fn values_that_are_equal_by_their_bits_are_of_one_partition() {
        let found = split(vec![
            Some(0.0),
            Some(-0.0),
            Some(0.0),
            Some(f64::NAN),
            Some(f64::NAN),
        ]);
        let ids: Vec<_> = found.into_iter().map(|(_, ids)| ids).collect();
        assert_eq!(ids, [vec![0, 2], vec![1], vec![3, 4]]);
    }
}
