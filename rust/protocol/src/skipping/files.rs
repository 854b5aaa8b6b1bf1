//! What is known about files without opening them: statistics and partition values.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, StructArray};
use arrow_buffer::BooleanBuffer;

use super::expected::Expected;
use super::ranges::Bounds;
use crate::expr::{BoundPredicate, evaluate};
use crate::statistics::{Nulls, StatisticsColumns, StatisticsSchema};
use crate::{Error, ErrorKind, Result};

/// What is known about many files, one row per file.
///
/// ```
/// use deltaic_protocol::skipping::Files;
/// use deltaic_protocol::statistics::{StatisticsBuilder, StatisticsSchema, StatisticsText};
///
/// let wanted = StatisticsSchema::num_records_only();
/// let mut builder = StatisticsBuilder::with_capacity(&wanted, 1);
/// builder.push(StatisticsText::Plain(br#"{"numRecords":3}"#));
/// let statistics = builder.finish()?;
/// assert_eq!(Files::new(1).with_statistics(&statistics, &wanted)?.len(), 1);
/// assert!(Files::new(2).with_statistics(&statistics, &wanted).is_err());
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    len: usize,
    statistics: Option<(&'a StatisticsColumns, &'a StatisticsSchema)>,
    partitions: Option<(&'a StructArray, &'a BooleanArray)>,
}

impl<'a> Files<'a> {
    /// Creates a number of files without information.
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self {
            len,
            statistics: None,
            partitions: None,
        }
    }

    /// Adds the statistics of the files, which were read under `wanted`.
    pub fn with_statistics(
        self,
        statistics: &'a StatisticsColumns,
        wanted: &'a StatisticsSchema,
    ) -> Result<Self> {
        self.ensure_len(statistics.num_records.len())?;
        Ok(Self {
            statistics: Some((statistics, wanted)),
            ..self
        })
    }

    /// Adds the typed partition values of the files, one column each. If `unreadable` is true, the values
    /// of a file are unknown.
    pub fn with_partition_values(
        self,
        values: &'a StructArray,
        unreadable: &'a BooleanArray,
    ) -> Result<Self> {
        self.ensure_len(values.len())?;
        self.ensure_len(unreadable.len())?;
        Ok(Self {
            partitions: Some((values, unreadable)),
            ..self
        })
    }

    fn ensure_len(&self, len: usize) -> Result<()> {
        if len == self.len {
            return Ok(());
        }
        let message = format!("expected statistics for {} files, got {len}", self.len);
        Err(Error::new(ErrorKind::InvalidArgument, message))
    }

    /// The number of files.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The files whose rows have this result for a predicate that refers only to partition columns, and
    /// those whose values are unreadable; `None` for any other predicate.
    pub(super) fn by_partition(
        &self,
        predicate: &BoundPredicate,
        answer: Expected,
    ) -> Result<Option<BooleanBuffer>> {
        let Some((values, unreadable)) = self.partitions else {
            return Ok(None);
        };
        let columns = predicate.columns();
        let is_partition = |column: &&str| values.column_by_name(column).is_some();
        if columns.is_empty() || !columns.iter().all(is_partition) {
            return Ok(None);
        }
        let found = match evaluate(predicate, &RecordBatch::from(values.clone())) {
            Ok(found) => found,
            // An error belongs to the rows of one of the files, which may not be read.
            Err(_) if predicate.can_fail() => return Ok(None),
            Err(error) => return Err(error),
        };
        let wanted = answer == Expected::True;
        Ok(Some(BooleanBuffer::collect_bool(self.len, |row| {
            unreadable.value(row) || (found.is_valid(row) && found.value(row) == wanted)
        })))
    }

    /// The bounds of a column; `None` if it has none, or none in byte order.
    pub(super) fn bounds(&self, path: &[String]) -> Option<Bounds> {
        if let Some(values) = self.partition(path) {
            return Some(Bounds::of_values(values));
        }
        let (statistics, wanted) = self.statistics?;
        if wanted.leaf(path)?.collated {
            return None;
        }
        Some(Bounds::of_statistics(
            field(&statistics.min, path)?,
            field(&statistics.max, path)?,
        ))
    }

    /// The files that may contain a non-NULL value of the column.
    pub(super) fn not_all_null(&self, path: &[String]) -> Option<BooleanBuffer> {
        if let (Some(values), Some((_, unreadable))) = (self.partition(path), self.partitions) {
            let present = |row| values.is_valid(row) || unreadable.value(row);
            return Some(BooleanBuffer::collect_bool(self.len, present));
        }
        let (statistics, wanted) = self.statistics?;
        if wanted.leaf(path)?.nulls != Nulls::Counted {
            return None;
        }
        let records = statistics.num_records.as_primitive_opt::<Int64Type>()?;
        let counts = null_counts(statistics, path)?;
        let (min, max) = (field(&statistics.min, path), field(&statistics.max, path));
        // Bounds imply a value, so the NULL count and the bounds contradict each other.
        let has = |bound: &Option<ArrayRef>, row| bound.as_ref().is_some_and(|bound| bound.is_valid(row));
        Some(BooleanBuffer::collect_bool(self.len, |row| {
            let count = at(&counts, row);
            count.is_none() || count != at(records, row) || has(&min, row) || has(&max, row)
        }))
    }

    /// The files that may contain a NULL in the column. A count between zero and the number of rows is
    /// inconclusive, because rows may be deleted.
    pub(super) fn not_without_null(&self, path: &[String]) -> Option<BooleanBuffer> {
        let (statistics, wanted) = self.statistics?;
        if wanted.leaf(path)?.nulls == Nulls::Unsure {
            return None;
        }
        let counts = null_counts(statistics, path)?;
        Some(BooleanBuffer::collect_bool(self.len, |row| {
            at(&counts, row) != Some(0)
        }))
    }

    /// The values of a partition column.
    fn partition(&self, path: &[String]) -> Option<ArrayRef> {
        match path {
            [name] => self.partitions?.0.column_by_name(name).cloned(),
            _ => None,
        }
    }
}

fn null_counts(statistics: &StatisticsColumns, path: &[String]) -> Option<Int64Array> {
    field(&statistics.null_count, path)?
        .as_primitive_opt::<Int64Type>()
        .cloned()
}

fn at(values: &Int64Array, row: usize) -> Option<i64> {
    values.values().get(row).copied().filter(|_| values.is_valid(row))
}

/// The column at a path below a struct of columns.
fn field(within: &ArrayRef, path: &[String]) -> Option<ArrayRef> {
    path.iter().try_fold(within.clone(), |array, name| {
        array.as_struct_opt()?.column_by_name(name).cloned()
    })
}
