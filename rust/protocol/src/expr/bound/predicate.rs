//! The columns and the parts of bound predicates.

use std::collections::BTreeSet;

use super::tree::{BoundPredicate, Operand};

impl BoundPredicate {
    /// The top-level columns that the predicate refers to.
    #[must_use]
    pub fn columns(&self) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        self.for_each_path(&mut |path| found.extend(path.first().map(String::as_str)));
        found
    }

    /// Calls `visit` with each reference to a column or nested field.
    pub fn for_each_path<'a>(&'a self, visit: &mut dyn FnMut(&'a Vec<String>)) {
        match self {
            Self::Constant(_) => {}
            Self::Column(path)
            | Self::IsNull(path)
            | Self::IsNan(path)
            | Self::In { path, .. }
            | Self::StartsWith(path, _)
            | Self::EndsWith(path, _)
            | Self::Contains(path, _)
            | Self::Like(path, _) => visit(path),
            Self::Compare { left, right, .. } => {
                for side in [left, right] {
                    if let Operand::Column(path) = side {
                        visit(path);
                    }
                }
            }
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.for_each_path(visit)),
            Self::Not(inner) | Self::Is(inner, _) => inner.for_each_path(visit),
            Self::Computed(computed) => computed.for_each_path(visit),
        }
    }

    /// Whether a part of the predicate is computed, so that its evaluation can fail for a row.
    #[must_use]
    pub fn can_fail(&self) -> bool {
        match self {
            Self::Computed(_) => true,
            Self::And(parts) | Self::Or(parts) => parts.iter().any(Self::can_fail),
            Self::Not(inner) | Self::Is(inner, _) => inner.can_fail(),
            _ => false,
        }
    }

    /// The conjuncts of the predicate.
    #[must_use]
    pub fn conjuncts(&self) -> Vec<&Self> {
        match self {
            Self::And(parts) => parts.iter().flat_map(Self::conjuncts).collect(),
            other => vec![other],
        }
    }

    /// Joins conjuncts; `None` without conjuncts.
    #[must_use]
    pub fn all_of(mut parts: Vec<Self>) -> Option<Self> {
        if parts.len() > 1 {
            Some(Self::And(parts))
        } else {
            parts.pop()
        }
    }
}
