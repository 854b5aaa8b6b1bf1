//! Which columns get statistics. Protocol: *Per-file Statistics*; the properties are those of the reference writer.

use super::unreadable;
use crate::Result;
use crate::actions::Metadata;
use crate::schema::ColumnName;

/// Which columns get statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexedColumns {
    /// The first so many leaf columns.
    First(usize),
    /// All of them.
    All,
    /// These and what is in them.
    Named(Vec<ColumnName>),
}

/// `delta.dataSkippingStatsColumns`, else `delta.dataSkippingNumIndexedCols`, else the first 32 leaf columns.
pub fn indexed_columns(metadata: &Metadata) -> Result<IndexedColumns> {
    if let Some(list) = metadata.property("delta.dataSkippingStatsColumns") {
        let names: Result<Vec<ColumnName>> = list
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(ColumnName::parse)
            .collect();
        return names
            .map(IndexedColumns::Named)
            .map_err(|_| unreadable("delta.dataSkippingStatsColumns", list));
    }
    const KEY: &str = "delta.dataSkippingNumIndexedCols";
    match metadata.property(KEY) {
        None => Ok(IndexedColumns::First(32)),
        Some(text) => match text.trim().parse::<i64>() {
            Ok(-1) => Ok(IndexedColumns::All),
            Ok(count) if count >= 0 => Ok(IndexedColumns::First(
                usize::try_from(count).unwrap_or(usize::MAX),
            )),
            _ => Err(unreadable(KEY, text)),
        },
    }
}
