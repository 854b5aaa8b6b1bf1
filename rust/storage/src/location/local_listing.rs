//! Lists a local folder with one lookup per file: the store's listing needs two, and a log has thousands
//! of files.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::Path as FilePath;
use std::time::UNIX_EPOCH;

use object_store::path::Path;
use object_store::{Error, ListResult, ObjectMeta, Result};

use crate::links::{Entry, entries_of, is_possible_time};

/// Returns the files and folders directly below a prefix, symbolic links followed. A missing folder is empty.
/// A dangling link is listed as a file of 0 bytes that cannot be read: if it were skipped, a commit would be
/// lost silently.
pub(super) fn list_local(prefix: &Path) -> Result<ListResult> {
    let mut listed = ListResult {
        common_prefixes: Vec::new(),
        objects: Vec::new(),
        extensions: Default::default(),
    };
    let folder = FilePath::new("/").join(prefix.as_ref());
    let entries = match entries_of(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(listed),
        // The prefix is a file, so the listing is empty; a path below a file is an error.
        Err(error) if error.kind() == ErrorKind::NotADirectory && folder.exists() => return Ok(listed),
        entries => entries.map_err(failed)?,
    };
    for (name, entry) in entries {
        // A name with a control character is not defined by the protocol, and the store cannot address it.
        let Ok(location) = Path::parse(format!("{prefix}/{name}")) else {
            continue;
        };
        match entry {
            Entry::Folder => listed.common_prefixes.push(location),
            // The store uses such names for incomplete uploads.
            _ if is_unfinished_upload(&name) => {}
            Entry::File(found) => listed.objects.push(object(location, &found)),
            Entry::Dangling => listed.objects.push(ObjectMeta {
                size: 0,
                ..timeless(location)
            }),
        }
    }
    listed.common_prefixes.sort_unstable();
    Ok(listed)
}

fn failed(error: std::io::Error) -> Error {
    Error::Generic {
        store: "LocalFileSystem",
        source: Box::new(error),
    }
}

/// Whether a name ends in `#` and digits.
pub(super) fn is_unfinished_upload(name: &str) -> bool {
    let suffix = name.split_once('#').map(|(_, suffix)| suffix);
    suffix.is_some_and(|suffix| !suffix.is_empty() && suffix.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns a file's metadata as the store itself does, so that both can be compared.
fn object(location: Path, found: &Metadata) -> ObjectMeta {
    let Some(modified) = found.modified().ok().filter(|time| is_possible_time(*time)) else {
        // The error is raised when the file is read.
        return timeless(location);
    };
    let micros = modified
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_micros();
    let (inode, size) = (inode(found), found.len());
    ObjectMeta {
        location,
        last_modified: modified.into(),
        size,
        e_tag: Some(format!("\"{inode:x}-{micros:x}-{size:x}\"")),
        version: None,
    }
}

/// Returns metadata for a file if only its name is known.
fn timeless(location: Path) -> ObjectMeta {
    ObjectMeta {
        location,
        last_modified: Default::default(),
        size: 1,
        e_tag: None,
        version: None,
    }
}

#[cfg(unix)]
fn inode(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use object_store::local::LocalFileSystem;
    use object_store::{ObjectStore, ObjectStoreExt};

    use super::*;

    #[test]
    fn unfinished_uploads_are_known_by_their_names() {
        for (name, expected) in [
            ("a#1", true),
            ("a#", false),
            ("a#b1", false),
            ("a", false),
            ("#22", true),
        ] {
            assert_eq!(is_unfinished_upload(name), expected, "{name}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the store cannot create such a file")]
    fn a_name_that_the_store_cannot_address_is_left_out() -> Result<()> {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Path::from_absolute_path(folder.path())?;
        for name in ["00000000000000000000.json", "00000000000000000000.json\n"] {
            std::fs::write(folder.path().join(name), b"{}").expect("a file");
        }
        let listed = list_local(&root)?;
        let names: Vec<_> = listed
            .objects
            .iter()
            .map(|object| object.location.filename())
            .collect();
        assert_eq!(names, [Some("00000000000000000000.json")]);
        Ok(())
    }

    /// The store is the reference: its listings and single lookups return the same metadata.
    #[test]
    fn files_are_described_as_the_store_describes_them() -> Result<()> {
        let folder = tempfile::tempdir().expect("a folder");
        let store = LocalFileSystem::new();
        let root = Path::from_absolute_path(folder.path())?;
        let sorted = |mut listed: ListResult| {
            listed
                .objects
                .sort_by(|one, other| one.location.cmp(&other.location));
            (listed.common_prefixes, listed.objects)
        };
        for name in ["b c%20ü.json", "a", "x#12", "deep/er/file", "other/file"] {
            let path = Path::parse(format!("{root}/{name}"))?;
            block_on(store.put(&path, vec![0; name.len()].into())).ok();
        }
        let listed = list_local(&root)?;
        assert_eq!(listed.objects.len(), 2);
        for object in &listed.objects {
            assert_eq!(*object, block_on(store.head(&object.location))?);
        }
        assert_eq!(
            sorted(listed),
            sorted(block_on(store.list_with_delimiter(Some(&root)))?)
        );
        let nothing = list_local(&Path::parse(format!("{root}/nothing"))?)?;
        assert!(nothing.objects.is_empty() && nothing.common_prefixes.is_empty());
        assert!(list_local(&Path::parse(format!("{root}/a"))?)?.objects.is_empty());
        assert!(list_local(&Path::parse(format!("{root}/a/b"))?).is_err());
        Ok(())
    }
}
