//! What an optimization rewrites.

use deltaic_protocol::expr::Predicate;

/// Rewrites the small files of a table, and those with many deleted rows, with `dataChange=false`; with a Z-order all
/// files. In a table with clustering columns, rows of files that are not clustered, or only with few others, are
/// clustered.
///
/// Conflicts only with commits that removed or changed one of the rewritten files. After a conflict the newest version is
/// planned; new files whose inputs are unchanged are added again.
///
/// # Errors
///
/// `InvalidPredicate` if the predicate uses other columns than partition columns, or the table is clustered; `ValueError`
/// for a column that cannot be ordered by, a Z-order of a clustered table, or `full` without clustering columns;
/// `UnsupportedFeature`; `CorruptData`.
#[derive(Clone, Debug, Default)]
pub struct Optimize {
    /// The partitions to optimize, by a predicate on partition columns; `None` for all.
    pub predicate: Option<Predicate>,
    /// Columns by whose values rows are sorted together, along a Z-order curve: then all files are rewritten.
    pub zorder_by: Vec<String>,
    /// Whether files of a clustered table are clustered again that are clustered by other columns or by another
    /// implementation.
    pub full: bool,
    /// The size of the new files in bytes: a size that no file need exceed. Default: the property
    /// `delta.targetFileSize`, and 1 GiB without it.
    pub target_bytes: Option<u64>,
    /// Whether exactly those files are rewritten that have deleted rows, or columns that the table does not have.
    pub purge: bool,
}
