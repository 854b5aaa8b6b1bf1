//! The statistics of a file from the bounds of its leaf columns, instead of its rows.
//!
//! Protocol: *Per-file Statistics*.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StructArray, new_null_array};
use arrow_schema::{Field, Fields, Schema};
use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::{Error, Result};

use super::encode::statistics::FileStatistics;

/// What is known of the leaf columns of a file.
pub(super) trait LeafBounds {
    /// The number of bounds of each leaf.
    fn rows(&self) -> usize;

    /// What is known of a leaf, an array or a map, by the names in the file.
    fn leaf(&self, path: &[String], data_type: &DataType) -> Result<Leaf>;
}

/// What is known of a leaf.
#[derive(Default)]
pub(super) struct Leaf {
    /// Values between which all others are, in the type of the table; `None` if they are unknown.
    pub(super) bounds: Option<ArrayRef>,
    /// The number of NULLs.
    pub(super) nulls: Option<u64>,
}

/// Returns the statistics of a file with this number of rows; `statistics` have no rows yet.
///
/// # Errors
///
/// Those of the bounds.
pub(super) fn statistics_of(
    statistics: FileStatistics,
    num_records: u64,
    schema: &StructType,
    mode: ColumnMappingMode,
    known: &impl LeafBounds,
) -> Result<FileStatistics> {
    let mut walk = Walk {
        known,
        mode,
        above: Vec::new(),
        nulls: Vec::new(),
    };
    let (fields, columns) = walk.bounds_of(&schema.fields)?;
    let options = RecordBatchOptions::new().with_row_count(Some(known.rows()));
    let bounds = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(misfit)?;
    let nulls_of = |path: &[&str]| {
        let found = walk.nulls.iter().find(|(leaf, _)| leaf.iter().eq(path.iter()));
        found.and_then(|(_, count)| *count)
    };
    Ok(statistics.of_bounds(num_records, &bounds, &nulls_of))
}

struct Walk<'k, K> {
    known: &'k K,
    mode: ColumnMappingMode,
    above: Vec<String>,
    /// The number of NULLs of each leaf; `None` if it is unknown.
    nulls: Vec<(Vec<String>, Option<u64>)>,
}

impl<K: LeafBounds> Walk<'_, K> {
    /// Returns the bounds as rows, for each field; NULL for unknown ones.
    fn bounds_of(&mut self, fields: &[StructField]) -> Result<(Fields, Vec<ArrayRef>)> {
        let rows = self.known.rows();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(fields.len());
        for field in fields {
            self.above.push(name_in_log(field, self.mode).to_owned());
            let column: ArrayRef = match &field.data_type {
                DataType::Struct(inner) => {
                    let (fields, columns) = self.bounds_of(&inner.fields)?;
                    let column = StructArray::try_new_with_length(fields, columns, None, rows);
                    Arc::new(column.map_err(misfit)?)
                }
                other => {
                    let Leaf { bounds, nulls } = self.known.leaf(&self.above, other)?;
                    self.nulls.push((self.above.clone(), nulls));
                    match bounds {
                        Some(bounds) => bounds,
                        None => new_null_array(&other.to_arrow()?, rows),
                    }
                }
            };
            self.above.pop();
            columns.push(column);
        }
        let fields = fields.iter().zip(&columns);
        let fields = fields.map(|(field, column)| Field::new(&field.name, column.data_type().clone(), true));
        Ok((fields.collect(), columns))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is the argument of map_err")]
fn misfit(error: arrow_schema::ArrowError) -> Error {
    Error::internal(format!("bounds do not fit together: {error}"))
}
