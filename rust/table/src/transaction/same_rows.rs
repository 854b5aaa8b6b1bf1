//! Checks files added and removed with `dataChange=false`: both must contain the same rows.
//!
//! Protocol: *Add File and Remove File* (`dataChange`).

use deltaic_protocol::actions::Add;
use deltaic_protocol::statistics::num_records;
use deltaic_protocol::{Error, ErrorKind, Result};

/// The files that a transaction stages with `dataChange=false`.
#[derive(Clone, Default)]
pub(crate) struct SameRows {
    coming: Counted,
    going: Counted,
}

/// A number of files, and of their rows if all of them have statistics.
#[derive(Clone)]
struct Counted {
    files: usize,
    rows: Option<i64>,
}

impl Default for Counted {
    fn default() -> Self {
        Self {
            files: 0,
            rows: Some(0),
        }
    }
}

impl Counted {
    fn count(&mut self, add: &Add) {
        let records = add.stats.as_deref().and_then(num_records);
        let deleted = add
            .deletion_vector
            .as_ref()
            .map_or(0, |vector| vector.cardinality);
        let rows = records.and_then(|records| records.checked_sub(deleted));
        self.files += 1;
        self.rows = self.rows.zip(rows).and_then(|(all, rows)| all.checked_add(rows));
    }
}

impl SameRows {
    pub(crate) fn record_added(&mut self, add: &Add) {
        self.coming.count(add);
    }

    pub(crate) fn record_removed(&mut self, add: &Add) {
        self.going.count(add);
    }

    /// Verifies that as many rows are added as are removed, as far as the statistics contain it.
    ///
    /// # Errors
    ///
    /// `ConstraintViolation` with both numbers.
    pub(crate) fn ensure(&self) -> Result<()> {
        let as_many = match (self.coming.rows, self.going.rows) {
            (Some(coming), Some(going)) => coming == going,
            // Files without row counts are accepted, unless the other side has no files.
            _ => self.coming.files > 0 && self.going.files > 0,
        };
        if as_many {
            return Ok(());
        }
        let described = |counted: &Counted| match counted.rows {
            Some(rows) => format!("{rows} rows"),
            None => format!("{} files of unknown rows", counted.files),
        };
        let (coming, going) = (described(&self.coming), described(&self.going));
        Err(Error::new(
            ErrorKind::ConstraintViolation,
            format!("dataChange=false requires equal row counts: removed {going}, added {coming}"),
        )
        .with("field", "dataChange")
        .hint("set data_change=True for files that add or remove rows"))
    }
}
