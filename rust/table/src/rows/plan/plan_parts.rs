//! Divides a plan: the rows of the files of a part are written together. After a conflict, the files of a part are added
//! again if nothing changed in it, whatever happened to the others.

use std::collections::HashMap;

use super::delete_plan::DeletePlan;
use super::planned_file::{PlannedFile, rows_in};
use crate::rows::written::RowsOfFile;

/// The bytes of a part, in files to copy: more parts would write more files than necessary.
const PART_BYTES: i64 = 128 << 20;
/// What opening a file to copy costs, in bytes: parts of many small files are small, too.
const FILE_BYTES: i64 = 4 << 20;

/// Files of a plan, whose rows are written together.
#[derive(Debug, Default)]
pub(crate) struct PlanPart<'p> {
    pub(crate) files: Vec<PlannedFile<'p>>,
}

impl<'p> PlanPart<'p> {
    /// The files of several parts.
    pub(crate) fn joined(parts: Vec<Self>) -> Self {
        Self {
            files: parts.into_iter().flat_map(|part| part.files).collect(),
        }
    }

    /// Whether files are rewritten.
    pub(crate) fn rewrites(&self) -> bool {
        self.files.iter().any(|file| file.rewritten().is_some())
    }

    /// What determines the rows that are written for the part.
    pub(crate) fn rows(&self) -> Vec<RowsOfFile> {
        self.files.iter().map(|file| rows_of(*file)).collect()
    }
}

/// What determines the rows that are written for a file.
fn rows_of(file: PlannedFile<'_>) -> RowsOfFile {
    RowsOfFile::of(file.add(), file.selected().cloned(), file.rewritten().is_some())
}

/// The bytes that the rows of a file take, more or less.
fn bytes_of(file: PlannedFile<'_>) -> i64 {
    match file {
        PlannedFile::Removed(file) => file.add.size,
        PlannedFile::Changed(file) => {
            let rows = i64::try_from(rows_in(&file.add).unwrap_or(1).max(1)).unwrap_or(i64::MAX);
            let changed = i64::try_from(file.deleted().len()).unwrap_or(i64::MAX);
            (file.add.size / rows).saturating_mul(changed)
        }
        PlannedFile::Rewritten(file) => file.add.size.saturating_add(FILE_BYTES),
    }
}

/// Divides the files of a plan: first the parts of an earlier attempt of which no file changed, by their place in
/// `earlier`; then the others.
pub(crate) fn divided<'p>(
    plan: &'p DeletePlan,
    earlier: &[&[RowsOfFile]],
) -> (Vec<usize>, Vec<PlanPart<'p>>) {
    let mut left: Vec<PlannedFile<'p>> = plan.files().collect();
    let mut again = Vec::new();
    if !earlier.is_empty() {
        let mut known: HashMap<&str, RowsOfFile> = left
            .iter()
            .map(|file| (file.add().path.as_str(), rows_of(*file)))
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
    let (mut part, mut bytes) = (PlanPart::default(), 0i64);
    for file in left {
        if bytes >= PART_BYTES {
            parts.push(std::mem::take(&mut part));
            bytes = 0;
        }
        bytes = bytes.saturating_add(bytes_of(file));
        part.files.push(file);
    }
    if !part.files.is_empty() {
        parts.push(part);
    }
    (again, parts)
}

#[cfg(test)]
mod tests {
    use deltaic_protocol::actions::Add;

    use super::*;
    use crate::rows::plan::planned_file::RemovedFile;

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
        let of_part = |part: &PlanPart<'_>| part.files.iter().map(|file| file.add().path.clone()).collect();
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
