//! Joins copies and new versions of rows in the order of their file.

use std::sync::Arc;

use arrow_array::{Array, RecordBatch, UInt32Array};
use arrow_select::interleave::{interleave, interleave_record_batch};
use arrow_select::take::take;
use deltaic_protocol::Result;

use super::assignments::unfit;

/// The new versions of the rows of a batch to which a clause applies.
pub(super) struct Version<'a> {
    pub(super) rows: &'a RecordBatch,
    /// For each column, whether the rows keep their values.
    pub(super) is_kept: &'a [bool],
}

/// Joins copies of all rows of a batch and new versions of some, without deleted rows. Columns that all new versions keep
/// are those of the copies. Returns `None` if no row is left.
///
/// # Errors
///
/// `Internal` if the columns differ.
pub(super) fn in_order(
    copies: Option<RecordBatch>,
    versions: &[Option<Version<'_>>],
    clause_of: &[Option<usize>],
) -> Result<Option<RecordBatch>> {
    let some: Vec<&Version<'_>> = versions.iter().flatten().collect();
    let Some(copies) = copies else {
        return match some.as_slice() {
            [] => Ok(None),
            [version] => Ok(Some(version.rows.clone())),
            _ => {
                let parts: Vec<&RecordBatch> = some.iter().map(|version| version.rows).collect();
                let order = places(versions, clause_of, 0);
                let joined = interleave_record_batch(&parts, &order).map_err(|error| unfit(&error))?;
                Ok(Some(joined))
            }
        };
    };
    if clause_of.iter().all(Option::is_none) {
        return Ok(Some(copies));
    }
    let order = places(versions, clause_of, 1);
    let left = match order.len() == clause_of.len() {
        true => None,
        false => Some(rows_left(versions, clause_of)),
    };
    let columns = copies.columns().iter().enumerate().map(|(index, copy)| {
        let is_kept = |version: &&Version<'_>| version.is_kept.get(index) == Some(&true);
        match (some.iter().all(is_kept), &left) {
            (true, None) => Ok(Arc::clone(copy)),
            (true, Some(left)) => take(copy, left, None),
            (false, _) => {
                let new = some
                    .iter()
                    .filter_map(|version| version.rows.columns().get(index));
                let parts: Vec<&dyn Array> = std::iter::once(copy).chain(new).map(AsRef::as_ref).collect();
                interleave(&parts, &order)
            }
        }
    });
    let columns = columns.collect::<std::result::Result<Vec<_>, _>>();
    let rows = columns.and_then(|columns| RecordBatch::try_new(copies.schema(), columns));
    Ok(Some(rows.map_err(|error| unfit(&error))?))
}

/// The place of each row that is left: its part and its position there. New versions are the parts from `first` on.
fn places(
    versions: &[Option<Version<'_>>],
    clause_of: &[Option<usize>],
    first: usize,
) -> Vec<(usize, usize)> {
    let mut parts = first..;
    let mut next: Vec<Option<(usize, usize)>> = versions
        .iter()
        .map(|version| version.as_ref().and_then(|_| Some((parts.next()?, 0))))
        .collect();
    let mut places = Vec::with_capacity(clause_of.len());
    for (row, clause) in clause_of.iter().enumerate() {
        match clause {
            None => places.push((0, row)),
            Some(clause) => {
                if let Some(Some(place)) = next.get_mut(*clause) {
                    places.push(*place);
                    place.1 += 1;
                }
            }
        }
    }
    places
}

/// The rows of a batch that are not deleted.
fn rows_left(versions: &[Option<Version<'_>>], clause_of: &[Option<usize>]) -> UInt32Array {
    let is_left = |clause: &Option<usize>| {
        clause.is_none_or(|clause| versions.get(clause).is_some_and(Option::is_some))
    };
    let rows = (0u32..).zip(clause_of);
    UInt32Array::from_iter_values(rows.filter(|(_, clause)| is_left(clause)).map(|(row, _)| row))
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;
    use arrow_array::{ArrayRef, Int32Array};

    use super::*;

    fn rows(kept: [i32; 4], set: [i32; 4], number: usize) -> RecordBatch {
        let of = |values: [i32; 4]| Arc::new(Int32Array::from(values[..number].to_vec())) as ArrayRef;
        RecordBatch::try_from_iter([("kept", of(kept)), ("set", of(set))]).unwrap()
    }

    fn columns(rows: &RecordBatch) -> [Vec<i32>; 2] {
        [0, 1].map(|column| rows.column(column).as_primitive::<Int32Type>().values().to_vec())
    }

    #[test]
    fn new_versions_and_copies_are_in_the_order_of_the_file_without_deleted_rows() {
        let copies = rows([1, 2, 3, 4], [10, 20, 30, 40], 4);
        // Values of the kept column of a new version are not used.
        let new = rows([0, 0, 0, 0], [21, 41, 0, 0], 2);
        let version = |is_kept| Some(Version { rows: &new, is_kept });
        let joined = in_order(
            Some(copies.clone()),
            &[version(&[true, false])],
            &[None, Some(0), None, Some(0)],
        );
        assert_eq!(
            columns(&joined.unwrap().unwrap()),
            [vec![1, 2, 3, 4], vec![10, 21, 30, 41]]
        );
        let joined = in_order(
            Some(copies.clone()),
            &[None, version(&[true, false])],
            &[Some(0), Some(1), None, Some(1)],
        );
        assert_eq!(
            columns(&joined.unwrap().unwrap()),
            [vec![2, 3, 4], vec![21, 30, 41]]
        );
        let all = in_order(Some(copies), &[None], &[Some(0), None, Some(0), Some(0)]);
        assert_eq!(columns(&all.unwrap().unwrap()), [vec![2], vec![20]]);
    }

    #[test]
    fn new_versions_of_several_clauses_are_joined_without_copies() {
        let (first, second) = (
            rows([1, 3, 0, 0], [10, 30, 0, 0], 2),
            rows([2, 0, 0, 0], [20, 0, 0, 0], 1),
        );
        let version = |rows| {
            Some(Version {
                rows,
                is_kept: &[true, false],
            })
        };
        let versions = [version(&first), None, version(&second)];
        let joined = in_order(None, &versions, &[Some(0), Some(2), Some(1), Some(0)]);
        assert_eq!(
            columns(&joined.unwrap().unwrap()),
            [vec![1, 2, 3], vec![10, 20, 30]]
        );
        assert!(in_order(None, &[None], &[Some(0)]).unwrap().is_none());
    }
}
