//! The statistics of a file of another writer, from the bounds in its footer.
//!
//! Protocol: *Per-file Statistics*. Bounds whose order or meaning is not certain are omitted: those of floating-point
//! columns, which do not show NaN, of INT96, and of texts in files without a column order.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StructArray, new_null_array};
use arrow_schema::{Field, Fields, Schema};
use arrow_select::concat::concat;
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::properties::IndexedColumns;
use deltaic_protocol::schema::{DataType, PrimitiveType, StructField, StructType};
use deltaic_protocol::{Error, Result};

use super::encode::statistics::FileStatistics;
use crate::read::{Footer, InChunks, column_at, conform};

/// Returns the statistics of a file as JSON; `schema` has its columns in the types of the table.
///
/// # Errors
///
/// Those of finding a column in the file.
pub(crate) fn footer_statistics(footer: &Footer, schema: &StructType) -> Result<String> {
    // The defaults of tables: a new one has no properties.
    let indexed = IndexedColumns::First(32);
    let statistics = FileStatistics::new(schema, &indexed, 32, ColumnMappingMode::None);
    let mut nulls = NullCounts(Vec::new());
    let (fields, columns) = bounds_of(footer, schema, &schema.fields, &mut Vec::new(), &mut nulls)?;
    let rows = footer.metadata.num_row_groups().saturating_mul(2);
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let bounds = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|error| Error::internal(format!("bounds do not fit together: {error}")))?;
    let count = u64::try_from(footer.metadata.file_metadata().num_rows()).unwrap_or(0);
    Ok(statistics
        .of_bounds(count, &bounds, &|path| nulls.of(path))
        .to_json())
}

/// The number of NULLs of each leaf; `None` if it is unknown.
struct NullCounts(Vec<(Vec<String>, Option<u64>)>);

impl NullCounts {
    fn of(&self, path: &[&str]) -> Option<u64> {
        let found = self.0.iter().find(|(known, _)| known.iter().eq(path.iter()));
        found.and_then(|(_, count)| *count)
    }
}

/// Returns the minima and maxima of all row groups as rows, for each field; NULL for unknown ones.
fn bounds_of(
    footer: &Footer,
    schema: &StructType,
    fields: &[StructField],
    above: &mut Vec<String>,
    nulls: &mut NullCounts,
) -> Result<(Fields, Vec<ArrayRef>)> {
    let rows = footer.metadata.num_row_groups().saturating_mul(2);
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(fields.len());
    for field in fields {
        above.push(field.name.clone());
        let column: ArrayRef = match &field.data_type {
            DataType::Struct(inner) => {
                let (fields, columns) = bounds_of(footer, schema, &inner.fields, above, nulls)?;
                Arc::new(
                    StructArray::try_new_with_length(fields, columns, None, rows)
                        .map_err(|error| Error::internal(format!("bounds do not fit together: {error}")))?,
                )
            }
            DataType::Primitive(primitive) => {
                let (bounds, count) = leaf(footer, schema, above, *primitive)?;
                nulls.0.push((above.clone(), count));
                match bounds {
                    Some(bounds) => bounds,
                    None => new_null_array(&primitive.to_arrow()?, rows),
                }
            }
            other => new_null_array(&other.to_arrow()?, rows),
        };
        above.pop();
        columns.push(column);
    }
    let fields = fields.iter().zip(&columns);
    let fields = fields.map(|(field, column)| Field::new(&field.name, column.data_type().clone(), true));
    Ok((fields.collect(), columns))
}

/// The bounds of a leaf, if they are certain, and the number of its NULLs, if it is known.
fn leaf(
    footer: &Footer,
    schema: &StructType,
    path: &[String],
    primitive: PrimitiveType,
) -> Result<(Option<ArrayRef>, Option<u64>)> {
    let InChunks::Column(column) = column_at(schema, path, footer, ColumnMappingMode::None)? else {
        return Ok((None, None));
    };
    let file = &footer.metadata;
    let Some(converter) = column.converter(file) else {
        return Ok((None, None));
    };
    let groups = file.row_groups();
    let Ok(counts) = converter.row_group_null_counts(groups) else {
        return Ok((None, None));
    };
    let all = (counts.null_count() == 0).then(|| {
        counts
            .values()
            .iter()
            .fold(0, |sum: u64, one| sum.saturating_add(*one))
    });
    // A footer does not show whether there is a NaN.
    if matches!(primitive, PrimitiveType::Float | PrimitiveType::Double) {
        return Ok((None, all));
    }
    let (Ok(min), Ok(max)) = (
        converter.row_group_mins(groups),
        converter.row_group_maxes(groups),
    ) else {
        return Ok((None, all));
    };
    let is_certain = groups.iter().enumerate().all(|(at, group)| {
        let is_empty = counts.is_valid(at)
            && i64::try_from(counts.value(at)).is_ok_and(|nulls| nulls == group.num_rows());
        is_empty || (column.has_bounds(file, group) && min.is_valid(at) && max.is_valid(at))
    });
    if !is_certain {
        return Ok((None, all));
    }
    let wanted = DataType::Primitive(primitive);
    let both = concat(&[min.as_ref(), max.as_ref()]).ok();
    Ok((
        both.and_then(|both| conform(&both, &wanted, "", ColumnMappingMode::None).ok()),
        all,
    ))
}
