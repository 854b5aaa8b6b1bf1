//! Table properties that change what deltaic does, with their defaults.
//!
//! A value that does not parse leaves the table readable; the operation that needs the property says so.

use crate::actions::Metadata;
use crate::schema::ColumnName;
use crate::{Error, ErrorKind, Result};

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

fn unreadable(key: &'static str, text: &str) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("the table property {key} is {text:?}, which is not a valid value"),
    )
    .with("field", key)
    .hint("set the property to a valid value; the table itself is readable")
}
