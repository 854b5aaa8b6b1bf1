//! The rows of the table that match rows of the source, by file.

use std::collections::BTreeMap;

use deltaic_protocol::Result;
use deltaic_protocol::deletion_vector::Bitmap;

/// The positions of the rows that match, or that a clause changes though they do not match.
#[derive(Debug, Default)]
pub(in crate::operations::merge) struct MatchedRows {
    /// Those that a clause changes.
    pub(in crate::operations::merge) changed: BTreeMap<String, Bitmap>,
    /// Those that match but that no clause changes: a source row is not inserted because of them.
    pub(in crate::operations::merge) unchanged: BTreeMap<String, Bitmap>,
}

/// Positions in a file, added in any order.
#[derive(Clone, Default)]
pub(in crate::operations::merge) struct Positions(Vec<u64>);

impl Positions {
    pub(in crate::operations::merge) fn insert(&mut self, position: u64) {
        let word = usize::try_from(position / 64).unwrap_or(usize::MAX);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= 1 << (position % 64);
        }
    }

    fn into_bitmap(self) -> Result<Bitmap> {
        let words = (0u64..).zip(self.0);
        Bitmap::from_positions(words.flat_map(|(number, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| number * 64 + bit)
        }))
    }
}

/// The positions of each file that has any.
///
/// # Errors
///
/// `ValueError` for a position that deletion vectors cannot have.
pub(in crate::operations::merge) fn bitmaps(
    files: impl IntoIterator<Item = (String, Positions)>,
) -> Result<BTreeMap<String, Bitmap>> {
    let mut bitmaps = BTreeMap::new();
    for (path, positions) in files {
        let positions = positions.into_bitmap()?;
        if !positions.is_empty() {
            bitmaps.insert(path, positions);
        }
    }
    Ok(bitmaps)
}
