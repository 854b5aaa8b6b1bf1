//! Selects rows of a file by deletion vectors.

use deltaic_protocol::deletion_vector::Descriptor;
use serde::{Deserialize, Serialize};

/// Selected rows of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Selection {
    /// All rows.
    #[default]
    All,
    /// The rows that a vector does not delete.
    Without(Descriptor),
    /// Only the rows that one vector deletes and another, if there is one, does not.
    Difference {
        /// The vector with the rows.
        deleted: Descriptor,
        /// The vector whose rows are excluded.
        but_not: Option<Descriptor>,
    },
}

impl Selection {
    /// Selects the rows that are not deleted.
    #[must_use]
    pub fn of(deletion_vector: Option<Descriptor>) -> Self {
        deletion_vector.map_or(Self::All, Self::Without)
    }

    /// The deletion vectors of the selection, in the order in which they must be read.
    pub(crate) fn vectors(&self) -> impl Iterator<Item = &Descriptor> {
        let (one, other) = match self {
            Self::All => (None, None),
            Self::Without(vector) => (Some(vector), None),
            Self::Difference { deleted, but_not } => (Some(deleted), but_not.as_ref()),
        };
        one.into_iter().chain(other)
    }
}
