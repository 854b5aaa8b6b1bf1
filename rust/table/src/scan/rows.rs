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
    /// The rows of a range that are not deleted.
    Within(Range<u64>, Arc<Bitmap>),
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
            Self::Within(range, deleted) => {
                let keep = deleted.keep_mask(rows.clone())?;
                let positions = || (rows.start..rows.end).map(|position| range.contains(&position));
                Ok(Some(&keep & &BooleanBuffer::from_iter(positions())))
            }
        }
    }

    /// The deletion vector of the selection.
    pub(crate) fn vector(&self) -> Option<&Bitmap> {
        match self {
            Self::All => None,
            Self::Without(vector) | Self::Only(vector) | Self::Within(_, vector) => Some(vector),
        }
    }
}

#[cfg(test)]
mod tests {
    use deltaic_protocol::ErrorKind;
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_of_a_range_are_selected() {
        let deleted = Arc::new(Bitmap::from_positions([3, 5, 9]).expect("positions"));
        let rows = Rows::Within(2..8, deleted);
        for (of, expected) in [(0..4, vec![2]), (4..9, vec![4, 6, 7]), (8..12, vec![])] {
            let mask = rows
                .mask(of.clone())
                .expect("a mask")
                .expect("some are not selected");
            let selected = of.zip(&mask).filter(|(_, is_selected)| *is_selected);
            assert_eq!(selected.map(|(row, _)| row).collect::<Vec<u64>>(), expected);
        }
    }

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
