//! The builders of all columns of the statistics of many files.

use super::column_builder::{ColumnBuilder, Side};
use super::schema::StatisticsSchema;
use crate::schema::PrimitiveType;

/// The kind of statistics of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `minValues`
    Min,
    /// `maxValues`
    Max,
    /// `nullCount`
    NullCount,
}

/// The columns by index: the number of rows, then minimum, maximum and NULL count of each leaf. `None` if
/// a leaf has no bounds.
#[derive(Debug)]
pub(super) struct Columns(pub(super) Vec<Option<ColumnBuilder>>);

impl Columns {
    pub(super) const NUM_RECORDS: usize = 0;

    pub(super) fn new(schema: &StatisticsSchema, rows: usize) -> Self {
        let count = || ColumnBuilder::new(PrimitiveType::Long, rows);
        let mut columns = Vec::with_capacity(1 + 3 * schema.leaf_count());
        columns.push(count());
        schema.for_each_leaf(&mut |leaf| {
            for side in [Side::Low, Side::High] {
                let mut column = leaf.bounds.and_then(|bounds| ColumnBuilder::new(bounds, rows));
                if let Some(column) = column.as_mut().filter(|_| leaf.was_float) {
                    column.once_float = Some(side);
                }
                columns.push(column);
            }
            columns.push(count());
        });
        Self(columns)
    }

    /// The index of one kind of statistics of a leaf.
    pub(super) fn place(kind: Kind, leaf: usize) -> usize {
        1 + 3 * leaf
            + match kind {
                Kind::Min => 0,
                Kind::Max => 1,
                Kind::NullCount => 2,
            }
    }

    pub(super) fn take_back(&mut self, row: usize) {
        self.0
            .iter_mut()
            .flatten()
            .for_each(|column| column.take_back(row));
    }

    #[inline]
    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut ColumnBuilder> {
        self.0.get_mut(place)?.as_mut()
    }
}
