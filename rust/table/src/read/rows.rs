//! Which rows of a file are in the table, by their positions.

use std::ops::Range;
use std::sync::Arc;

use arrow_buffer::BooleanBuffer;
use deltaic_protocol::Result;
use deltaic_protocol::deletion_vector::Bitmap;

use crate::scan::Selection;

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
    /// The rows that a selection tells by its vectors, each of which is taken.
    pub(super) fn of(selection: &Selection, vectors: &mut impl Iterator<Item = Arc<Bitmap>>) -> Self {
        if *selection == Selection::All {
            return Self::All;
        }
        match (selection, vectors.next()) {
            (Selection::All, _) | (_, None) => Self::All,
            (Selection::Without(_), Some(deleted)) => Self::Without(deleted),
            (Selection::Difference { but_not: None, .. }, Some(deleted)) => Self::Only(deleted),
            (Selection::Difference { but_not: Some(_), .. }, Some(deleted)) => match vectors.next() {
                Some(but_not) => Self::Only(Arc::new(deleted.difference(&but_not))),
                None => Self::Only(deleted),
            },
        }
    }

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

    /// The vector that tells.
    pub(super) fn vector(&self) -> Option<&Bitmap> {
        match self {
            Self::All => None,
            Self::Without(vector) | Self::Only(vector) => Some(vector),
        }
    }
}
