//! Which statistics are computed.

use deltaic_protocol::expr::Predicate;

/// Reads live files and adds those whose statistics differ again, with the statistics of their rows that are not deleted,
/// with `dataChange=false`.
///
/// Conflicts only with commits that removed or changed one of these files. After a conflict the newest version is
/// planned; unchanged files are not read again.
///
/// # Errors
///
/// `InvalidPredicate` if the predicate uses other columns than partition columns; `ValueError` for a column that cannot
/// have statistics; `UnsupportedFeature`; `CorruptData`.
#[derive(Clone, Debug, Default)]
pub struct ComputedStatistics {
    /// The names of columns, possibly of structs and their fields; the other columns that have statistics keep theirs.
    /// `None` for exactly the columns that the table's properties select.
    pub columns: Option<Vec<String>>,
    /// The partitions, by a predicate on partition columns; `None` for all.
    pub predicate: Option<Predicate>,
}
