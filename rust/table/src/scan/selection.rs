//! Which rows of a file are asked for, told by deletion vectors.

use deltaic_protocol::deletion_vector::Descriptor;
use serde::{Deserialize, Serialize};

/// Rows of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Selection {
    /// Every one.
    #[default]
    All,
    /// Those that a vector does not delete.
    Without(Descriptor),
    /// Those alone that one vector deletes and another, where there is one, does not.
    Difference {
        /// The rows.
        deleted: Descriptor,
        /// Rows that are not among them.
        but_not: Option<Descriptor>,
    },
}

impl Selection {
    /// The rows that are left of a file.
    #[must_use]
    pub fn of(deletion_vector: Option<Descriptor>) -> Self {
        deletion_vector.map_or(Self::All, Self::Without)
    }

    /// The vectors that tell, in the order in which [`Selection::rows`] wants them.
    pub(crate) fn vectors(&self) -> impl Iterator<Item = &Descriptor> {
        let (one, other) = match self {
            Self::All => (None, None),
            Self::Without(vector) => (Some(vector), None),
            Self::Difference { deleted, but_not } => (Some(deleted), but_not.as_ref()),
        };
        one.into_iter().chain(other)
    }
}
