//! Finds sidecars that no checkpoint references.
//!
//! Protocol: *Metadata Cleanup*, steps 4 and 5; *Sidecar Files*.

use std::collections::HashSet;
use std::sync::Arc;

use deltaic_protocol::Result;
use deltaic_protocol::log_path::{LOG_FOLDER, LogFileKind};
use object_store::ObjectMeta;

use super::deletion::Deletion;
use super::deletion::Expired;
use crate::decode::checkpoint::{Checkpoint, SIDECARS};
use crate::listing::{Listing, LogFile};
use crate::segment::complete_checkpoints;
use deltaic_storage::in_parallel;
use deltaic_storage::location::TableLocation;
use deltaic_storage::{is_not_a_folder, store_error};

/// Maximum number of checkpoints read concurrently for their sidecar references.
const CHECKPOINTS_IN_FLIGHT: usize = 8;

/// The sidecars from before a time, in milliseconds since the epoch, that no checkpoint references; `gone` are the paths
/// of the files that are deleted before them.
///
/// The sidecars are listed before the checkpoints, since writers write the sidecars of a checkpoint first. A writer
/// references old sidecars again only if the checkpoint from which it knows them exists after its own was written.
/// So every checkpoint of the listing counts, whatever its version: it may be the one that a writer relies on.
///
/// # Errors
///
/// If the sidecars of a checkpoint cannot be read, since the unreferenced ones are unknown then.
pub(super) async fn unreferenced(
    location: &Arc<TableLocation>,
    gone: &HashSet<&str>,
    before_ms: i64,
    max_line_bytes: usize,
) -> Result<Vec<Deletion>> {
    let old = old_sidecars(location, before_ms).await?;
    if old.is_empty() {
        return Ok(old);
    }
    let listing = Listing::whole(location).await?;
    let named = named_by_checkpoints(location, &listing, gone, max_line_bytes).await?;
    let is_named = |deletion: &Deletion| {
        let name = deletion.path.rsplit('/').next();
        name.is_some_and(|name| named.contains(name))
    };
    Ok(old.into_iter().filter(|sidecar| !is_named(sidecar)).collect())
}

async fn old_sidecars(location: &TableLocation, before_ms: i64) -> Result<Vec<Deletion>> {
    let relative = format!("{LOG_FOLDER}/{SIDECARS}");
    let folder = location.below(&relative)?;
    let listed = match location.store().list_with_delimiter(Some(&folder)).await {
        Ok(listed) => listed.objects,
        Err(object_store::Error::NotFound { .. }) => return Ok(Vec::new()),
        Err(error) if is_not_a_folder(&error) => return Ok(Vec::new()),
        Err(error) => return Err(store_error(&error, &relative)),
    };
    let old = |object: &ObjectMeta| {
        let name = object.location.filename()?;
        // Files not named like a sidecar are ignored.
        let is_sidecar = name.ends_with(".parquet") && !name.starts_with('.');
        let is_old = object.last_modified.timestamp_millis() < before_ms;
        (is_sidecar && is_old).then(|| Deletion {
            path: format!("{relative}/{name}"),
            bytes: object.size,
            why: Expired::Sidecar,
        })
    };
    Ok(listed.iter().filter_map(old).collect())
}

/// The names of the sidecars that the checkpoints of a listing reference. Multi-part checkpoints reference none.
async fn named_by_checkpoints(
    location: &Arc<TableLocation>,
    listing: &Listing,
    gone: &HashSet<&str>,
    max_line_bytes: usize,
) -> Result<HashSet<String>> {
    let checkpoints = complete_checkpoints(listing, None)
        .into_iter()
        .filter(|checkpoint| {
            let is_skipped = |file: &Arc<LogFile>| is_part(file) || gone.contains(file.relative().as_str());
            !checkpoint.files.iter().any(is_skipped)
        });
    let asked = checkpoints.map(|checkpoint| {
        let location = Arc::clone(location);
        async move { Checkpoint::read_sidecars(&location, &checkpoint, max_line_bytes).await }
    });
    let mut named = HashSet::new();
    for sidecars in in_parallel(asked, CHECKPOINTS_IN_FLIGHT).await? {
        for sidecar in sidecars {
            named.insert(sidecar.name()?);
        }
    }
    Ok(named)
}

fn is_part(file: &LogFile) -> bool {
    matches!(file.path.kind, LogFileKind::MultiPartCheckpoint { .. })
}
