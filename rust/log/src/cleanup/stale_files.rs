//! Finds files that interrupted writers left in the log's folder: temporary files of commits, and probe objects.

use std::collections::HashSet;

use deltaic_protocol::Version;
use deltaic_protocol::log_path::{LOG_FOLDER, LogPath};
use object_store::ObjectMeta;

use super::deletion::Deletion;
use super::deletion::Expired;

/// The files of the log's folder that were orphaned before a time, in milliseconds since the epoch; `gone` are names
/// that a plan deletes.
pub(super) fn left_behind(objects: &[ObjectMeta], gone: &HashSet<&str>, before_ms: i64) -> Vec<Deletion> {
    let names = objects.iter().filter_map(|object| object.location.filename());
    let names: HashSet<&str> = names.filter(|name| !gone.contains(name)).collect();
    let of_object = |object: &ObjectMeta| {
        let name = object.location.filename()?;
        if gone.contains(name) {
            return None;
        }
        let is_old = object.last_modified.timestamp_millis() < before_ms;
        let is_spent = is_temporary(name) || file_beside(name).is_some_and(|file| !names.contains(file));
        (is_old && is_spent).then(|| Deletion {
            path: format!("{LOG_FOLDER}/{name}"),
            bytes: object.size,
            why: Expired::LeftBehind,
        })
    };
    objects.iter().filter_map(of_object).collect()
}

/// The log file that a hidden checksum file belongs to: some file systems keep a checksum of `x` in `.x.crc`.
fn file_beside(name: &str) -> Option<&str> {
    let file = name.strip_prefix('.')?.strip_suffix(".crc")?;
    LogPath::parse(file).map(|_| file)
}

/// The staged proposals of versions before `before`. Another writer committed these versions, so the proposals can no
/// longer win; after the versions are deleted they could.
pub(super) fn stale_proposals(objects: &[ObjectMeta], before: Version) -> Vec<Deletion> {
    let of_object = |object: &ObjectMeta| {
        let name = object.location.filename()?;
        (staged_version(name)? < before).then(|| Deletion {
            path: format!("{LOG_FOLDER}/{name}"),
            bytes: object.size,
            why: Expired::StaleProposal,
        })
    };
    objects.iter().filter_map(of_object).collect()
}

/// Whether a name is that of a committer's temporary file: `.n.json.u.tmp` with version n and unique id u, or
/// `_probe-u`. Similar names do not match.
fn is_temporary(name: &str) -> bool {
    name.strip_prefix("_probe-").is_some_and(is_id) || staged_version(name).is_some()
}

/// The version of a staged proposal.
fn staged_version(name: &str) -> Option<Version> {
    let staged = name.strip_prefix('.')?.strip_suffix(".tmp")?;
    let (stem, id) = staged.split_once(".json.")?;
    let is_stem = stem.len() == 20 && stem.bytes().all(|byte| byte.is_ascii_digit());
    if !is_stem || !is_id(id) {
        return None;
    }
    Version::try_new(stem.parse().ok()?).ok()
}

fn is_id(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

#[cfg(test)]
mod tests {
    use object_store::path::Path;

    use super::*;

    const ID: &str = "3a0d65cd-4056-49b8-937b-95f9e3ee90e5";

    #[test]
    fn only_what_a_committer_leaves_is_taken_for_it() {
        assert!(is_temporary(&format!(".00000000000000000007.json.{ID}.tmp")));
        assert!(is_temporary(&format!("_probe-{ID}")));
        for name in [
            "00000000000000000007.json".to_owned(),
            format!("00000000000000000007.json.{ID}.tmp"),
            format!(".00000000000000000007.json.{ID}"),
            format!(".7.json.{ID}.tmp"),
            format!(".0000000000000000000a.json.{ID}.tmp"),
            ".00000000000000000007.json.mine.tmp".to_owned(),
            ".00000000000000000007.json.crc".to_owned(),
            "_last_checkpoint".to_owned(),
            "_probe-mine".to_owned(),
            // A differently spelled id, and text of the same length that is not an id.
            format!("_probe-{}", ID.replace('-', "")),
            format!("_probe-{}", "x".repeat(36)),
            format!("_staged-{ID}"),
        ] {
            assert!(!is_temporary(&name), "{name}");
        }
    }

    fn object(name: &str, ms: i64) -> ObjectMeta {
        ObjectMeta {
            location: Path::from(format!("t/_delta_log/{name}")),
            last_modified: chrono_time(ms),
            size: 5,
            e_tag: None,
            version: None,
        }
    }

    fn names(objects: &[ObjectMeta], gone: &[&str]) -> Vec<String> {
        let found = left_behind(objects, &gone.iter().copied().collect(), 1_000);
        let name = |deletion: &Deletion| deletion.path.trim_start_matches("_delta_log/").to_owned();
        found.iter().map(name).collect()
    }

    #[test]
    fn files_that_may_still_be_written_are_not_deleted() {
        let name = format!("_probe-{ID}");
        assert_eq!(names(&[object(&name, 999)], &[]), [name.as_str()]);
        assert!(names(&[object(&name, 1_000)], &[]).is_empty());
    }

    #[test]
    fn proposals_of_versions_that_go_are_stale_whatever_their_age() -> deltaic_protocol::Result<()> {
        let of = |version: &str| format!(".{version}.json.{ID}.tmp");
        let [old, same, beyond] = [
            "00000000000000000006",
            "00000000000000000007",
            "99999999999999999999",
        ]
        .map(of);
        let all = [
            object(&old, i64::MAX / 4_000_000),
            object(&same, 1),
            object(&beyond, 1),
            object(&format!("_probe-{ID}"), 1),
            object("00000000000000000006.json", 1),
        ];
        let stale = stale_proposals(&all, Version::try_new(7)?);
        let paths: Vec<&str> = stale.iter().map(|deletion| deletion.path.as_str()).collect();
        assert_eq!(paths, [format!("_delta_log/{old}")]);
        // Files already in the plan are not deleted twice.
        assert!(names(&[object(&old, 1)], &[&old]).is_empty());
        Ok(())
    }

    /// A file system's hidden checksum file is deleted with its file; other hidden files are retained.
    #[test]
    fn side_files_are_deleted_with_their_file() {
        let (commit, beside) = ("00000000000000000007.json", ".00000000000000000007.json.crc");
        let others = [object("._last_checkpoint.crc", 1), object(".hidden.crc", 1)];
        let all = [&others[..], &[object(commit, 1), object(beside, 1)]].concat();
        assert!(names(&all, &[]).is_empty());
        assert_eq!(names(&all, &[commit]), [beside]);
        assert_eq!(names(&[object(beside, 999)], &[]), [beside]);
        assert!(names(&[object(beside, 1_000)], &[]).is_empty());
    }

    fn chrono_time<T: From<std::time::SystemTime>>(ms: i64) -> T {
        let since = std::time::Duration::from_millis(u64::try_from(ms).unwrap_or(0));
        T::from(std::time::UNIX_EPOCH + since)
    }
}
