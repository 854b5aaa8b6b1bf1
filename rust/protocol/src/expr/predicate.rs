//! A predicate as the user wrote it, before any schema is known.

use crate::schema::{ColumnName, PrimitiveType};

use super::Comparison;

/// A literal, with as much type as its spelling gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// NULL.
    Null,
    /// `true`, `false`.
    Boolean(bool),
    /// Digits, perhaps with a point: an integer or a decimal, exactly as written.
    Number(String),
    /// A number of a named type: `1.5D`, `9.5BD`, `7L`, or a cast of a literal.
    Typed(String, PrimitiveType),
    /// Quoted text; it takes the type of the column it meets where that is exact.
    String(String),
    /// `X'…'`.
    Binary(Vec<u8>),
}

/// What a comparison compares.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A column or a field in one.
    Column(ColumnName),
    /// A literal.
    Literal(Literal),
}

/// A predicate as the user wrote it.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// A boolean column, or TRUE, FALSE, NULL.
    Term(Term),
    /// Two terms compared.
    Compare(Comparison, Term, Term),
    /// `IS NULL`.
    IsNull(Term),
    /// `IN (…)`.
    In(Term, Vec<Literal>),
    /// A string begins with a text.
    StartsWith(Term, String),
    /// All of them.
    And(Vec<Predicate>),
    /// One of them.
    Or(Vec<Predicate>),
    /// The opposite; NULL stays NULL.
    Not(Box<Predicate>),
}
