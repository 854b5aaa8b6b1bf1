//! Comparisons of columns of the type `char(n)`: the shorter text is compared as if it was padded with spaces.
//!
//! Spark pads literals and values to one length. Not every writer pads the values that it stores, so the comparison does
//! not depend on `n`.

use super::tree::{BoundPredicate, Compared, PaddedComparison};
use crate::expr::Comparison;

impl PaddedComparison {
    pub(in crate::expr) fn new(path: Vec<String>, with: Compared) -> Self {
        let starts = |text: &str| BoundPredicate::StartsWith(path.clone(), trimmed(text).to_owned());
        let implied = match &with {
            Compared::Text(Comparison::Equal | Comparison::NullSafeEqual, text) => Some(starts(text)),
            Compared::AnyOf(texts) => Some(BoundPredicate::Or(
                texts.iter().map(|text| starts(text)).collect(),
            )),
            // A shorter text may be greater, if the longer one continues with a control character.
            Compared::Text(..) | Compared::Column(..) => None,
        };
        Self { path, with, implied }
    }

    /// The texts of a list, as [`Compared::AnyOf`] has them.
    pub(in crate::expr) fn any_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Compared {
        Compared::AnyOf(texts.into_iter().map(|text| trimmed(text).to_owned()).collect())
    }

    /// The columns that are compared.
    pub(super) fn paths(&self) -> Vec<&Vec<String>> {
        match &self.with {
            Compared::Column(_, other) => vec![&self.path, other],
            Compared::Text(..) | Compared::AnyOf(_) => vec![&self.path],
        }
    }

    /// A condition on columns that holds wherever this one does.
    pub(super) fn implied(&self) -> Option<&BoundPredicate> {
        self.implied.as_ref()
    }
}

/// A text without the spaces at its end.
pub(in crate::expr) fn trimmed(text: &str) -> &str {
    text.trim_end_matches(' ')
}
