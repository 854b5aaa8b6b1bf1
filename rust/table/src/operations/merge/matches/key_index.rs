//! Finds rows of the source by their keys.

use std::hash::BuildHasher;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::DataType;
use deltaic_protocol::expr::{BoundValue, JoinKey};
use deltaic_protocol::{Error, Result};
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::operations::merge::sides::failed;
use crate::operations::merge::source::SourceRows;

/// The rows of a source by their keys.
pub(in crate::operations::merge) struct KeyIndex {
    on: Vec<JoinKey>,
    converter: RowConverter,
    keys: Rows,
    /// The first row of each key.
    first: HashTable<u32>,
    /// For each row, the next one of the same key.
    next: Vec<Option<u32>>,
    hashes: RandomState,
}

impl KeyIndex {
    /// Finds the keys of all rows.
    ///
    /// # Errors
    ///
    /// Those of evaluating the keys.
    pub(in crate::operations::merge) fn try_new(source: &SourceRows, on: &[JoinKey]) -> Result<Self> {
        let fields = on
            .iter()
            .map(|key| Ok(SortField::new(key.source.data_type().to_arrow()?)));
        let converter = RowConverter::new(fields.collect::<Result<_>>()?).map_err(|error| failed(&error))?;
        let mut index = Self {
            on: on.to_vec(),
            keys: converter.empty_rows(source.len(), 0),
            converter,
            first: HashTable::new(),
            next: vec![None; source.len()],
            hashes: RandomState::default(),
        };
        let mut row = 0;
        for batch in source.in_memory() {
            let (columns, is_key) = key_columns(on.iter().map(|key| (&key.source, key.null_safe)), &batch?)?;
            let appended = index.converter.append(&mut index.keys, &columns);
            appended.map_err(|error| failed(&error))?;
            for is_key in is_key {
                if is_key {
                    index.insert(row)?;
                }
                row += 1;
            }
        }
        Ok(index)
    }

    fn insert(&mut self, row: u32) -> Result<()> {
        let (keys, hashes) = (&self.keys, &self.hashes);
        let key = keys.row(row as usize);
        let hash_of = |row: &u32| hashes.hash_one(keys.row(*row as usize).as_ref());
        let hash = hashes.hash_one(key.as_ref());
        let same = |other: &u32| keys.row(*other as usize) == key;
        match self.first.find_mut(hash, same) {
            Some(first) => {
                // The rows of a key are a list that starts with its last row.
                let before = std::mem::replace(first, row);
                let slot = self.next.get_mut(row as usize);
                *slot.ok_or_else(|| Error::internal("a row of the source is missing"))? = Some(before);
            }
            None => {
                self.first.insert_unique(hash, row, hash_of);
            }
        }
        Ok(())
    }

    /// The rows of a batch of the target that have the key of a row of the source, each with the first of these.
    ///
    /// # Errors
    ///
    /// Those of evaluating the keys.
    pub(in crate::operations::merge) fn first_matches(
        &self,
        target: &RecordBatch,
    ) -> Result<Vec<(u32, u32)>> {
        let keys = self.on.iter().map(|key| (&key.target, key.null_safe));
        let (columns, is_key) = key_columns(keys, target)?;
        let keys = self
            .converter
            .convert_columns(&columns)
            .map_err(|error| failed(&error))?;
        let rows = (0u32..).zip(&keys).zip(is_key);
        let matches = rows.filter_map(|((row, key), is_key)| {
            let same = |other: &u32| self.keys.row(*other as usize) == key;
            let first = match is_key {
                true => self.first.find(self.hashes.hash_one(key.as_ref()), same),
                false => None,
            };
            Some((row, *first?))
        });
        Ok(matches.collect())
    }

    /// All rows of the source that have the key of the first.
    pub(in crate::operations::merge) fn of_key(&self, first: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(first), |row| self.next.get(*row as usize).copied().flatten())
    }
}

/// Evaluates keys. Returns their columns and whether each row has a key: NULL equals NULL only if that is requested.
pub(in crate::operations::merge) fn key_columns<'a>(
    keys: impl Iterator<Item = (&'a BoundValue, bool)>,
    rows: &RecordBatch,
) -> Result<(Vec<ArrayRef>, Vec<bool>)> {
    let mut has_key = vec![true; rows.num_rows()];
    let mut columns = Vec::new();
    for (value, null_safe) in keys {
        let column = value.evaluate(rows)?;
        if !null_safe && let Some(nulls) = column.logical_nulls() {
            for (has_key, is_valid) in has_key.iter_mut().zip(&nulls) {
                *has_key &= is_valid;
            }
        }
        columns.push(with_equal_floats(column));
    }
    Ok((columns, has_key))
}

/// Returns values that are equal in Spark with equal bytes: 0.0 and -0.0, and every NaN.
pub(in crate::operations::merge) fn with_equal_floats(column: ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float32 => {
            let floats = column.as_primitive::<Float32Type>();
            Arc::new(floats.unary::<_, Float32Type>(|value| match value {
                value if value.is_nan() => f32::NAN,
                value => value + 0.0,
            }))
        }
        DataType::Float64 => {
            let floats = column.as_primitive::<Float64Type>();
            Arc::new(floats.unary::<_, Float64Type>(|value| match value {
                value if value.is_nan() => f64::NAN,
                value => value + 0.0,
            }))
        }
        _ => column,
    }
}
