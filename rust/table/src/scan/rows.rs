//! The rows of a file that are in the table, by position.

use std::ops::Range;
use std::sync::Arc;

use arrow_buffer::BooleanBuffer;
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::{Error, Result};

use super::selection::Selection;

/// Selected rows of a file.
#[derive(Clone, Debug, Default)]
pub(crate) enum Rows {
    /// All rows.
    #[default]
    All,
    /// The rows that are not deleted.
    Without(Arc<Bitmap>),
    /// Only these rows: those that a changed deletion vector deleted or restored.
    Only(Arc<Bitmap>),
}

impl Rows {
    /// Returns the rows of a selection. Its deletion vectors are taken from the iterator.
    ///
    /// # Errors
    ///
    /// `Internal` if one of them was not read.
    pub(crate) fn of(selection: &Selection, vectors: &mut impl Iterator<Item = Arc<Bitmap>>) -> Result<Self> {
        let mut next = || {
            vectors
                .next()
                .ok_or_else(|| Error::internal("a deletion vector was not read"))
        };
        Ok(match selection {
            Selection::All => Self::All,
            Selection::Without(_) => Self::Without(next()?),
            Selection::Difference { but_not: None, .. } => Self::Only(next()?),
            Selection::Difference { but_not: Some(_), .. } => {
                Self::Only(Arc::new(next()?.difference(&*next()?)))
            }
        })
    }

    /// Returns which rows of a range are selected; `None` if all are.
    pub(crate) fn mask(&self, rows: Range<u64>) -> Result<Option<BooleanBuffer>> {
        match self {
            Self::All => Ok(None),
            Self::Without(deleted) => {
                let any = deleted.count_below(rows.end) > deleted.count_below(rows.start);
                any.then(|| deleted.keep_mask(rows)).transpose()
            }
            Self::Only(kept) => Ok(Some(!&kept.keep_mask(rows)?)),
        }
    }

    /// The deletion vector of the selection.
    pub(crate) fn vector(&self) -> Option<&Bitmap> {
        match self {
            Self::All => None,
            Self::Without(vector) | Self::Only(vector) => Some(vector),
        }
    }
}

#[cfg(test)]
mod tests {
    use deltaic_protocol::ErrorKind;
    use serde_json::json;

    use super::*;

    /// Deleted rows never reappear because their deletion vector is missing.
    #[test]
    fn a_vector_that_was_not_read_is_an_error() {
        let vector = json!({"storageType": "i", "pathOrInlineDv": "", "sizeInBytes": 1, "cardinality": 1});
        for (selection, read) in [
            (json!({"Without": vector}), 0),
            (json!({"Difference": {"deleted": vector, "but_not": null}}), 0),
            (json!({"Difference": {"deleted": vector, "but_not": vector}}), 0),
            (json!({"Difference": {"deleted": vector, "but_not": vector}}), 1),
        ] {
            let selection: Selection = serde_json::from_value(selection).expect("a selection");
            let mut vectors = std::iter::repeat_n(Arc::new(Bitmap::default()), read);
            let error = Rows::of(&selection, &mut vectors).err();
            assert!(
                error.is_some_and(|error| error.kind() == ErrorKind::Internal),
                "{selection:?}"
            );
        }
    }
}
