//! What a table must allow for the staged changes. Each verb states it; the commit verifies it for every version that it
//! is rebased on.

use deltaic_log::transaction::SupportCheck;
use deltaic_protocol::features::{
    ensure_appendable, ensure_changeable, ensure_removable, ensure_vectors_writable,
};

/// What a table must allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requirement {
    /// Data files are added.
    adds: bool,
    /// Rows are removed with their files.
    removes: bool,
    /// Rows are deleted by deletion vectors.
    vectors: bool,
    /// The protocol, the metadata or domains change.
    alters: bool,
}

impl Requirement {
    const NONE: Self = Self {
        adds: false,
        removes: false,
        vectors: false,
        alters: false,
    };
    pub(crate) const ADDS: Self = Self {
        adds: true,
        ..Self::NONE
    };
    pub(crate) const REMOVES: Self = Self {
        removes: true,
        ..Self::NONE
    };
    pub(crate) const VECTORS: Self = Self {
        vectors: true,
        ..Self::NONE
    };
    pub(crate) const ALTERS: Self = Self {
        alters: true,
        ..Self::NONE
    };

    /// What both require.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            adds: self.adds || other.adds,
            removes: self.removes || other.removes,
            vectors: self.vectors || other.vectors,
            alters: self.alters || other.alters,
        }
    }

    /// The support check. A commit of files requires what these do, whatever it alters besides.
    pub(crate) fn support_check(self) -> SupportCheck {
        match (self.adds, self.removes, self.vectors) {
            (false, false, false) if self.alters => ensure_changeable,
            (_, false, false) => ensure_appendable,
            (false, true, false) => ensure_removable,
            (true, true, false) => |table| {
                ensure_appendable(table)?;
                ensure_removable(table)
            },
            // Those that may write deletion vectors may remove rows.
            (false, _, true) => ensure_vectors_writable,
            (true, _, true) => |table| {
                ensure_appendable(table)?;
                ensure_vectors_writable(table)
            },
        }
    }
}
