//! The numbers of a file that a version checksum adds up.

/// A file as counted by checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileCount {
    /// Size in bytes.
    pub size: i64,
    /// The cardinality of its deletion vector; `None` without one.
    pub deleted_records: Option<i64>,
}
