//! Finds the files that the log removed since the last vacuum, without listing the table.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_log::removed_files::RetainedCommits;
use deltaic_protocol::deletion_vector::VectorLocation;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_storage::TableLocation;

use super::found::{FileToDelete, Found};
use super::hidden::Hidden;
use super::last_vacuum::last_vacuum;
use super::needed::Needed;
use super::paths::relative_to;

/// Returns the files that commits up to `last` removed before `cutoff_ms`, and their change data files, that are not
/// needed: of the commits after the last vacuum, or of all commits.
///
/// # Errors
///
/// `VersionNotFound` if a commit since the last vacuum no longer exists; `CorruptLog` for a damaged one; `StorageError`.
pub(super) async fn removed_by_log(
    location: &Arc<TableLocation>,
    commits: &RetainedCommits,
    last: Option<Version>,
    (hidden, needed): (&Hidden, &Needed),
    cutoff_ms: i64,
) -> Result<Found> {
    let mut found = Found {
        folders: 1,
        ..Found::default()
    };
    let Some(last) = last else {
        return Ok(found);
    };
    let first = match last_vacuum(location).await? {
        Some(version) => version.next()?,
        None => Version::ZERO,
    };
    if first > last {
        return Ok(found);
    }
    let oldest = commits.oldest_without_gap(last);
    if oldest.is_none_or(|oldest| oldest > first) {
        let message =
            format!("the log does not hold all commits since the last vacuum: commit {first} was cleaned up");
        return Err(Error::new(ErrorKind::VersionNotFound, message)
            .with("version", first)
            .hint("vacuum in the mode \"full\", which lists the table"));
    }
    let mut files: BTreeMap<String, u64> = BTreeMap::new();
    for removed in commits.removed_files(first, last).await? {
        if removed.deletion_timestamp.unwrap_or(0) >= cutoff_ms {
            continue;
        }
        let size = u64::try_from(removed.size.unwrap_or(0)).unwrap_or(0);
        let vector = match &removed.deletion_vector {
            Some(vector) => match VectorLocation::of(vector)? {
                VectorLocation::File(path) => {
                    let bytes = u64::try_from(vector.size_in_bytes).unwrap_or(0);
                    Some((path.into_owned(), bytes))
                }
                VectorLocation::Inline(_) => None,
            },
            None => None,
        };
        for (path, size) in std::iter::once((removed.path, size)).chain(vector) {
            // Files outside of the table belong to another one.
            let Ok(place) = location.resolve(&path) else {
                continue;
            };
            if let Some(relative) = relative_to(location.root(), &place)
                && !hidden.hides(&relative)
                && !needed.contains(&relative)
            {
                let known = files.entry(relative).or_default();
                *known = size.max(*known);
            }
        }
    }
    let files = files.into_iter().map(|(path, size)| FileToDelete::of(path, size));
    found.files.extend(files);
    Ok(found)
}
