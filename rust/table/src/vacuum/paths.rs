//! Paths below the table's root.

use std::collections::BTreeSet;

use object_store::path::Path;

/// A path relative to a folder; `None` if it is not below it.
pub(super) fn relative_to(folder: &Path, path: &Path) -> Option<String> {
    let parts: Vec<_> = path.prefix_match(folder)?.collect();
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Whether a path is below one of these folders.
pub(super) fn is_below_any(path: &str, folders: &BTreeSet<String>) -> bool {
    !folders.is_empty()
        && path
            .match_indices('/')
            .filter_map(|(at, _)| path.get(..at))
            .any(|folder| folders.contains(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_root() {
        for (folder, path, expected) in [
            ("a/b", "a/b/c/d", Some("c/d")),
            ("", "c", Some("c")),
            ("a/b", "a/bc", None),
            ("a/b", "a/b", None),
        ] {
            let relative = relative_to(&Path::from(folder), &Path::from(path));
            assert_eq!(relative.as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn files_of_inner_tables_are_recognized() {
        let folders = BTreeSet::from(["x/y".to_owned()]);
        for (path, expected) in [
            ("x/y/a", true),
            ("x/y/z/a", true),
            ("x/ya", false),
            ("x/a", false),
        ] {
            assert_eq!(is_below_any(path, &folders), expected, "{path}");
        }
    }
}
