//! The files that a predicate is asked about, with what their statistics tell of each column.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_buffer::BooleanBuffer;

use super::ranges::Bounds;
use crate::statistics::{StatisticsColumns, StatisticsSchema};

/// The statistics of many files, column by column.
pub(super) struct Files<'a> {
    statistics: &'a StatisticsColumns,
    wanted: &'a StatisticsSchema,
}

impl<'a> Files<'a> {
    pub(super) fn new(statistics: &'a StatisticsColumns, wanted: &'a StatisticsSchema) -> Self {
        Self { statistics, wanted }
    }

    /// How many files there are.
    pub(super) fn len(&self) -> usize {
        self.statistics.num_records.len()
    }

    /// The bounds of a column; none where it has none, or none that can be compared byte by byte.
    pub(super) fn bounds(&self, path: &[String]) -> Option<Bounds> {
        let leaf = self.wanted.leaf(path)?;
        if leaf.collated {
            return None;
        }
        Some(Bounds {
            min: field(&self.statistics.min, path)?,
            max: field(&self.statistics.max, path)?,
        })
    }

    /// The files that may hold a value of the column that is not NULL.
    pub(super) fn not_all_null(&self, path: &[String]) -> Option<BooleanBuffer> {
        let records = self.statistics.num_records.as_primitive_opt::<Int64Type>()?;
        let counts = self.null_counts(path)?;
        Some(BooleanBuffer::collect_bool(self.len(), |row| {
            let count = at(&counts, row);
            count.is_none() || count != at(records, row)
        }))
    }

    /// The files that may hold a NULL in the column. A count between none and all tells nothing: rows may be deleted.
    pub(super) fn not_without_null(&self, path: &[String]) -> Option<BooleanBuffer> {
        let counts = self.null_counts(path)?;
        Some(BooleanBuffer::collect_bool(self.len(), |row| {
            at(&counts, row) != Some(0)
        }))
    }

    fn null_counts(&self, path: &[String]) -> Option<Int64Array> {
        self.wanted.leaf(path)?;
        field(&self.statistics.null_count, path)?
            .as_primitive_opt::<Int64Type>()
            .cloned()
    }
}

fn at(values: &Int64Array, row: usize) -> Option<i64> {
    (row < values.len() && values.is_valid(row)).then(|| values.value(row))
}

/// The column at a path below a struct of columns.
fn field(within: &ArrayRef, path: &[String]) -> Option<ArrayRef> {
    path.iter().try_fold(within.clone(), |array, name| {
        array.as_struct_opt()?.column_by_name(name).cloned()
    })
}
