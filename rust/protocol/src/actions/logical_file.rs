//! The key by which the latest file action of a file is determined.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

/// The primary key of a logical file: its path and the unique id of its deletion vector.
///
/// Relative paths are compared byte by byte. `/p` and `file:///p` are the same file, so paths that start
/// with a slash or a scheme are compared without an empty authority.
///
/// Protocol: *Add File and Remove File*, *Action Reconciliation*.
///
/// ```
/// use deltaic_protocol::actions::LogicalFileKey;
/// let plain = LogicalFileKey::new("/data/a.parquet", None);
/// assert_eq!(plain, LogicalFileKey::new("file:///data/a.parquet", None));
/// assert_ne!(plain, LogicalFileKey::new("data/a.parquet", None));
/// assert_ne!(plain, LogicalFileKey::new("/data/a.parquet", Some(("u", "abc", Some(1)))));
/// ```
#[derive(Clone, Debug)]
pub struct LogicalFileKey<'a> {
    path: Cow<'a, str>,
    deletion_vector: Option<(&'a str, &'a str, Option<i32>)>,
}

impl<'a> LogicalFileKey<'a> {
    /// The key of a path and an optional deletion vector, given by storage type, path or inline data, and
    /// offset.
    #[must_use]
    pub fn new(path: &'a str, deletion_vector: Option<(&'a str, &'a str, Option<i32>)>) -> Self {
        Self {
            path: canonical(path),
            deletion_vector,
        }
    }

    /// The path in its shortest spelling.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Storage type, path or inline data, and offset of the deletion vector, if there is one.
    #[must_use]
    pub fn deletion_vector(&self) -> Option<(&'a str, &'a str, Option<i32>)> {
        self.deletion_vector
    }
}

fn canonical(path: &str) -> Cow<'_, str> {
    match path.strip_prefix("file:") {
        Some(rest) => match rest.strip_prefix("//") {
            Some(rest) if rest.starts_with('/') => Cow::Borrowed(rest),
            Some(_) => Cow::Borrowed(path),
            None if rest.starts_with('/') => Cow::Borrowed(rest),
            None => Cow::Borrowed(path),
        },
        None => Cow::Borrowed(path),
    }
}

impl PartialEq for LogicalFileKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.deletion_vector == other.deletion_vector
    }
}
impl Eq for LogicalFileKey<'_> {}

impl Hash for LogicalFileKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.path.hash(state);
        self.deletion_vector.hash(state);
    }
}
