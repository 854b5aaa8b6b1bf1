//! Which files of a winning commit may have a row that a predicate selects, by their partition values and statistics.

use std::sync::Arc;

use arrow_array::builder::{MapBuilder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, MapArray, StructArray};
use arrow_schema::Field;
use deltaic_protocol::Result;
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::partition::{parse_texts, unreadable_texts};
use deltaic_protocol::skipping::{Files, files_that_may_match};
use deltaic_protocol::statistics::{StatisticsBuilder, StatisticsText};

use super::columns::Columns;
use crate::transaction::WinningFile;

/// Files that a winning commit added.
pub(super) struct AddedFiles<'a> {
    columns: &'a Columns,
    files: &'a [&'a WinningFile],
    /// The typed partition columns, one row for each file.
    partitions: StructArray,
    /// The files with unreadable partition values.
    unreadable: BooleanArray,
}

impl<'a> AddedFiles<'a> {
    pub(super) fn try_new(columns: &'a Columns, files: &'a [&'a WinningFile]) -> Result<Self> {
        let texts = partition_texts(files);
        let mut unreadable = vec![false; files.len()];
        let mut values: Vec<(Arc<Field>, ArrayRef)> = Vec::with_capacity(columns.of_partitions.len());
        for (field, in_log) in &columns.of_partitions {
            let typed = parse_texts(in_log, &texts)?;
            for (found, wrong) in unreadable.iter_mut().zip(unreadable_texts(in_log, &texts).iter()) {
                *found |= wrong != Some(false);
            }
            let name = Field::new(&field.name, typed.data_type().clone(), true);
            values.push((Arc::new(name), typed));
        }
        Ok(Self {
            columns,
            files,
            partitions: match values.is_empty() {
                true => StructArray::new_empty_fields(files.len(), None),
                false => StructArray::from(values),
            },
            unreadable: BooleanArray::from(unreadable),
        })
    }

    /// The index of the first file that may have a row of the predicate.
    pub(super) fn first_that_may_match(&self, predicate: &BoundPredicate) -> Result<Option<usize>> {
        let wanted = self.columns.statistics_for(predicate);
        let mut builder = StatisticsBuilder::with_capacity(&wanted, self.files.len());
        for file in self.files {
            builder.push(match &file.stats {
                Some(stats) => StatisticsText::Plain(stats.as_bytes()),
                None => StatisticsText::Absent,
            });
        }
        let statistics = builder.finish()?;
        let mut files = Files::new(self.files.len()).with_statistics(&statistics, &wanted)?;
        if self.partitions.num_columns() > 0 {
            files = files.with_partition_values(&self.partitions, &self.unreadable)?;
        }
        Ok(match files_that_may_match(predicate, &files)? {
            None => Some(0),
            Some(kept) => kept.iter().position(|kept| kept != Some(false)),
        })
    }
}

fn partition_texts(files: &[&WinningFile]) -> MapArray {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for file in files {
        for (name, value) in &file.partition_values {
            builder.keys().append_value(name);
            builder.values().append_option(value.as_deref());
        }
        // This fails only if the numbers of keys and values differ.
        let _ = builder.append(true);
    }
    builder.finish()
}
