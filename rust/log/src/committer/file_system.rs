//! Commits on a local file system: temporary file, fsync, `link`, fsync of the folder.
//!
//! `link` fails where the name exists, so one writer wins; the temporary file is whole and on disk before it gets
//! its name, so no reader sees a part and no power cut loses what was acknowledged. A file system without links has a
//! rename that does not replace, or takes no commits.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind as IoKind};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use deltaic_protocol::log_path::{LOG_FOLDER, LogPath};
use deltaic_protocol::{Result, Version};

use super::disk::missing;
use super::{Answer, Committer, Files, Outcome};
use crate::clock::new_id;
use crate::in_parallel::compute;
use crate::location::TableLocation;
use crate::store_error::io_error;

/// The committer of a local table, over files of the caller's: what a test writes down and lets fail.
#[derive(Clone, Debug)]
pub struct FileSystem {
    location: TableLocation,
    files: Arc<dyn Files>,
}

impl FileSystem {
    /// A local table's committer; none of a table elsewhere.
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
    fn prepare(&self) -> Answer<'_, Option<String>> {
        Box::pin(prepare(self.root(), Arc::clone(&self.files)))
    }

    fn propose(&self, version: Version, commit: Vec<u8>) -> Answer<'_, Outcome> {
        Box::pin(propose(self.root(), Arc::clone(&self.files), version, commit))
    }

    fn read_commit(&self, version: Version) -> Answer<'_, Option<Bytes>> {
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
    // Work that was cut off may have come as far as the link.
    proposed.unwrap_or(Ok(Outcome::Unknown(version)))
}

/// Makes `_delta_log` of a new table, on disk before anything is put into it. Returns why it may not be on disk, if so.
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
    // A hidden name that is no file of the log: should it be left behind, every reader passes it over.
    let staged = folder.join(format!(".{}.json.{}.tmp", version.file_stem(), new_id()));
    let file = match write_whole(files, &staged, commit) {
        Ok(file) => file,
        Err(error) => {
            let _ = files.remove(&staged);
            return Err(io_error(&error, &relative).with("version", version));
        }
    };
    // The file stays open meanwhile: nobody else's can get its number.
    let landed = land(files, &file, &staged, &target);
    drop(file);
    // Past this point nothing may turn a commit into an error: what is left behind is harmless.
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
                refused.hint("the file system has neither hard links nor a rename that does not replace")
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

/// What became of a staged file that was to get a version's name.
enum Landed {
    Won,
    /// Something has the name already.
    Taken,
    /// The staged file was deleted by another process, and neither name exists.
    Withdrawn,
    /// The file system could not say.
    Unclear,
    /// It has not got it, and this is why.
    Refused(IoError),
}

/// Gives a staged file a version's name, where nothing has that.
///
/// A network's file system can lose an answer: then it says of the very link or rename that it did that the name exists,
/// or that it failed. So what it says is checked against what has the name: the staged file itself, or another. How many
/// names the staged file has proves nothing, since whoever copies the table by links gives it one more.
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
        // Where there is no such rename, only the link's failure says why; unless there are no links either.
        (Ok(false), IoKind::Unsupported) if is_refusal(&unlinked) && !knows_no_links(&unlinked) => {
            Landed::Refused(unlinked)
        }
        (Ok(false), _) if is_refusal(&unlinked) && is_refusal(&unmoved) => Landed::Refused(unmoved),
        _ => Landed::Unclear,
    }
}

/// Whether a failure says why nothing was done, and not that the answer was lost.
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

/// Whether a failure may be that of a file system without links: not all of them say so in the same words.
fn knows_no_links(error: &IoError) -> bool {
    matches!(
        error.kind(),
        IoKind::PermissionDenied | IoKind::Unsupported | IoKind::InvalidInput
    )
}
