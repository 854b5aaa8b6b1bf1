//! The statistics of a file of another writer, from the bounds in its footer.
//!
//! Protocol: *Per-file Statistics*. Bounds whose order or meaning is not certain are omitted: those of floating-point
//! columns, which do not show NaN, of INT96, and of texts in files without a column order.

use arrow_array::{Array, ArrayRef};
use arrow_select::concat::concat;
use deltaic_protocol::Result;
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::properties::IndexedColumns;
use deltaic_protocol::schema::{DataType, PrimitiveType, StructType};

use super::encode::statistics::FileStatistics;
use super::leaf_bounds::{Leaf, LeafBounds, statistics_of};
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
    let count = u64::try_from(footer.metadata.file_metadata().num_rows()).unwrap_or(0);
    let bounds = FooterBounds { footer, schema };
    Ok(statistics_of(statistics, count, schema, ColumnMappingMode::None, &bounds)?.to_json())
}

/// The bounds of all row groups.
struct FooterBounds<'f> {
    footer: &'f Footer,
    schema: &'f StructType,
}

impl LeafBounds for FooterBounds<'_> {
    fn rows(&self) -> usize {
        self.footer.metadata.num_row_groups().saturating_mul(2)
    }

    fn leaf(&self, path: &[String], data_type: &DataType) -> Result<Leaf> {
        let DataType::Primitive(primitive) = data_type else {
            return Ok(Leaf::default());
        };
        let (bounds, nulls) = leaf(self.footer, self.schema, path, *primitive)?;
        Ok(Leaf { bounds, nulls })
    }
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
