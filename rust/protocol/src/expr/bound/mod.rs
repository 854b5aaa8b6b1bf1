//! Bound expressions: resolved columns and typed values, as one tree of conditions and computed values.
//!
//! [`BoundPredicate`] has a closed form over columns, by which data skipping judges it. Other conditions are
//! [`ComputedPart`]s.

mod condition;
mod display;
mod node;
mod padded;
mod value;

use std::collections::BTreeSet;

use super::{Comparison, LikePattern, Scalar, ValueSet};
use crate::schema::PrimitiveType;
pub use condition::ComputedPart;
pub(super) use condition::Test;
pub(super) use node::{Computed, Node, operand_name};
pub(super) use padded::{Compared, PaddedComparison, trimmed};
pub use value::BoundValue;

/// An operand of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A column or a nested field: the names as spelled in the schema, outermost first.
    Column(Vec<String>),
    /// A value of the common type.
    Scalar(Scalar),
}

/// A predicate that is bound to a schema. Both operands of a comparison are cast to `common`, which is
/// the type of the column if possible when it is compared with a literal.
///
/// It is displayed as text that can be parsed and bound to an equal predicate.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundPredicate {
    /// TRUE, FALSE or NULL for every row.
    Constant(Option<bool>),
    /// A boolean column.
    Column(Vec<String>),
    /// A comparison in a common type.
    Compare {
        /// The operator.
        op: Comparison,
        /// The left side.
        left: Operand,
        /// The right side.
        right: Operand,
        /// The common type.
        common: PrimitiveType,
    },
    /// Whether the value of a column is in a list.
    In {
        /// The column.
        path: Vec<String>,
        /// Values of the column's type, at least one.
        values: ValueSet,
        /// Whether the list contains NULL: then the result for a value that is not in the list is NULL.
        has_null: bool,
    },
    /// `IS NULL`.
    IsNull(Vec<String>),
    /// Whether a floating point column is NaN; FALSE for NULL.
    IsNan(Vec<String>),
    /// Whether a string column starts with a string.
    StartsWith(Vec<String>, String),
    /// Whether a string column ends with a string.
    EndsWith(Vec<String>, String),
    /// Whether a string column contains a string.
    Contains(Vec<String>, String),
    /// Whether a string column matches a pattern.
    Like(Vec<String>, LikePattern),
    /// Whether the result of a condition is TRUE, FALSE or, with `None`, NULL. The result is never NULL.
    Is(Box<BoundPredicate>, Option<bool>),
    /// Conjunction.
    And(Vec<BoundPredicate>),
    /// Disjunction.
    Or(Vec<BoundPredicate>),
    /// Negation.
    Not(Box<BoundPredicate>),
    /// A condition on computed values.
    Computed(ComputedPart),
}

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
