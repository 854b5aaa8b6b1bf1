//! Checks whether a table is still the one that a snapshot was loaded from.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use deltaic_protocol::Result;
use deltaic_protocol::actions::{Add, LogicalFileKey, Remove};
use deltaic_protocol::features::CatalogTail;
use deltaic_protocol::log_path::LogFileKind;
use object_store::{Error as StoreError, ObjectStoreExt};

use super::state::Snapshot;
use crate::listing::{Listing, LogFile};
use deltaic_storage::{is_not_a_folder, store_error};

/// Current state of the file that made a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionFile {
    /// It is unchanged.
    Same,
    /// It was deleted, or is a file that may be rewritten: it was cleaned up, or the table was replaced.
    Gone,
    /// Another commit has the same name.
    Another,
}

impl Snapshot {
    /// Checks in the store whether the file that made this version is unchanged: one request.
    pub(crate) async fn version_file(&self) -> Result<VersionFile> {
        let Some(made) = self.made_of().next() else {
            return Ok(VersionFile::Gone);
        };
        let relative = made.relative();
        match self.location.store().head(&self.location.below(&relative)?).await {
            Ok(found) if made.is_still(&found) => Ok(VersionFile::Same),
            Ok(_) if made.path.kind == LogFileKind::Commit => Ok(VersionFile::Another),
            Ok(_) | Err(StoreError::NotFound { .. }) => Ok(VersionFile::Gone),
            Err(error) if is_not_a_folder(&error) => Ok(VersionFile::Gone),
            Err(error) => Err(store_error(&error, &relative).with("version", self.version())),
        }
    }

    /// Whether a listing contains a file that made this version, unchanged.
    pub(crate) fn is_shown_in(&self, listing: &Listing) -> bool {
        let mut files = listing.files.iter();
        files.any(|file| self.made_of().any(|own| own.is_same_writing(file)))
    }

    /// Whether this newer version shows all files that a commit added to `older`: each is live or was removed again.
    /// Files that `older` has are no evidence, since any commit may add them again. One file alone is no evidence,
    /// since another commit may have added a file that the user named.
    pub(crate) async fn shows_new_files(&self, older: &Self, adds: &[Add]) -> Result<bool> {
        let mut keys: HashSet<LogicalFileKey<'_>> = adds.iter().map(Add::key).collect();
        for survivors in older.adds() {
            for row in survivors.live.set_indices() {
                keys.remove(&survivors.files.keys.key(row));
            }
        }
        if keys.is_empty() {
            return Ok(false);
        }
        for survivors in self.adds() {
            for row in survivors.live.set_indices() {
                keys.remove(&survivors.files.keys.key(row));
            }
        }
        if keys.is_empty() {
            return Ok(true);
        }
        let removed = self.all_removes().await?;
        for survivors in &removed {
            for row in survivors.live.set_indices() {
                keys.remove(&survivors.files.keys.key(row));
            }
        }
        Ok(keys.is_empty())
    }

    /// Whether this version has a tombstone of one of these removes, with the same deletion timestamp.
    pub(crate) async fn shows_tombstone(&self, removes: &[Remove]) -> Result<bool> {
        let timed = removes
            .iter()
            .filter(|remove| remove.deletion_timestamp.is_some());
        let times: HashMap<LogicalFileKey<'_>, Option<i64>> = timed
            .map(|remove| (remove.key(), remove.deletion_timestamp))
            .collect();
        if times.is_empty() {
            return Ok(false);
        }
        let all = self.all_removes().await?;
        Ok(all.iter().any(|survivors| {
            let files = &survivors.files;
            let column = files.batch.column_by_name("deletion_timestamp");
            let deleted = column.and_then(|times| times.as_primitive_opt::<Int64Type>());
            let mut rows = survivors.live.set_indices();
            rows.any(|row| {
                let deleted = deleted
                    .filter(|times| times.is_valid(row))
                    .map(|times| times.value(row));
                times
                    .get(&files.keys.key(row))
                    .is_some_and(|time| *time == deleted)
            })
        }))
    }

    /// Whether a catalog specified the commits of this version; then the listing of the folder is not authoritative.
    pub(crate) fn is_from_catalog(&self) -> bool {
        self.tail == CatalogTail::Given
    }

    /// The file that made this version: its commit, or the checkpoint's file if the earlier commits were deleted.
    pub(super) fn made_of(&self) -> impl Iterator<Item = &Arc<LogFile>> + Clone {
        let newest = self.segment.commits.last();
        let checkpoint = self
            .segment
            .checkpoint
            .iter()
            .flat_map(|checkpoint| &checkpoint.files);
        newest
            .into_iter()
            .chain(checkpoint.take(usize::from(newest.is_none())))
    }
}
