//! Which rows of a file are in the table, by their positions.

use std::ops::Range;
use std::sync::Arc;

use arrow_buffer::BooleanBuffer;
use deltaic_protocol::Result;
use deltaic_protocol::deletion_vector::Bitmap;

/// Rows of a file.
#[derive(Clone, Debug, Default)]
pub(crate) enum Rows {
    /// Every one.
    #[default]
    All,
    /// Those that are not deleted.
    Without(Arc<Bitmap>),
    /// These alone: what came or went as a deletion vector changed.
    Only(Arc<Bitmap>),
}

impl Rows {
    /// Which of so many rows there are; none where all are.
    pub(super) fn mask(&self, rows: Range<u64>) -> Result<Option<BooleanBuffer>> {
        match self {
            Self::All => Ok(None),
            Self::Without(deleted) => {
                let any = deleted.count_below(rows.end) > deleted.count_below(rows.start);
                any.then(|| deleted.keep_mask(rows)).transpose()
            }
            Self::Only(kept) => Ok(Some(!&kept.keep_mask(rows)?)),
        }
    }

    /// How many of a file's rows there are.
    pub(super) fn count(&self, num_rows: u64) -> u64 {
        match self {
            Self::All => num_rows,
            Self::Without(deleted) => num_rows.saturating_sub(deleted.len()),
            Self::Only(kept) => kept.len(),
        }
    }

    /// The vector that tells.
    pub(super) fn vector(&self) -> Option<&Bitmap> {
        match self {
            Self::All => None,
            Self::Without(vector) | Self::Only(vector) => Some(vector),
        }
    }
}
