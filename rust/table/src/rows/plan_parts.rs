//! Divides a plan: the rows of the files of a part are written together. After a conflict, the files of a part are added
//! again if nothing changed in it, whatever happened to the others.

use std::collections::HashMap;

use deltaic_protocol::actions::Add;

use super::change_data::DeletedRows;
use super::changed_file::ChangedFile;
use super::delete_plan::{DeletePlan, RemovedFile, RewrittenFile, rows_in};
use super::written::RowsOfFile;

/// The bytes of a part, in files to copy: more parts would write more files than necessary.
const PART_BYTES: i64 = 128 << 20;
/// What opening a file to copy costs, in bytes: parts of many small files are small, too.
const FILE_BYTES: i64 = 4 << 20;

/// Files of a plan, whose rows are written together.
#[derive(Debug, Default)]
pub(crate) struct PlanPart<'p> {
    pub(crate) removed: Vec<&'p RemovedFile>,
    pub(crate) changed: Vec<&'p ChangedFile>,
    pub(crate) rewritten: Vec<&'p RewrittenFile>,
}

/// A file of a plan.
#[derive(Clone, Copy, Debug)]
enum PlannedFile<'p> {
    Removed(&'p RemovedFile),
    Changed(&'p ChangedFile),
    Rewritten(&'p RewrittenFile),
}

impl<'p> PlannedFile<'p> {
    fn add(self) -> &'p Add {
        match self {
            Self::Removed(file) => &file.add,
            Self::Changed(file) => &file.add,
            Self::Rewritten(file) => &file.add,
        }
    }

    fn rows(self) -> RowsOfFile {
        match self {
            Self::Removed(file) => RowsOfFile::of(&file.add, None, false),
            Self::Changed(file) => RowsOfFile::of(&file.add, Some(file.deleted().clone()), false),
            Self::Rewritten(file) => RowsOfFile::of(&file.add, Some(file.deleted.clone()), true),
        }
    }

    /// The bytes that its rows take, more or less.
    fn bytes(self) -> i64 {
        match self {
            Self::Removed(file) => file.add.size,
            Self::Changed(file) => {
                let rows = i64::try_from(rows_in(&file.add).unwrap_or(1).max(1)).unwrap_or(i64::MAX);
                let changed = i64::try_from(file.deleted().len()).unwrap_or(i64::MAX);
                (file.add.size / rows).saturating_mul(changed)
            }
            Self::Rewritten(file) => file.add.size.saturating_add(FILE_BYTES),
        }
    }
}

impl<'p> PlanPart<'p> {
    /// All files of a plan.
    pub(crate) fn whole(plan: &'p DeletePlan) -> Self {
        Self::of(files(plan))
    }

    fn of(files: impl IntoIterator<Item = PlannedFile<'p>>) -> Self {
        let mut part = Self::default();
        for file in files {
            match file {
                PlannedFile::Removed(file) => part.removed.push(file),
                PlannedFile::Changed(file) => part.changed.push(file),
                PlannedFile::Rewritten(file) => part.rewritten.push(file),
            }
        }
        part
    }

    /// The files of several parts.
    pub(crate) fn joined(parts: Vec<Self>) -> Self {
        parts.into_iter().fold(Self::default(), |mut all, part| {
            all.removed.extend(part.removed);
            all.changed.extend(part.changed);
            all.rewritten.extend(part.rewritten);
            all
        })
    }

    /// Whether it has no file.
    pub(crate) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.changed.is_empty() && self.rewritten.is_empty()
    }

    /// The files that are not rewritten.
    pub(crate) fn without_rewritten(&self) -> impl Iterator<Item = &'p Add> {
        let removed = self.removed.iter().map(|file| &file.add);
        removed.chain(self.changed.iter().map(|file| &file.add))
    }

    /// The rows that are deleted, by file.
    pub(crate) fn deleted(&self) -> Vec<DeletedRows> {
        let rewritten = self.rewritten.iter().map(|file| file.deleted_rows());
        let mut deleted = self.deleted_without_rewriting();
        deleted.extend(rewritten);
        deleted
    }

    /// The same without the rows of files that are rewritten.
    pub(crate) fn deleted_without_rewriting(&self) -> Vec<DeletedRows> {
        let whole = self.removed.iter().map(|file| DeletedRows::all(file.add.clone()));
        let changed = self.changed.iter().map(|file| file.deleted_rows());
        whole.chain(changed).collect()
    }

    /// What determines the rows that are written for the part.
    pub(crate) fn rows(&self) -> Vec<RowsOfFile> {
        let removed = self.removed.iter().map(|file| PlannedFile::Removed(file));
        let changed = self.changed.iter().map(|file| PlannedFile::Changed(file));
        let rewritten = self.rewritten.iter().map(|file| PlannedFile::Rewritten(file));
        let files = removed.chain(changed).chain(rewritten);
        files.map(|file| file.rows()).collect()
    }
}

fn files(plan: &DeletePlan) -> impl Iterator<Item = PlannedFile<'_>> {
    let removed = plan.removed.iter().map(PlannedFile::Removed);
    let changed = plan.changed.iter().map(PlannedFile::Changed);
    let rewritten = plan.rewritten.iter().map(PlannedFile::Rewritten);
    removed.chain(changed).chain(rewritten)
}

/// Divides the files of a plan: first the parts of an earlier attempt of which no file changed, by their place in
/// `earlier`; then the others.
pub(crate) fn divided<'p>(
    plan: &'p DeletePlan,
    earlier: &[&[RowsOfFile]],
) -> (Vec<usize>, Vec<PlanPart<'p>>) {
    let mut left: Vec<PlannedFile<'p>> = files(plan).collect();
    let mut again = Vec::new();
    if !earlier.is_empty() {
        let mut known: HashMap<&str, RowsOfFile> = left
            .iter()
            .map(|file| (file.add().path.as_str(), file.rows()))
            .collect();
        for (place, part) in earlier.iter().enumerate() {
            if part.iter().all(|rows| known.get(rows.path()) == Some(rows)) {
                again.push(place);
                part.iter().for_each(|rows| drop(known.remove(rows.path())));
            }
        }
        left.retain(|file| known.contains_key(file.add().path.as_str()));
    }
    let mut parts = Vec::new();
    let (mut part, mut bytes) = (Vec::new(), 0i64);
    for file in left {
        if bytes >= PART_BYTES {
            parts.push(PlanPart::of(std::mem::take(&mut part)));
            bytes = 0;
        }
        bytes = bytes.saturating_add(file.bytes());
        part.push(file);
    }
    if !part.is_empty() {
        parts.push(PlanPart::of(part));
    }
    (again, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(sizes: &[(&str, i64)]) -> DeletePlan {
        let removed = sizes.iter().map(|(path, size)| RemovedFile {
            add: Add {
                path: (*path).to_owned(),
                size: *size,
                ..Add::default()
            },
        });
        DeletePlan {
            removed: removed.collect(),
            ..DeletePlan::default()
        }
    }

    fn paths(parts: &[PlanPart<'_>]) -> Vec<Vec<String>> {
        let of_part = |part: &PlanPart<'_>| part.without_rewritten().map(|add| add.path.clone()).collect();
        parts.iter().map(of_part).collect()
    }

    #[test]
    fn a_part_ends_when_it_is_large() {
        let plan = plan(&[
            ("a", PART_BYTES - 1),
            ("b", 5),
            ("c", 5),
            ("d", PART_BYTES),
            ("e", 1),
        ]);
        let (again, parts) = divided(&plan, &[]);
        assert_eq!(
            (again.len(), paths(&parts)),
            (
                0,
                vec![
                    vec!["a".to_owned(), "b".to_owned()],
                    vec!["c".to_owned(), "d".to_owned()],
                    vec!["e".to_owned()]
                ]
            )
        );
    }

    #[test]
    fn parts_of_which_no_file_changed_are_used_again() {
        let before = plan(&[("a", PART_BYTES), ("b", PART_BYTES), ("c", PART_BYTES)]);
        let (_, parts) = divided(&before, &[]);
        let rows: Vec<Vec<RowsOfFile>> = parts.iter().map(PlanPart::rows).collect();
        let earlier: Vec<&[RowsOfFile]> = rows.iter().map(Vec::as_slice).collect();
        // The file `b` is gone, and `d` is new.
        let after = plan(&[("a", PART_BYTES), ("c", PART_BYTES), ("d", 1)]);
        let (again, parts) = divided(&after, &earlier);
        assert_eq!((again, paths(&parts)), (vec![0, 2], vec![vec!["d".to_owned()]]));
    }
}
