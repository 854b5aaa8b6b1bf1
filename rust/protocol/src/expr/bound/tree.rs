//! The tree of conditions and computed values: its types, which contain each other.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::expr::cast::known::Known;
use crate::expr::functions::Function;
use crate::expr::kernels::arithmetic::Plan;
use crate::expr::operators::{Interval, TextTest};
use crate::expr::span::{SourceText, Span};
use crate::expr::{Comparison, LikePattern, Scalar, ValueSet};
use crate::schema::{DataType, PrimitiveType};

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

/// A condition on computed values. Data skipping judges it by partition values, and by what it [implies](Self::implied).
///
/// It is displayed as the text of its expression.
#[derive(Clone, Debug)]
pub struct ComputedPart(pub(super) Arc<(String, Test)>);

/// How a condition on computed values is evaluated.
#[derive(Clone, Debug)]
pub(in crate::expr) enum Test {
    /// A condition on the values of expressions.
    Operands {
        /// The text of the complete expression, for errors that point into it.
        text: SourceText,
        /// The expressions, and the names by which the condition refers to their values.
        operands: Vec<(String, Computed)>,
        condition: BoundPredicate,
    },
    /// A comparison of a `char(n)` column.
    Padded(PaddedComparison),
}

/// A part of a bound expression with the type of its values.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::expr) struct Computed {
    pub(in crate::expr) at: Span,
    pub(in crate::expr) data_type: DataType,
    pub(in crate::expr) node: Node,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::expr) enum Node {
    /// A constant of a primitive type.
    Known(Known),
    /// NULL of any type.
    Null,
    /// A column or a nested field.
    Column(Vec<String>),
    Condition(Box<BoundPredicate>),
    Arithmetic(Plan, Box<[Computed; 2]>),
    Negate(Box<Computed>),
    /// Adds an interval to a time, or subtracts it.
    Moved(Box<Computed>, Interval, bool),
    Cast {
        inner: Box<Computed>,
        /// `TRY_CAST`: NULL instead of an error.
        or_null: bool,
    },
    /// A number as the value of a column of another type, which must keep it.
    Assign {
        inner: Box<Computed>,
        /// The column, and what helps, for errors.
        column: String,
        hint: String,
    },
    /// A test of a string by another one.
    TextTest(TextTest, Box<[Computed; 2]>),
    /// LIKE with a pattern for each row, and its escape.
    Like(Box<[Computed; 2]>, char),
    /// A function of values that have the types that it needs.
    Call(&'static Function, Vec<Computed>),
    /// A struct of these fields, which is never NULL.
    Struct(Vec<Computed>),
    /// The first result whose condition is TRUE. Later parts are evaluated only for the other rows.
    Case {
        branches: Vec<(BoundPredicate, Computed)>,
        otherwise: Box<Computed>,
    },
    /// The first value that is not NULL.
    Coalesce(Vec<Computed>),
    /// Evaluates expressions once; the last one uses them as columns of these names.
    With(Vec<(String, Computed)>, Box<Computed>),
    /// The field at an index of a struct.
    Field(Box<Computed>, usize),
    /// An element of an array, or the value of a key of a map.
    Element {
        of: Box<Computed>,
        key: Box<Computed>,
        /// The index of the first element of an array.
        first: i64,
    },
}

/// A comparison of a `char(n)` column.
#[derive(Clone, Debug)]
pub(in crate::expr) struct PaddedComparison {
    pub(in crate::expr) path: Vec<String>,
    pub(in crate::expr) with: Compared,
    /// A condition that holds wherever this one does, for data skipping.
    pub(super) implied: Option<BoundPredicate>,
}

/// What the column is compared with.
#[derive(Clone, Debug)]
pub(in crate::expr) enum Compared {
    /// A text.
    Text(Comparison, String),
    /// Another such column.
    Column(Comparison, Vec<String>),
    /// Any of several texts, without spaces at their ends.
    AnyOf(BTreeSet<String>),
}
