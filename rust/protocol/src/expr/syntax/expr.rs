//! The tree of an expression as the user wrote it.

use crate::expr::functions::Function;
use crate::expr::operators::{Arithmetic, Interval, TextTest};
use crate::expr::span::Span;
use crate::expr::{Comparison, Scalar};
use crate::schema::PrimitiveType;

/// An expression and its position.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::expr) struct Expr {
    pub(in crate::expr) at: Span,
    pub(in crate::expr) kind: ExprKind,
    /// The depth of the expression, at least 1, which bounds recursion.
    pub(in crate::expr) height: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::expr) enum ExprKind {
    /// A value of the type that its spelling specifies; NULL has the type `void`.
    Literal(Option<Scalar>),
    Interval(Interval),
    /// A name, outermost part first.
    Column(Vec<String>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    Compare(Comparison, Box<Expr>, Box<Expr>),
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    Negate(Box<Expr>),
    Cast {
        inner: Box<Expr>,
        to: PrimitiveType,
        /// `TRY_CAST`: NULL instead of an error.
        or_null: bool,
    },
    IsNull(Box<Expr>),
    /// `IS TRUE`, `IS FALSE`, `IS UNKNOWN`.
    Is(Box<Expr>, Option<bool>),
    In(Box<Expr>, Vec<Expr>),
    Between(Box<Expr>, Box<Expr>, Box<Expr>),
    Like {
        inner: Box<Expr>,
        pattern: Box<Expr>,
        escape: char,
    },
    IsNan(Box<Expr>),
    TextTest(TextTest, Box<Expr>, Box<Expr>),
    Call(&'static Function, Vec<Expr>),
    Case {
        /// The value that is compared with the conditions, if there is one.
        operand: Option<Box<Expr>>,
        /// Conditions and results.
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    /// A field of a struct that is not a column.
    Field(Box<Expr>, String),
    /// An element of an array, counted from 0, or the value of a key of a map.
    Element(Box<Expr>, Box<Expr>),
}

impl ExprKind {
    /// The expressions that it consists of.
    pub(in crate::expr) fn parts(&self) -> Vec<&Expr> {
        match self {
            Self::Literal(_) | Self::Interval(_) | Self::Column(_) => Vec::new(),
            Self::And(parts) | Self::Or(parts) | Self::Call(_, parts) => parts.iter().collect(),
            Self::Not(inner)
            | Self::Negate(inner)
            | Self::Cast { inner, .. }
            | Self::IsNull(inner)
            | Self::Is(inner, _)
            | Self::IsNan(inner)
            | Self::Field(inner, _) => vec![inner],
            Self::Compare(_, left, right)
            | Self::Arithmetic(_, left, right)
            | Self::TextTest(_, left, right)
            | Self::Element(left, right) => vec![left, right],
            Self::In(inner, list) => std::iter::once(inner.as_ref()).chain(list).collect(),
            Self::Between(inner, low, high) => vec![inner, low, high],
            Self::Like { inner, pattern, .. } => vec![inner, pattern],
            Self::Case {
                operand,
                branches,
                otherwise,
            } => {
                let branches = branches
                    .iter()
                    .flat_map(|(condition, result)| [condition, result]);
                let ends = [operand, otherwise].into_iter().flatten().map(Box::as_ref);
                branches.chain(ends).collect()
            }
        }
    }
}

impl Expr {
    pub(in crate::expr) fn new(at: Span, kind: ExprKind) -> Self {
        let parts = kind.parts();
        let height = 1 + parts.iter().map(|part| part.height).max().unwrap_or(0);
        Self { at, kind, height }
    }
}
