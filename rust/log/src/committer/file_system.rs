//! Commits on a local file system: temporary file, fsync, `link`, fsync of the folder.
//!
//! `link` fails if the name exists, so exactly one writer wins. The temporary file is complete and on disk
//! before it gets its name, so no reader sees a partial commit and no power failure loses an acknowledged
//! one. On file systems without hard links, a rename that does not replace is used; without it, tables cannot be
//! written.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind as IoKind};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use deltaic_protocol::log_path::{LOG_FOLDER, LogPath};
use deltaic_protocol::{Result, Version};

use super::contract::{BoxedFuture, Committer};
use super::disk::{Files, missing};
use super::outcome::Outcome;
use deltaic_storage::clock::new_id;
use deltaic_storage::compute;
use deltaic_storage::io_error;
use deltaic_storage::location::TableLocation;

/// The committer of a local table over a given implementation of the file operations, for tests.
#[derive(Clone, Debug)]
pub struct FileSystem {
    location: TableLocation,
    files: Arc<dyn Files>,
}

impl FileSystem {
    /// Creates the committer of a local table; `None` for other tables.
    #[must_use]
    pub fn over(location: &TableLocation, files: Arc<dyn Files>) -> Option<Self> {
        location.file_system()?;
        let location = location.clone();
        Some(Self { location, files })
    }

    fn root(&self) -> &Path {
        self.location.file_system().unwrap_or(Path::new(""))
    }
}

impl Committer for FileSystem {
    fn prepare(&self) -> BoxedFuture<'_, Option<String>> {
        Box::pin(prepare(self.root(), Arc::clone(&self.files)))
    }

    fn propose(&self, version: Version, commit: Vec<u8>) -> BoxedFuture<'_, Outcome> {
        Box::pin(propose(self.root(), Arc::clone(&self.files), version, commit))
    }

    fn read_commit(&self, version: Version) -> BoxedFuture<'_, Option<Bytes>> {
        self.location.read_commit(version)
    }
}

/// Proposes a commit.
pub(super) async fn propose(
    root: &Path,
    files: Arc<dyn Files>,
    version: Version,
    commit: Vec<u8>,
) -> Result<Outcome> {
    let root = root.to_owned();
    let proposed =
        tokio::task::spawn_blocking(move || write_and_link(files.as_ref(), &root, version, &commit)).await;
    // An aborted task may have completed the link.
    proposed.unwrap_or(Ok(Outcome::Unknown(version)))
}

/// Creates `_delta_log` of a new table and flushes it to disk. Returns the reason if it may not be on disk.
pub(super) async fn prepare(root: &Path, files: Arc<dyn Files>) -> Result<Option<String>> {
    let folder = root.join(LOG_FOLDER);
    compute(move || {
        let missing = missing(&folder);
        let made = files.make_folders(&folder);
        made.map_err(|error| io_error(&error, &folder.display().to_string()))?;
        let mut why = None;
        for parent in missing.iter().filter_map(|made| made.parent()) {
            if let Err(error) = files.sync_folder(parent) {
                why.get_or_insert_with(|| format!("fsync of {} failed: {error}", parent.display()));
            }
        }
        Ok(why)
    })
    .await
}

fn write_and_link(files: &dyn Files, root: &Path, version: Version, commit: &[u8]) -> Result<Outcome> {
    let relative = LogPath::commit(version);
    let target = root.join(&relative);
    let folder = root.join(LOG_FOLDER);
    if files.exists(&target) {
        return Ok(Outcome::Lost(version));
    }
    // A hidden name that is not a file of the log: readers ignore it if it remains.
    let staged = folder.join(format!(".{}.json.{}.tmp", version.file_stem(), new_id()));
    let file = match write_whole(files, &staged, commit) {
        Ok(file) => file,
        Err(error) => {
            let _ = files.remove(&staged);
            return Err(io_error(&error, &relative).with("version", version));
        }
    };
    // The file remains open so that its inode cannot be reused by another file.
    let landed = land(files, &file, &staged, &target);
    drop(file);
    // From here on the commit must not fail; remaining temporary files are harmless.
    let _ = files.remove(&staged);
    match landed {
        Landed::Won => Ok(match files.sync_folder(&folder) {
            Ok(()) => Outcome::Committed(version),
            Err(error) => Outcome::NotSynced(version, format!("fsync of {LOG_FOLDER} failed: {error}")),
        }),
        Landed::Withdrawn => Ok(Outcome::Withdrawn(version)),
        Landed::Taken => Ok(Outcome::Lost(version)),
        Landed::Unclear => Ok(Outcome::Unknown(version)),
        Landed::Refused(error) => {
            let refused = io_error(&error, &relative).with("version", version);
            Err(if error.kind() == IoKind::Unsupported {
                refused.hint("use a file system with hard links, or with a rename that never replaces a file")
            } else {
                refused
            })
        }
    }
}

fn write_whole(files: &dyn Files, path: &Path, bytes: &[u8]) -> std::io::Result<File> {
    let mut file = files.create(path)?;
    files.write(&mut file, bytes)?;
    files.sync(&file)?;
    Ok(file)
}

/// Result of giving a staged file the name of a version.
enum Landed {
    Won,
    /// The name exists already.
    Taken,
    /// Another process deleted the staged file, and neither name exists.
    Withdrawn,
    /// The result cannot be determined.
    Unclear,
    /// The staged file did not get the name, for this reason.
    Refused(IoError),
}

/// Gives a staged file the name of a version unless that name exists.
///
/// A network file system can lose a response: it then reports that the name exists, or a failure, for a link
/// or rename that it has performed. Therefore the file under the name is compared with the staged file. The
/// link count of the staged file proves nothing, since a copy of the table by hard links increases it.
fn land(files: &dyn Files, file: &File, staged: &Path, target: &Path) -> Landed {
    let Err(unlinked) = files.link(staged, target) else {
        return Landed::Won;
    };
    match files.is_named(file, target) {
        Ok(true) => return Landed::Won,
        _ if unlinked.kind() == IoKind::AlreadyExists => return Landed::Taken,
        _ => {}
    }
    let Err(unmoved) = files.rename(staged, target) else {
        return Landed::Won;
    };
    match (files.is_named(file, target), unmoved.kind()) {
        (Ok(true), _) => Landed::Won,
        (_, IoKind::AlreadyExists) => Landed::Taken,
        (Ok(false), IoKind::NotFound)
            if unlinked.kind() == IoKind::NotFound
                && files.is_named(file, staged).is_ok_and(|is_named| !is_named) =>
        {
            Landed::Withdrawn
        }
        // If such a rename is not supported, report the failure of the link, unless hard links are unsupported too.
        (Ok(false), IoKind::Unsupported) if is_refusal(&unlinked) && !means_no_hard_links(&unlinked) => {
            Landed::Refused(unlinked)
        }
        (Ok(false), _) if is_refusal(&unlinked) && is_refusal(&unmoved) => Landed::Refused(unmoved),
        _ => Landed::Unclear,
    }
}

/// Whether a failure means that nothing was done, and not that the response was lost.
fn is_refusal(error: &IoError) -> bool {
    matches!(
        error.kind(),
        IoKind::CrossesDevices
            | IoKind::InvalidInput
            | IoKind::NotADirectory
            | IoKind::NotFound
            | IoKind::PermissionDenied
            | IoKind::QuotaExceeded
            | IoKind::ReadOnlyFilesystem
            | IoKind::StorageFull
            | IoKind::TooManyLinks
            | IoKind::Unsupported
    )
}

/// Whether a failure may mean that the file system has no hard links; the error code differs between file systems.
fn means_no_hard_links(error: &IoError) -> bool {
    matches!(
        error.kind(),
        IoKind::PermissionDenied | IoKind::Unsupported | IoKind::InvalidInput
    )
}
