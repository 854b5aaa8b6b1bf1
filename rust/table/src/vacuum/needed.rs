//! The files below the table's root that a table needs: live files, files of tombstones that have not expired, and the
//! deletion vectors of both.

use std::collections::HashSet;
use std::hash::BuildHasher;
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use deltaic_log::Snapshot;
use deltaic_log::removed_files::RetainedCommits;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::actions::columns::KeyColumns;
use deltaic_protocol::deletion_vector::{Descriptor, VectorLocation};
use deltaic_protocol::path_encoding::decode_path;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_storage::TableLocation;
use deltaic_storage::location::without_secrets;

use super::hidden::Hidden;
use super::paths::relative_to;

/// Needed paths relative to the root, as hashes: if two collide, a file is retained that could be deleted.
#[derive(Debug)]
pub(super) struct Needed {
    location: Arc<TableLocation>,
    seed: foldhash::quality::RandomState,
    hashes: HashSet<u64, foldhash::fast::RandomState>,
    /// Files in these folders are needed by their real paths too: links in them are not searched for.
    hidden: Hidden,
    /// Whether another path may name the same file by a symbolic link.
    has_links: bool,
}

impl Needed {
    pub(super) fn new(location: &Arc<TableLocation>, hidden: &Hidden, has_links: bool) -> Self {
        Self {
            location: Arc::clone(location),
            seed: foldhash::quality::RandomState::default(),
            hashes: HashSet::default(),
            hidden: hidden.clone(),
            has_links,
        }
    }

    /// Whether a file, given relative to the root, is needed.
    pub(super) fn contains(&self, relative: &str) -> bool {
        self.hashes.contains(&self.seed.hash_one(relative))
    }

    /// Adds what a version of a table needs, with the tombstones that are not older than `cutoff_ms`. `of` is the
    /// location of the table if it is another one.
    ///
    /// # Errors
    ///
    /// `CorruptLog` if a path or a deletion vector cannot be understood: it is unknown then which file is needed.
    pub(super) async fn add_table(
        &mut self,
        snapshot: &Snapshot,
        cutoff_ms: i64,
        of: Option<&TableLocation>,
    ) -> Result<()> {
        let (files, _) = snapshot.files(None).await?;
        for batch in &files.batches {
            for row in 0..batch.len() {
                self.add_file(
                    batch.adds.path.value(row),
                    batch.adds.descriptor(row).as_ref(),
                    of,
                )?;
            }
        }
        let (_, tombstones) = snapshot.tombstones().await?;
        for batch in &tombstones {
            let keys = KeyColumns::of(batch)?;
            let times = batch.column_by_name("deletion_timestamp");
            let times = times.and_then(|times| times.as_primitive_opt::<Int64Type>());
            for row in 0..batch.num_rows() {
                // A tombstone without a time has the time 0.
                let time = times
                    .filter(|times| times.is_valid(row))
                    .map_or(0, |times| times.value(row));
                if time >= cutoff_ms {
                    let vector = keys.key(row).deletion_vector().map(descriptor_of);
                    self.add_file(keys.path(row), vector.as_ref(), of)?;
                }
            }
        }
        Ok(())
    }

    /// Adds what the commits after `last` removed, if it was not removed before `cutoff_ms`. A checkpoint may lack these
    /// tombstones: its writer drops those older than the table's retention of that time.
    ///
    /// # Errors
    ///
    /// `CorruptLog` as above, or for a damaged commit; `StorageError`.
    pub(super) async fn add_removed(
        &mut self,
        commits: &RetainedCommits,
        (last, newest): (Option<Version>, Version),
        cutoff_ms: i64,
        of: Option<&TableLocation>,
    ) -> Result<()> {
        let first = last.map_or(Ok(Version::ZERO), Version::next)?;
        for removed in commits.removed_files(first, newest).await? {
            if removed.deletion_timestamp.is_some_and(|time| time >= cutoff_ms) {
                self.add_file(&removed.path, removed.deletion_vector.as_ref(), of)?;
            }
        }
        Ok(())
    }

    /// Adds what reading a version needs.
    ///
    /// # Errors
    ///
    /// `VersionNotFound`; those of [`Self::add_table`].
    pub(super) async fn add_version(&mut self, version: Version) -> Result<()> {
        let location = Arc::clone(&self.location);
        let kept = Snapshot::load(location, Some(version), LoadOptions::default()).await?;
        self.add_table(&kept, i64::MAX, None).await
    }

    /// Adds a data file and its deletion vector.
    fn add_file(
        &mut self,
        path: &str,
        vector: Option<&Descriptor>,
        of: Option<&TableLocation>,
    ) -> Result<()> {
        let located = |error: Error| error.with("path", without_secrets(path));
        self.add_path(path, of).map_err(located)?;
        if let Some(vector) = vector {
            match VectorLocation::of(vector) {
                Ok(VectorLocation::File(file)) => self.add_path(&file, of).map_err(located)?,
                Ok(VectorLocation::Inline(_)) => {}
                Err(error) if error.kind() == ErrorKind::PathEscape => {}
                Err(error) => return Err(located(error)),
            }
        }
        Ok(())
    }

    fn add_path(&mut self, path: &str, of: Option<&TableLocation>) -> Result<()> {
        if is_absolute(path) {
            return self.add_own(path);
        }
        match of {
            Some(other) => self.add_own(&format!("{}{path}", other.uri())),
            None => self.add_own(path),
        }
    }

    /// Adds a path of this table's log, or an absolute one.
    fn add_own(&mut self, path: &str) -> Result<()> {
        self.add_encoded(path)?;
        if path.contains('%') {
            // Some writers do not encode paths.
            self.add_encoded(&path.replace('%', "%25"))?;
        }
        Ok(())
    }

    fn add_encoded(&mut self, path: &str) -> Result<()> {
        let place = match self.location.resolve(path) {
            Ok(place) => relative_to(self.location.root(), &place),
            Err(error) if error.kind() == ErrorKind::PathEscape => None,
            Err(error) => return Err(error),
        };
        if let Some(relative) = place {
            if self.has_links || self.hidden.hides(&relative) {
                self.add_real(&relative);
            }
            self.insert(&relative);
        } else {
            let path = decode_path(path).unwrap_or_else(|_| path.to_owned());
            self.add_real(without_file_scheme(&path));
            self.add_endings(&path);
        }
        Ok(())
    }

    /// Adds the path to which symbolic links of a local path lead, if it is below the root.
    fn add_real(&mut self, path: &str) {
        if let Some(real) = self.location.real_relative(path) {
            self.insert(&real);
        }
    }

    /// Adds every ending of a path that does not begin with the root: what precedes it may be another spelling of the
    /// root, by a link, a mount or another scheme. Other files rarely have such names, and remain.
    fn add_endings(&mut self, path: &str) {
        for (at, _) in path.match_indices('/') {
            let (_, after) = path.split_at(at);
            self.insert(after.trim_start_matches('/'));
        }
    }

    fn insert(&mut self, relative: &str) {
        self.hashes.insert(self.seed.hash_one(relative));
    }
}

fn descriptor_of((storage_type, path, offset): (&str, &str, Option<i32>)) -> Descriptor {
    Descriptor {
        storage_type: storage_type.to_owned(),
        path_or_inline_dv: path.to_owned(),
        offset,
        size_in_bytes: 0,
        cardinality: 0,
    }
}

/// A local path without `file:` or `file://`.
fn without_file_scheme(path: &str) -> &str {
    match path.split_once(':') {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => {
            rest.strip_prefix("//").unwrap_or(rest)
        }
        _ => path,
    }
}

/// Whether a path of a log is absolute: it begins with a slash or a scheme.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
        || path.split_once(":/").is_some_and(|(scheme, _)| {
            scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(root: &str, paths: &[&str]) -> Result<Needed> {
        let location = Arc::new(TableLocation::parse(root, Vec::new())?);
        let mut needed = Needed::new(&location, &Hidden::default(), false);
        for path in paths {
            needed.add_path(path, None)?;
        }
        Ok(needed)
    }

    #[test]
    fn every_spelling_of_a_path_is_needed() -> Result<()> {
        for path in [
            "p=1/a b.parquet",
            "p=1/a%20b.parquet",
            "./p%3D1//a%20b.parquet",
            "z/../p=1/a%20b.parquet",
            "/data/my%20table/p=1/a%20b.parquet",
            "file:/data/my%20table/p=1/a%20b.parquet",
            "file:///data/my%20table/p=1/a%20b.parquet",
        ] {
            let needed = needed("/data/my table", &[path])?;
            assert!(needed.contains("p=1/a b.parquet"), "{path}");
            assert!(!needed.contains("a b.parquet"), "{path}");
        }
        Ok(())
    }

    #[test]
    fn a_path_that_is_not_encoded_is_needed() -> Result<()> {
        for path in [
            "p=1/a%20b.parquet",
            "p=1/./a%20b.parquet",
            "/data/t/p=1/a%20b.parquet",
            "file:///data/t/p=1/a%20b.parquet",
            "file:/mnt/t/p=1/a%20b.parquet",
        ] {
            let needed = needed("/data/t", &[path])?;
            assert!(needed.contains("p=1/a%20b.parquet"), "{path}");
            assert!(needed.contains("p=1/a b.parquet"), "{path}");
        }
        let spaced = needed("/data/my table", &["/data/my%20table/p=1/a%20b.parquet"])?;
        assert!(spaced.contains("p=1/a%20b.parquet"));
        Ok(())
    }

    #[test]
    fn every_ending_of_a_path_outside_of_the_root_is_needed() -> Result<()> {
        for path in [
            "file:/mnt/link/my%20table/p=1/a%20b.parquet",
            "file:/mnt/alias/p=1/a%20b.parquet",
            "dbfs:/data/my%20table/p=1/a%20b.parquet",
            "../alias/p=1/a%20b.parquet",
            "s3://bucket/p=1/a%20b.parquet",
        ] {
            let needed = needed("/data/my table", &[path])?;
            assert!(needed.contains("p=1/a b.parquet"), "{path}");
            assert!(!needed.contains("p=2/a b.parquet"), "{path}");
        }
        Ok(())
    }

    #[test]
    fn relative_paths_of_a_clone_are_below_the_clone() -> Result<()> {
        let clone = TableLocation::parse("/data/clone", Vec::new())?;
        let inside = TableLocation::parse("/data/t/x", Vec::new())?;
        let mut needed = needed("/data/t", &[])?;
        needed.add_path("file:/data/t/b.parquet", Some(&clone))?;
        needed.add_path("c.parquet", Some(&inside))?;
        assert!(needed.contains("b.parquet") && needed.contains("x/c.parquet"));
        assert!(!needed.contains("c.parquet"));
        Ok(())
    }

    #[test]
    fn a_path_that_cannot_be_decoded_is_an_error() -> Result<()> {
        let error = needed("/data/t", &["%FF.parquet"]).expect_err("it is no text");
        assert_eq!(error.kind(), ErrorKind::CorruptLog);
        Ok(())
    }
}
