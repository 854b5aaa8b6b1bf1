//! Caches columns that were decoded by filters, for the rows that match.

use std::collections::VecDeque;

use arrow_array::{Array, ArrayRef, BooleanArray, new_empty_array};
use arrow_schema::DataType;
use arrow_select::concat::concat;
use arrow_select::filter::filter;
use deltaic_protocol::Result;

use crate::read::columns::unfit::unfit;
use crate::read::parquet::footer::miscounted;

/// The maximum bytes of decoded values that filters cache for the output, for each row group.
pub(crate) const CACHED_BYTES: usize = 32 << 20;

/// A column of the matching rows, in order.
pub(crate) struct CachedColumn {
    data_type: DataType,
    parts: VecDeque<ArrayRef>,
}

impl CachedColumn {
    pub(crate) fn new(data_type: DataType, parts: VecDeque<ArrayRef>) -> Self {
        Self { data_type, parts }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.get_array_memory_size()).sum()
    }

    /// Keeps only the matching rows.
    pub(crate) fn retain(&mut self, matching: &BooleanArray) -> Result<()> {
        let mut first = 0;
        for part in &mut self.parts {
            let of_part = matching.slice(first, part.len());
            first += part.len();
            *part = filter(part, &of_part).map_err(unfit)?;
        }
        Ok(())
    }

    /// Removes and returns the next rows. The rest shares no memory with them, except for the part that contains rows
    /// of both.
    pub(crate) fn take(&mut self, rows: usize) -> Result<ArrayRef> {
        let mut taken: Vec<ArrayRef> = Vec::new();
        let mut left = rows;
        while left > 0 {
            let Some(part) = self.parts.pop_front() else {
                let [has, claimed] = [rows - left, rows].map(|rows| u64::try_from(rows).unwrap_or(u64::MAX));
                return Err(miscounted(has, claimed));
            };
            let more = part.len().min(left);
            if more < part.len() {
                self.parts.push_front(part.slice(more, part.len() - more));
            }
            taken.push(part.slice(0, more));
            left -= more;
        }
        match taken.as_slice() {
            [] => Ok(new_empty_array(&self.data_type)),
            [one] => Ok(one.clone()),
            several => {
                let several: Vec<&dyn Array> = several.iter().map(AsRef::as_ref).collect();
                concat(&several).map_err(unfit)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Int32Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;

    use super::*;

    proptest::proptest! {
        #[test]
        fn rows_come_in_their_order_whatever_the_parts(
            parts in proptest::collection::vec(0usize..9, 0..8),
            asked in proptest::collection::vec(0usize..7, 0..12),
            seed in proptest::prelude::any::<u64>(),
        ) {
            let all: usize = parts.iter().sum();
            let matches = |row: usize| (seed >> (row % 64)) & 1 == 1;
            let mut first = 0i32;
            let arrays = parts.iter().map(|length| {
                let end = first + *length as i32;
                let array: ArrayRef = Arc::new((first..end).map(Some).collect::<Int32Array>());
                first = end;
                array
            });
            let mut column = CachedColumn::new(DataType::Int32, arrays.collect());
            let matching: BooleanArray = (0..all).map(|row| Some(matches(row))).collect();
            column.retain(&matching).expect("they are as many");
            let expected: Vec<i32> = (0..all).filter(|row| matches(*row)).map(|row| row as i32).collect();
            let mut found: Vec<i32> = vec![];
            for rows in asked {
                match column.take(rows) {
                    Ok(array) => {
                        proptest::prop_assert_eq!(array.len(), rows);
                        found.extend(array.as_primitive::<Int32Type>().values());
                    }
                    Err(_) => {
                        proptest::prop_assert!(found.len() + rows > expected.len());
                        return Ok(());
                    }
                }
            }
            proptest::prop_assert_eq!(&found[..], &expected[..found.len()]);
        }
    }
}
