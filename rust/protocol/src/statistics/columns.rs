//! Statistics of many files as typed columns.

use arrow_array::{Array, ArrayRef, BooleanArray};

use crate::{Error, ErrorKind, Result};

/// Statistics of many files, one row per file, with the names and types of the schema; NULL if the
/// statistics of a file are unusable.
#[derive(Clone, Debug)]
pub struct StatisticsColumns {
    /// Numbers of rows.
    pub num_records: ArrayRef,
    /// Whether the bounds are exact.
    pub tight_bounds: ArrayRef,
    /// Minimums.
    pub min: ArrayRef,
    /// Maximums.
    pub max: ArrayRef,
    /// Numbers of NULLs.
    pub null_count: ArrayRef,
}

impl StatisticsColumns {
    /// Returns these statistics, and those of `other` for rows in which `present` is false.
    pub fn or_else(&self, present: &BooleanArray, other: &Self) -> Result<Self> {
        let choose = |ours: &ArrayRef, others: &ArrayRef| {
            arrow_select::zip::zip(present, ours, others).map_err(|error| {
                let message = format!("statistics of two forms do not fit together: {error}");
                crate::Error::new(crate::ErrorKind::CorruptLog, message)
            })
        };
        Ok(Self {
            num_records: choose(&self.num_records, &other.num_records)?,
            tight_bounds: choose(&self.tight_bounds, &other.tight_bounds)?,
            min: choose(&self.min, &other.min)?,
            max: choose(&self.max, &other.max)?,
            null_count: choose(&self.null_count, &other.null_count)?,
        })
    }

    /// The rows for which `mask` is true, in order. The mask has one entry per row.
    pub fn filter(&self, mask: &BooleanArray) -> Result<Self> {
        let kept = |column: &ArrayRef| {
            if mask.len() != column.len() {
                return Err(not_kept(format!(
                    "{} answers for {} files",
                    mask.len(),
                    column.len()
                )));
            }
            arrow_select::filter::filter(column, mask).map_err(not_kept)
        };
        Ok(Self {
            num_records: kept(&self.num_records)?,
            tight_bounds: kept(&self.tight_bounds)?,
            min: kept(&self.min)?,
            max: kept(&self.max)?,
            null_count: kept(&self.null_count)?,
        })
    }
}

fn not_kept(error: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!("statistics cannot be filtered: {error}"),
    )
}
