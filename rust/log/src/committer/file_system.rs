//! Commits on a local file system: temporary file, fsync, `link`, fsync of the folder.
//!
//! `link` fails where the name exists, so one writer wins; the temporary file is whole and on disk before it gets
//! its name, so no reader sees a part and no power cut loses what was acknowledged.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the door to the file system that the bans point to"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind as IoKind, Write};
use std::path::{Path, PathBuf};

use deltaic_protocol::log_path::{LOG_FOLDER, LogPath};
use deltaic_protocol::{Result, Version};

use super::Outcome;
use crate::clock::new_id;
use crate::in_parallel::compute;
use crate::store_error::io_error;

/// Proposes a commit.
pub(super) async fn propose(root: &Path, version: Version, commit: Vec<u8>) -> Result<Outcome> {
    let root = root.to_owned();
    let proposed = tokio::task::spawn_blocking(move || write_and_link(&root, version, &commit)).await;
    // Work that was cut off may have come as far as the link.
    proposed.unwrap_or(Ok(Outcome::Unknown(version)))
}

/// Makes `_delta_log` of a new table, on disk before anything is put into it.
pub(super) async fn prepare(root: &Path) -> Result<()> {
    let folder = root.join(LOG_FOLDER);
    compute(move || {
        let missing = missing(&folder);
        fs::create_dir_all(&folder).map_err(|error| io_error(&error, &folder.display().to_string()))?;
        for made in missing.iter().filter_map(|made| made.parent()) {
            sync_folder(made);
        }
        Ok(())
    })
    .await
}

/// A folder and those above it that are not there, the deepest first.
pub(super) fn missing(folder: &Path) -> Vec<PathBuf> {
    let above = folder.ancestors();
    let missing = above.take_while(|ancestor| !ancestor.exists());
    missing.map(Path::to_owned).collect()
}

/// Removes folders that are empty, the deepest first; one that is not stays, and so do those above it.
pub(super) fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        if fs::remove_dir(folder).is_err() && folder.exists() {
            return;
        }
    }
}

fn write_and_link(root: &Path, version: Version, commit: &[u8]) -> Result<Outcome> {
    let relative = LogPath::commit(version);
    let target = root.join(&relative);
    let folder = root.join(LOG_FOLDER);
    if target.exists() {
        return Ok(Outcome::Lost(version));
    }
    // A hidden name that is no file of the log: should it be left behind, every reader passes it over.
    let staged = folder.join(format!(".{}.json.{}.tmp", version.file_stem(), new_id()));
    let failed = |error: &std::io::Error| io_error(error, &relative).with("version", version);
    let written = write_whole(&staged, commit);
    if let Err(error) = written {
        let _ = fs::remove_file(&staged);
        return Err(failed(&error));
    }
    let outcome = match fs::hard_link(&staged, &target) {
        Ok(()) => Ok(Outcome::Committed(version)),
        // NFS can answer that the name exists to the very link that made it: then the staged file has two names.
        Err(error) if error.kind() == IoKind::AlreadyExists => Ok(if has_two_names(&staged) {
            Outcome::Committed(version)
        } else {
            Outcome::Lost(version)
        }),
        Err(error) => match rename_without_replacing(&staged, &target) {
            Some(Ok(())) => Ok(Outcome::Committed(version)),
            Some(Err(IoKind::AlreadyExists)) => Ok(Outcome::Lost(version)),
            _ => Err(failed(&error)
                .hint("the file system has neither hard links nor a rename that does not replace")),
        },
    };
    // Past this point nothing may turn a commit into an error: what is left behind is harmless.
    let _ = fs::remove_file(&staged);
    if matches!(outcome, Ok(Outcome::Committed(_))) {
        sync_folder(&folder);
    }
    outcome
}

fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(unix)]
fn has_two_names(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.nlink() == 2)
}

#[cfg(not(unix))]
fn has_two_names(_: &Path) -> bool {
    false
}

#[cfg(target_os = "linux")]
fn rename_without_replacing(from: &Path, to: &Path) -> Option<std::result::Result<(), IoKind>> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let renamed = renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE);
    Some(renamed.map_err(|errno| std::io::Error::from(errno).kind()))
}

#[cfg(not(target_os = "linux"))]
fn rename_without_replacing(_: &Path, _: &Path) -> Option<std::result::Result<(), IoKind>> {
    None
}
