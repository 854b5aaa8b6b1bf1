//! A predicate that a schema has been asked about: columns, values of their types, and nothing left to decide.

use std::collections::BTreeSet;

use super::{LikePattern, Scalar, ValueSet};
use crate::schema::PrimitiveType;

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<=>`: NULL equals NULL, and the answer is never NULL.
    NullSafeEqual,
}

impl Comparison {
    /// The comparison that says the same of the sides in the other order.
    pub(super) fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Equal | Self::NotEqual | Self::NullSafeEqual => self,
        }
    }
}

/// A side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A column, or a field in one: the names from the outermost in, as the schema spells them.
    Column(Vec<String>),
    /// A value of the comparison's type.
    Scalar(Scalar),
}

/// A predicate that a schema has been asked about. Both sides of a comparison are brought to `common` first; beside a
/// literal that is the column's own type wherever it can be.
///
/// It prints as text that is read and bound to the same predicate again.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundPredicate {
    /// TRUE, FALSE or NULL for every row.
    Constant(Option<bool>),
    /// A boolean column.
    Column(Vec<String>),
    /// Two values compared in a type that holds both.
    Compare {
        /// How.
        op: Comparison,
        /// The left side.
        left: Operand,
        /// The right side.
        right: Operand,
        /// The type in which they are compared.
        common: PrimitiveType,
    },
    /// A column's value is one of many.
    In {
        /// The column.
        path: Vec<String>,
        /// Values of the column's type, at least one.
        values: ValueSet,
        /// Whether NULL is among them: the answer for a value that is not is NULL then.
        has_null: bool,
    },
    /// `IS NULL`.
    IsNull(Vec<String>),
    /// A column of floating point numbers is not a number; FALSE for NULL.
    IsNan(Vec<String>),
    /// A string column begins with a text.
    StartsWith(Vec<String>, String),
    /// A string column ends with a text.
    EndsWith(Vec<String>, String),
    /// A string column has a text in it.
    Contains(Vec<String>, String),
    /// A string column is of a pattern.
    Like(Vec<String>, LikePattern),
    /// A condition is TRUE, FALSE or, where there is no value, NULL. Never NULL itself.
    Is(Box<BoundPredicate>, Option<bool>),
    /// All of them.
    And(Vec<BoundPredicate>),
    /// One of them.
    Or(Vec<BoundPredicate>),
    /// The opposite.
    Not(Box<BoundPredicate>),
}

impl BoundPredicate {
    /// The top-level columns that the predicate looks at.
    #[must_use]
    pub fn columns(&self) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        self.for_each_path(&mut |path| found.extend(path.first().map(String::as_str)));
        found
    }

    /// Hands out every column or field that the predicate looks at, as often as it does.
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
        }
    }

    /// The parts that must all be TRUE.
    #[must_use]
    pub fn conjuncts(&self) -> Vec<&Self> {
        match self {
            Self::And(parts) => parts.iter().flat_map(Self::conjuncts).collect(),
            other => vec![other],
        }
    }

    /// Joins conjuncts again; none of none.
    #[must_use]
    pub fn all_of(mut parts: Vec<Self>) -> Option<Self> {
        if parts.len() > 1 {
            Some(Self::And(parts))
        } else {
            parts.pop()
        }
    }
}
