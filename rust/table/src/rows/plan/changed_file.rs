//! A file whose rows are deleted by a deletion vector.
//!
//! Protocol: *Deletion Vectors*, *Writer Requirement for Deletion Vectors*, *Per-file Statistics*.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::actions::Add;
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::{Error, ErrorKind, Result};
use serde_json::value::RawValue;

use crate::rows::change_data::DeletedRows;

/// A file from which rows are deleted.
#[derive(Debug)]
pub(crate) struct ChangedFile {
    /// The current file.
    pub(crate) add: Add,
    /// Its deletion vector, including the deleted rows.
    pub(crate) vector: Bitmap,
    /// Its statistics next to the deletion vector.
    pub(crate) stats: String,
    /// The rows that were not yet deleted.
    deleted: Bitmap,
    /// Whether all rows are deleted.
    pub(crate) is_empty: bool,
}

impl ChangedFile {
    /// The positions of the rows that were not yet deleted.
    pub(crate) fn deleted(&self) -> &Bitmap {
        &self.deleted
    }

    /// The rows that were not yet deleted.
    pub(crate) fn deleted_rows(&self) -> DeletedRows {
        DeletedRows {
            add: self.add.clone(),
            positions: Some(Arc::new(self.deleted.clone())),
        }
    }

    pub(crate) fn try_new(add: Add, positions: &Bitmap, before: &Bitmap) -> Result<Self> {
        let wrong =
            |what: String| Error::new(ErrorKind::InvalidArgument, what).with("path", add.path.as_str());
        let (stats, records) = loose_stats(add.stats.as_deref()).ok_or_else(|| {
            wrong(format!(
                "the log has no numRecords of {:?}, so it cannot get a deletion vector",
                add.path
            ))
            .hint("rewrite the file without these rows")
        })?;
        if let Some(last) = positions.max()
            && last >= records
        {
            return Err(wrong(format!(
                "{:?} has {records} rows, and none at {last}",
                add.path
            )));
        }
        let vector = before.union(positions);
        Ok(Self {
            deleted: positions.difference(before),
            is_empty: vector.len() == records && vector.max().is_some_and(|last| last < records),
            vector,
            stats,
            add,
        })
    }
}

/// Returns the statistics for a file with a deletion vector, and its number of rows. The bounds are no longer tight, as
/// they may come from deleted rows. Values are not parsed, because a number could change when it is written again.
fn loose_stats(stats: Option<&str>) -> Option<(String, u64)> {
    let mut parts: BTreeMap<String, Box<RawValue>> = serde_json::from_str(stats?).ok()?;
    let records = serde_json::from_str(parts.get("numRecords")?.get()).ok()?;
    let no = RawValue::from_string("false".to_owned()).ok()?;
    parts.insert("tightBounds".to_owned(), no);
    Some((serde_json::to_string(&parts).ok()?, records))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// protocol: per-file-statistics.1, per-file-statistics.2, writer-requirement-for-deletion-vectors.1
    #[test]
    fn bounds_beside_a_vector_are_loose_and_retain_their_spelling() {
        let stats = r#"{"numRecords":3,"minValues":{"a":12345678901234567890.123},"tightBounds":true}"#;
        let loose = r#"{"minValues":{"a":12345678901234567890.123},"numRecords":3,"tightBounds":false}"#;
        assert_eq!(loose_stats(Some(stats)), Some((loose.to_owned(), 3)));
        for none in [None, Some("{}"), Some(r#"{"numRecords":-1}"#), Some("no JSON")] {
            assert_eq!(loose_stats(none), None, "{none:?}");
        }
    }
}
