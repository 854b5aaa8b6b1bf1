//! Selects the files of a clustered table that are clustered, by the rules of delta-spark.
//!
//! Protocol: *Writer Requirements for Clustered Table*.

use std::collections::BTreeMap;

use deltaic_protocol::actions::Add;
use deltaic_protocol::schema::ColumnName;
use deltaic_protocol::statistics::num_records;

use super::bins::{by_partition, bytes_of};
use super::zcube::Clustered;

/// A ZCube of so many files of the target size is complete: its files are not written again.
const COMPLETE_FILES: u64 = 100;

/// A new ZCube has at most so many files of the target size.
const MOST_FILES: u64 = 150;

/// The files of a clustered table, as an optimization treats them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cubes {
    /// The files of each new ZCube.
    pub(super) new: Vec<Vec<Add>>,
    /// Files that stay as they are clustered.
    pub(super) untouched: Vec<Add>,
}

/// Selects files that are not clustered, and those of incomplete ZCubes; with `full`, also files that are clustered by
/// other columns or by another implementation.
pub(super) fn select(files: Vec<Add>, columns: &[ColumnName], target_bytes: u64, full: bool) -> Cubes {
    let mut cubes = Cubes::default();
    // Clustered tables have no partitions, but a log may state otherwise.
    for files in by_partition(files) {
        let selected = select_in_partition(files, columns, target_bytes, full, &mut cubes.untouched);
        cubes
            .new
            .extend(packed(selected, target_bytes.saturating_mul(MOST_FILES)));
    }
    cubes
}

fn select_in_partition(
    files: Vec<Add>,
    columns: &[ColumnName],
    target_bytes: u64,
    full: bool,
    untouched: &mut Vec<Add>,
) -> Vec<Add> {
    let (mut unclustered, mut otherwise) = (Vec::new(), Vec::new());
    let mut in_cubes: BTreeMap<String, Vec<Add>> = BTreeMap::new();
    for add in files {
        match Clustered::of(&add, columns) {
            Clustered::Not => unclustered.push(add),
            Clustered::InCube(id) => in_cubes.entry(id).or_default().push(add),
            Clustered::Otherwise => otherwise.push(add),
        }
    }
    let complete_bytes = target_bytes.saturating_mul(COMPLETE_FILES);
    let (complete, incomplete): (Vec<_>, Vec<_>) = in_cubes
        .into_values()
        .partition(|cube| cube.iter().map(remaining_bytes).fold(0, u64::saturating_add) >= complete_bytes);
    untouched.extend(complete.into_iter().flatten());
    if full && !otherwise.is_empty() {
        let mut selected = unclustered;
        selected.extend(incomplete.into_iter().flatten());
        selected.extend(otherwise);
        return selected;
    }
    untouched.extend(otherwise);
    if unclustered.is_empty() && incomplete.len() < 2 {
        // There is nothing that the only ZCube could be combined with.
        untouched.extend(incomplete.into_iter().flatten());
        return Vec::new();
    }
    unclustered.extend(incomplete.into_iter().flatten());
    unclustered
}

/// Divides files, in their order, into groups of at most so many bytes.
fn packed(files: Vec<Add>, most_bytes: u64) -> Vec<Vec<Add>> {
    let mut groups: Vec<Vec<Add>> = Vec::new();
    let mut used = 0_u64;
    for add in files {
        let bytes = bytes_of(&add);
        match groups.last_mut() {
            Some(group) if used.saturating_add(bytes) <= most_bytes => {
                used = used.saturating_add(bytes);
                group.push(add);
            }
            _ => {
                used = bytes;
                groups.push(vec![add]);
            }
        }
    }
    groups
}

/// The share of the bytes of a file that belongs to rows that are not deleted.
fn remaining_bytes(add: &Add) -> u64 {
    let bytes = bytes_of(add);
    let records = add.stats.as_deref().and_then(num_records);
    let (Some(vector), Some(records)) = (&add.deletion_vector, records) else {
        return bytes;
    };
    let (Ok(records), Ok(remaining)) = (
        u128::try_from(records),
        u128::try_from(records.saturating_sub(vector.cardinality)),
    ) else {
        return bytes;
    };
    let share = (u128::from(bytes) * remaining).checked_div(records);
    share.map_or(bytes, |share| u64::try_from(share).unwrap_or(bytes))
}

#[cfg(test)]
mod tests {
    use deltaic_protocol::deletion_vector::Descriptor;
    use proptest::prelude::*;

    use super::*;

    /// The target size; a ZCube is complete with 1000 bytes.
    const TARGET: u64 = 10;

    fn columns() -> Vec<ColumnName> {
        vec![ColumnName::parse("a").expect("a name")]
    }

    fn file(path: &str, size: i64) -> Add {
        Add {
            path: path.to_owned(),
            size,
            ..Add::default()
        }
    }

    fn clustered(path: &str, size: i64, cube: &str, by: &str) -> Add {
        let tags = [
            ("ZCUBE_ID", cube.to_owned()),
            ("ZCUBE_ZORDER_BY", format!("[{by:?}]")),
        ];
        Add {
            tags: Some(tags.map(|(name, value)| (name.to_owned(), Some(value))).into()),
            clustering_provider: Some("liquid".to_owned()),
            ..file(path, size)
        }
    }

    fn of_other_provider(path: &str) -> Add {
        Add {
            clustering_provider: Some("solid".to_owned()),
            ..file(path, 1)
        }
    }

    fn selected(files: &[Add], full: bool) -> Vec<Vec<String>> {
        let cubes = select(files.to_vec(), &columns(), TARGET, full);
        let mut all: Vec<Add> = cubes.new.iter().flatten().cloned().collect();
        all.extend(cubes.untouched);
        all.sort_by(|one, other| one.path.cmp(&other.path));
        let mut given = files.to_vec();
        given.sort_by(|one, other| one.path.cmp(&other.path));
        assert_eq!(all, given);
        let paths = |cube: Vec<Add>| cube.into_iter().map(|add| add.path).collect();
        cubes.new.into_iter().map(paths).collect()
    }

    fn none() -> Vec<Vec<String>> {
        Vec::new()
    }

    #[test]
    fn files_that_are_not_clustered_become_a_cube() {
        assert_eq!(selected(&[], false), none());
        assert_eq!(selected(&[], true), none());
        assert_eq!(selected(&[file("a", 5000)], false), [["a"]]);
        assert_eq!(selected(&[file("a", 1), file("b", 2)], false), [["a", "b"]]);
    }

    #[test]
    fn a_complete_cube_is_left_alone() {
        let complete = [clustered("a", 600, "1", "a"), clustered("b", 400, "1", "a")];
        let incomplete = [clustered("a", 600, "1", "a"), clustered("b", 399, "1", "a")];
        for full in [false, true] {
            assert_eq!(selected(&complete, full), none());
            assert_eq!(
                selected(&[&complete[..], &[file("n", 1)]].concat(), full),
                [["n"]]
            );
            assert_eq!(selected(&incomplete, full), none());
            assert_eq!(
                selected(&[&incomplete[..], &[file("n", 1)]].concat(), full),
                [["n", "a", "b"]]
            );
        }
    }

    #[test]
    fn a_cube_of_which_many_rows_are_deleted_is_incomplete() {
        let mut with_vector = clustered("a", 1000, "1", "a");
        with_vector.stats = Some(r#"{"numRecords":100}"#.to_owned());
        assert_eq!(selected(&[with_vector.clone(), file("n", 1)], false), [["n"]]);
        with_vector.deletion_vector = Some(Descriptor {
            storage_type: "u".to_owned(),
            path_or_inline_dv: String::new(),
            offset: None,
            size_in_bytes: 1,
            cardinality: 1,
        });
        assert_eq!(remaining_bytes(&with_vector), 990);
        assert_eq!(
            selected(&[with_vector.clone(), file("n", 1)], false),
            [["n", "a"]]
        );
        with_vector.stats = Some(r#"{"numRecords":0}"#.to_owned());
        assert_eq!(remaining_bytes(&with_vector), 1000);
    }

    #[test]
    fn incomplete_cubes_are_combined() {
        let files = [
            clustered("c", 1, "2", "a"),
            clustered("b", 1, "1", "a"),
            clustered("a", 1, "2", "a"),
        ];
        assert_eq!(selected(&files, false), [["b", "a", "c"]]);
        assert_eq!(selected(&files, true), [["b", "a", "c"]]);
    }

    /// protocol: writer-requirements-for-clustered-table.6
    #[test]
    fn only_full_selects_files_that_are_clustered_otherwise() {
        let others = [clustered("x", 5000, "8", "b"), of_other_provider("y")];
        assert_eq!(selected(&others, false), none());
        assert_eq!(selected(&others, true), [vec!["x"], vec!["y"]]);
        let own = [clustered("a", 1, "1", "a"), clustered("c", 1000, "2", "a")];
        assert_eq!(selected(&[&others[..], &own].concat(), false), none());
        assert_eq!(selected(&[&others[1..], &own].concat(), true), [["a", "y"]]);
        assert_eq!(
            selected(&[&others[..], &own, &[file("n", 1)]].concat(), false),
            [["n", "a"]]
        );
    }

    #[test]
    fn cubes_have_a_largest_size() {
        let files = [
            file("a", 1000),
            file("b", 500),
            file("c", 1),
            file("d", 1500),
            file("e", 9000),
        ];
        assert_eq!(
            selected(&files, false),
            [vec!["a", "b"], vec!["c"], vec!["d"], vec!["e"]]
        );
    }

    proptest! {
        /// If new files are as large as those whose rows they contain, a second run finds at most one cube that grows.
        #[test]
        fn complete_cubes_stay(sizes in prop::collection::vec(0i64..700, 1..40)) {
            let files: Vec<Add> = sizes.iter().enumerate().map(|(at, size)| file(&format!("{at:03}"), *size)).collect();
            let first = select(files, &columns(), TARGET, false);
            let written: Vec<Add> = first.new.iter().enumerate().map(|(at, cube)| {
                let size = cube.iter().map(|add| add.size).sum();
                clustered(&format!("c{at:03}"), size, &at.to_string(), "a")
            }).collect();
            let incomplete = written.iter().filter(|add| add.size < 1000).count();
            let second = select(written, &columns(), TARGET, false);
            let again: usize = second.new.iter().map(Vec::len).sum();
            prop_assert_eq!(again, if incomplete < 2 { 0 } else { incomplete });
        }
    }
}
