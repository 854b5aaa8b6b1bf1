//! Row-level concurrency: two commits that delete different rows of one file by deletion vectors both succeed. Decides
//! which files qualify and rewrites the current transaction's actions; the caller reads and writes deletion vectors.
//!
//! Protocol: *Deletion Vectors*, *Add File and Remove File*.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use deltaic_protocol::deletion_vector::{Bitmap, Descriptor};
use deltaic_protocol::{Error, Result};

use super::cause::ConflictCause;
use crate::transaction::Proposal;
use crate::transaction::proposal::key_of;

/// A file that the current transaction changed or read and in which the winning commit deleted rows by deletion vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFile {
    /// The path, as in the winning commit.
    pub path: String,
    /// The deletion vector before both commits; `None` if no row was deleted.
    pub base: Option<Descriptor>,
    /// The deletion vector after the winning commit.
    pub winning: Descriptor,
    /// The deletion vector of the current transaction; `None` if it does not change the file.
    pub proposed: Option<Descriptor>,
    /// The rows that the current transaction depends on without changing them; `None` if there are none.
    pub read: Option<Arc<Bitmap>>,
    /// Number of rows including deleted ones; `None` if the current transaction does not change the file or has no
    /// `numRecords` for it.
    pub num_records: Option<u64>,
    /// The conflict to report if the rows are not disjoint.
    pub otherwise: ConflictCause,
}

impl SharedFile {
    /// Merges the rows that both commits deleted, as [`unite`]. Returns `None` also if the winning commit deleted a row
    /// that the current transaction depends on.
    #[must_use]
    pub fn unite(&self, base: &Bitmap, proposed: Option<&Bitmap>, winning: &Bitmap) -> Option<Bitmap> {
        let is_read = |rows: &Arc<Bitmap>| !winning.intersection(rows).is_subset(base);
        match self.read.as_ref().is_some_and(is_read) {
            true => None,
            false => unite(base, proposed, winning),
        }
    }

    /// Whether a deletion vector deletes every row. The file is then removed.
    #[must_use]
    pub fn is_emptied_by(&self, united: &Bitmap) -> bool {
        // A corrupt deletion vector may contain rows beyond the end of the file.
        let names_only = |records| united.max().is_some_and(|last| last < records);
        self.num_records
            .is_some_and(|records| united.len() == records && names_only(records))
    }
}

/// Result of merging the deleted rows of both commits in a shared file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitedVector {
    /// Both commits deleted the same row, or the winning one restored a row: a conflict.
    Overlap,
    /// The current transaction does not change the file.
    Untouched,
    /// The merged deletion vector, already written.
    Vector(Descriptor),
    /// No rows remain: the file is removed.
    Emptied,
}

/// Merges the deleted rows of both commits. Returns `None` if both deleted the same row, or if one of them restored a
/// row. If `proposed` is `None`, the current transaction deleted no rows.
///
/// ```
/// use deltaic_log::transaction::unite;
/// use deltaic_protocol::deletion_vector::Bitmap;
/// let rows = |rows: &[u64]| Bitmap::from_positions(rows.iter().copied());
/// let (base, mine) = (rows(&[1])?, rows(&[1, 2])?);
/// assert_eq!(unite(&base, Some(&mine), &rows(&[1, 3])?), Some(rows(&[1, 2, 3])?));
/// assert_eq!(unite(&base, Some(&mine), &rows(&[1, 2])?), None);
/// assert_eq!(unite(&base, Some(&mine), &rows(&[3])?), None);
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[must_use]
pub fn unite(base: &Bitmap, proposed: Option<&Bitmap>, winning: &Bitmap) -> Option<Bitmap> {
    let proposed = proposed.unwrap_or(base);
    let only_delete = base.is_subset(winning) && base.is_subset(proposed);
    let are_disjoint = winning.intersection(proposed).is_subset(base);
    (only_delete && are_disjoint).then(|| winning.union(proposed))
}

/// Rewrites the current transaction's actions on shared files to apply after the winning commit: the remove has the
/// winner's deletion vector, the add has the merged one. The add is dropped if no rows remain.
///
/// # Errors
///
/// `InternalError` if the proposal does not match the shared files, or a changed file has
/// [`UnitedVector::Untouched`] or [`UnitedVector::Overlap`].
pub fn follow(proposed: &mut Proposal, files: &[(SharedFile, UnitedVector)]) -> Result<()> {
    let places = |paths: Vec<&str>| -> HashMap<String, usize> {
        let keys = paths.into_iter().map(key_of);
        keys.enumerate().map(|(at, key)| (key, at)).collect()
    };
    let added = places(proposed.adds.iter().map(|add| add.path.as_str()).collect());
    let removed = places(
        proposed
            .removes
            .iter()
            .map(|remove| remove.path.as_str())
            .collect(),
    );
    let mut emptied = HashSet::new();
    for (file, united) in files.iter().filter(|(file, _)| file.proposed.is_some()) {
        let key = key_of(&file.path);
        let add = added.get(&key).and_then(|at| proposed.adds.get_mut(*at));
        let remove = removed.get(&key).and_then(|at| proposed.removes.get_mut(*at));
        let (Some(add), Some(remove)) = (add, remove) else {
            return Err(another_proposal(file));
        };
        match united {
            UnitedVector::Vector(united) => add.deletion_vector = Some(united.clone()),
            UnitedVector::Emptied => drop(emptied.insert(key)),
            UnitedVector::Untouched | UnitedVector::Overlap => return Err(another_proposal(file)),
        }
        remove.deletion_vector = Some(file.winning.clone());
    }
    proposed.adds.retain(|add| !emptied.contains(&key_of(&add.path)));
    Ok(())
}

fn another_proposal(file: &SharedFile) -> Error {
    let what = "the proposal does not match the shared files";
    Error::internal(what).with("path", file.path.as_str())
}

pub(super) fn vector_key(vector: Option<&Descriptor>) -> Option<(&str, &str, Option<i32>)> {
    vector.map(Descriptor::key)
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_set;
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use deltaic_protocol::ErrorKind;

    use super::*;
    use crate::transaction::samples::{add, remove, vector, version};

    fn shared(path: &str, proposed: Option<&str>) -> SharedFile {
        SharedFile {
            path: path.to_owned(),
            base: None,
            winning: vector("theirs"),
            proposed: proposed.map(vector),
            read: None,
            num_records: proposed.map(|_| 3),
            otherwise: ConflictCause::DeleteRead {
                version: version(5),
                path: path.to_owned(),
            },
        }
    }

    #[test]
    fn deleting_a_row_that_was_read_is_a_conflict() -> Result<()> {
        let rows = |rows: &[u64]| Bitmap::from_positions(rows.iter().copied());
        let (base, winning) = (rows(&[1])?, rows(&[1, 2])?);
        for (read, proposed, expected) in [
            (None, None, Some(rows(&[1, 2])?)),
            (Some(rows(&[1, 3])?), None, Some(rows(&[1, 2])?)),
            (Some(rows(&[2])?), None, None),
            (Some(rows(&[3])?), Some(rows(&[1, 4])?), Some(rows(&[1, 2, 4])?)),
            (Some(rows(&[2, 3])?), Some(rows(&[1, 4])?), None),
            (Some(rows(&[3])?), Some(rows(&[1, 2])?), None),
        ] {
            let file = SharedFile {
                read: read.clone().map(Arc::new),
                ..shared("a", None)
            };
            let united = file.unite(&base, proposed.as_ref(), &winning);
            assert_eq!(united, expected, "{read:?} {proposed:?}");
        }
        Ok(())
    }

    #[test]
    fn our_actions_follow_the_winning_commits_file_by_file() -> Result<()> {
        let mut proposed = Proposal {
            adds: vec![add("new"), add("a"), add("b")],
            removes: vec![remove("b"), remove("a")],
            ..Proposal::default()
        };
        let files = [
            (shared("a", Some("ours")), UnitedVector::Vector(vector("both"))),
            (shared("c", None), UnitedVector::Untouched),
        ];
        follow(&mut proposed, &files)?;
        let vectors = |proposed: &Proposal| -> Vec<Option<String>> {
            let adds = proposed.adds.iter().map(|add| add.deletion_vector.as_ref());
            let removes = proposed
                .removes
                .iter()
                .map(|remove| remove.deletion_vector.as_ref());
            let texts = adds.chain(removes);
            texts
                .map(|vector| Some(vector?.path_or_inline_dv.clone()))
                .collect()
        };
        let both = Some("both".to_owned());
        assert_eq!(
            vectors(&proposed),
            [None, both, None, None, Some("theirs".to_owned())]
        );
        for (file, united) in [
            (shared("a", Some("ours")), UnitedVector::Untouched),
            (shared("a", Some("ours")), UnitedVector::Overlap),
            (shared("new", Some("ours")), UnitedVector::Emptied),
            (shared("c", Some("ours")), UnitedVector::Vector(vector("both"))),
        ] {
            let error = follow(&mut proposed.clone(), &[(file, united)]).err();
            assert!(error.is_some_and(|error| error.kind() == ErrorKind::Internal));
        }
        Ok(())
    }

    #[test]
    fn a_file_without_rows_left_is_removed() -> Result<()> {
        let mut proposed = Proposal {
            adds: vec![add("a"), add("b")],
            removes: vec![remove("a"), remove("b")],
            ..Proposal::default()
        };
        let file = shared("a", Some("ours"));
        for (rows, is_emptied) in [
            (vec![0, 1], false),
            (vec![0, 1, 2], true),
            // Row 2 remains; row 7 is beyond the end of the file.
            (vec![0, 1, 7], false),
            (vec![0, 1, 2, 7], false),
        ] {
            assert_eq!(file.is_emptied_by(&Bitmap::from_positions(rows)?), is_emptied);
        }
        follow(&mut proposed, &[(file, UnitedVector::Emptied)])?;
        let added: Vec<&str> = proposed.adds.iter().map(|add| add.path.as_str()).collect();
        assert_eq!(added, ["b"]);
        assert_eq!(proposed.removes.len(), 2);
        assert_eq!(proposed.removes[0].deletion_vector, Some(vector("theirs")));
        Ok(())
    }

    proptest! {
        /// Compares with a reference implementation on sets: the rows that each commit deleted beyond the base.
        #[test]
        fn rows_unite_exactly_where_each_was_deleted_once(
            base in btree_set(0u64..12, 0..4), proposed in btree_set(0u64..12, 0..4), winning in btree_set(0u64..12, 0..4),
            mine_keeps in proptest::bool::weighted(0.9), winning_keeps in proptest::bool::weighted(0.9),
        ) {
            let of = |set: &std::collections::BTreeSet<u64>| Bitmap::from_positions(set.iter().copied()).unwrap();
            let whole = |set: &std::collections::BTreeSet<u64>, keeps: bool| {
                if keeps { set.union(&base).copied().collect() } else { set.clone() }
            };
            let (proposed, winning) = (whole(&proposed, mine_keeps), whole(&winning, winning_keeps));
            let twice = proposed.iter().any(|row| winning.contains(row) && !base.contains(row));
            let back = base.iter().any(|row| !proposed.contains(row) || !winning.contains(row));
            let united = unite(&of(&base), Some(&of(&proposed)), &of(&winning));
            prop_assert_eq!(united.is_some(), !twice && !back);
            if let Some(united) = united {
                prop_assert!(united.iter().eq(proposed.union(&winning).copied()));
            }
            let alone = unite(&of(&base), None, &of(&winning));
            let only_deleted = base.iter().all(|row| winning.contains(row));
            prop_assert_eq!(alone, only_deleted.then(|| of(&winning)));
        }
    }
}
