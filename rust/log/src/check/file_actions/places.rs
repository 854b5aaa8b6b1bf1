//! Checks the locations of the newest version's data files: each must be below the table's root, and live once.
//!
//! Protocol: *Add File and Remove File*. A path is a URI, and one location has many of them: `a`, `./a`,
//! `%61`, `x/../a`.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};

use deltaic_protocol::Result;
use object_store::path::Path;

use super::file_table::{FileEntry, FileTable};
use crate::check::findings::diagnosis::{FILE_OUTSIDE_OF_TABLE, PLACE_LIVE_TWICE};
use crate::check::findings::finding::Finding;
use deltaic_storage::location::{TableLocation, without_secrets};

/// Possible prefix of a local URI, which readers are not required to support.
const THIS_HOST: &str = "file://localhost/";

/// Reports live files outside of the table, and files that are live under several spellings of their path.
pub(in crate::check) fn examine_places(
    location: &TableLocation,
    files: &FileTable,
    mut report: impl FnMut(Finding),
) {
    // One hash per location, since all paths together are large.
    let seed = RandomState::new();
    let mut places: HashMap<u64, &FileEntry> = HashMap::new();
    let mut spellings: BTreeMap<Path, BTreeSet<&str>> = BTreeMap::new();
    for file in files.iter() {
        if let Err(error) = location.resolve(&file.path) {
            let finding = Finding::new(&FILE_OUTSIDE_OF_TABLE, error.what());
            report(finding.at(without_secrets(&file.path)));
        }
        let Ok(place) = place_of(location, &file.path) else {
            continue;
        };
        match places.entry(seed.hash_one(&place)) {
            Entry::Vacant(vacant) => {
                vacant.insert(file);
            }
            // One path with several deletion vectors is reported by the commit that adds it.
            Entry::Occupied(known) if known.get().path == file.path => {}
            Entry::Occupied(known) => {
                let known = &known.get().path;
                if place_of(location, known).is_ok_and(|other| other == place) {
                    spellings
                        .entry(place)
                        .or_default()
                        .extend([&**known, &*file.path]);
                }
            }
        }
    }
    for paths in spellings.into_values() {
        let mut shown = paths.into_iter().map(without_secrets);
        let first = shown.next().unwrap_or_default();
        let others: Vec<String> = shown.collect();
        let message = format!(
            "the file is also live as {}, which refers to the same file",
            others.join(", ")
        );
        report(Finding::new(&PLACE_LIVE_TWICE, message).at(first));
    }
}

/// Returns the location of a path, also for URIs that our reader does not support.
fn place_of(location: &TableLocation, path: &str) -> Result<Path> {
    match path.split_at_checked(THIS_HOST.len()) {
        Some((start, rest)) if start.eq_ignore_ascii_case(THIS_HOST) => {
            location.resolve(&format!("file:///{rest}"))
        }
        _ => location.resolve(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaic_storage::location::StorageOptions;

    /// Returns the diagnosis codes for a table with these live paths.
    fn reported(location: &TableLocation, paths: &[&str]) -> Vec<&'static str> {
        let mut files = FileTable::default();
        for path in paths {
            files.insert(FileEntry::of_path(path));
        }
        let mut codes = Vec::new();
        examine_places(location, &files, |finding| codes.push(finding.diagnosis.code));
        codes
    }

    #[test]
    fn a_place_has_many_spellings() -> Result<()> {
        let local = TableLocation::parse("/data/my table", Vec::new())?;
        for spelling in [
            "./d/part.parquet",
            "d//part.parquet",
            "d/%70art.parquet",
            "z/../d/part.parquet",
            "/data/my%20table/d/part.parquet",
            "file:/data/my%20table/d/part.parquet",
            "file:///data/my%20table/d/part.parquet",
            "FILE:///data/my%20table/d/part.parquet",
            "file:///data/./x/../my%20table/d/part.parquet",
        ] {
            assert_eq!(
                reported(&local, &["d/part.parquet", spelling]),
                ["PLACE_LIVE_TWICE"],
                "{spelling}"
            );
            assert!(
                reported(&local, &["d/other.parquet", spelling]).is_empty(),
                "{spelling}"
            );
        }
        let here = "file://localhost/data/my%20table/d/part.parquet";
        assert_eq!(reported(&local, &["d/part.parquet", here]).len(), 2);
        let three = ["a", "./a", "b/../a"];
        assert_eq!(reported(&local, &three), ["PLACE_LIVE_TWICE"]);
        assert!(reported(&local, &["a", "A", "a%2520", "a%20", "aa"]).is_empty());
        assert_eq!(
            reported(&local, &["../a", "../a?x"]),
            ["FILE_OUTSIDE_OF_TABLE"; 2]
        );
        Ok(())
    }

    #[test]
    fn a_bucket_has_several_schemes() -> Result<()> {
        let table = TableLocation::with_options("s3://b/t", StorageOptions::default(), Vec::new())?;
        for spelling in ["s3://b/t/x", "s3a://b/t/x", "S3A://b/t/%78"] {
            assert_eq!(
                reported(&table, &["x", spelling]),
                ["PLACE_LIVE_TWICE"],
                "{spelling}"
            );
        }
        assert_eq!(
            reported(&table, &["x", "s3a://other/t/x"]),
            ["FILE_OUTSIDE_OF_TABLE"]
        );
        Ok(())
    }
}
