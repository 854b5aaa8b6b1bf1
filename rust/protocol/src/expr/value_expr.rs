//! Expressions for new values: parsed, bound to a schema, and evaluated for each row.
//!
//! Values are computed row by row with the same functions as constants, so both have Spark's types, overflow checks and
//! errors.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, new_null_array};

use super::arithmetic::{compute, later, negated};
use super::evaluate::column;
use super::failure::Failure;
use super::integers::is_integral;
use super::known::Known;
use super::predicate::{Arithmetic, Interval};
use super::span::{Source, Span};
use super::{BoundPredicate, Predicate, Scalar, evaluate, parse_predicate};
use crate::schema::{DataType, PrimitiveType};
use crate::{Error, ErrorKind, Result};

/// An expression for a value, as the user wrote it.
///
/// ```
/// use deltaic_protocol::expr::ValueExpr;
/// let expression = ValueExpr::parse("price * 2")?;
/// assert_eq!(expression.text(), "price * 2");
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ValueExpr(pub(super) Predicate);

impl ValueExpr {
    /// Parses SQL text: a literal, a column, arithmetic, a cast or a condition.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate` for invalid SQL, `UnsupportedExpression` for SQL that is not implemented; both with the
    /// position.
    pub fn parse(text: &str) -> Result<Self> {
        parse_predicate(text).map(Self)
    }

    /// The SQL text that was parsed.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.text()
    }
}

/// An expression for a value that is bound to a schema.
#[derive(Clone, Debug)]
pub struct BoundValue {
    pub(super) text: Arc<str>,
    pub(super) root: Node,
    pub(super) data_type: DataType,
}

/// A part of a bound expression.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A constant.
    Known(Known),
    /// A column or a nested field of a primitive type.
    Column(Vec<String>, PrimitiveType),
    /// A column or a nested field of another type, which can only be used as it is.
    Whole(Vec<String>),
    /// NULL of any type.
    Null,
    Condition(BoundPredicate),
    Arithmetic(Span, Arithmetic, Box<Node>, Box<Node>),
    Negate(Span, Box<Node>),
    /// Adds an interval, or subtracts it.
    Later(Span, Box<Node>, Interval, bool),
    Cast {
        at: Span,
        inner: Box<Node>,
        to: PrimitiveType,
        /// `TRY_CAST`: NULL instead of an error.
        or_null: bool,
    },
}

impl BoundValue {
    /// The type of the values.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Evaluates the expression for each row of a batch, which has the columns of the schema.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate` with the position if Spark raises an error for a row: overflow, division by zero, an invalid
    /// cast.
    pub fn evaluate(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        match &self.root {
            Node::Whole(path) | Node::Column(path, _) => return column(batch, path),
            Node::Null => return Ok(new_null_array(&self.data_type.to_arrow()?, batch.num_rows())),
            _ => {}
        }
        let rows = batch.num_rows();
        let source = Source(&self.text);
        let inputs = Inputs::of(&self.root, batch)?;
        let DataType::Primitive(data_type) = self.data_type else {
            return Err(Error::internal("a computed value has no primitive type"));
        };
        let mut values = Vec::with_capacity(rows);
        for row in 0..rows {
            values.push(inputs.value(row, source)?.value);
        }
        Ok(Scalar::to_column(&values, data_type))
    }
}

/// A node with the arrays that it needs.
enum Inputs<'n> {
    Known(&'n Known),
    Column(ArrayRef, PrimitiveType),
    Condition(BooleanArray),
    Arithmetic(Span, Arithmetic, Box<Self>, Box<Self>),
    Negate(Span, Box<Self>),
    Later(Span, Box<Self>, Interval, bool),
    Cast {
        at: Span,
        inner: Box<Self>,
        to: PrimitiveType,
        or_null: bool,
    },
}

impl<'n> Inputs<'n> {
    fn of(node: &'n Node, batch: &RecordBatch) -> Result<Self> {
        let boxed = |node: &'n Node| Self::of(node, batch).map(Box::new);
        Ok(match node {
            Node::Known(known) => Self::Known(known),
            Node::Column(path, data_type) => Self::Column(column(batch, path)?, *data_type),
            Node::Whole(_) | Node::Null => {
                return Err(Error::internal("a value of this type is not computed with"));
            }
            Node::Condition(condition) => Self::Condition(evaluate(condition, batch)?),
            Node::Arithmetic(at, op, left, right) => Self::Arithmetic(*at, *op, boxed(left)?, boxed(right)?),
            Node::Negate(at, inner) => Self::Negate(*at, boxed(inner)?),
            Node::Later(at, inner, interval, backwards) => {
                Self::Later(*at, boxed(inner)?, *interval, *backwards)
            }
            Node::Cast {
                at,
                inner,
                to,
                or_null,
            } => Self::Cast {
                at: *at,
                inner: boxed(inner)?,
                to: *to,
                or_null: *or_null,
            },
        })
    }

    fn value(&self, row: usize, source: Source<'_>) -> Result<Known> {
        let failed = |at: Span| move |failure: Failure| failure.at(source, at);
        match self {
            Self::Known(known) => Ok((*known).clone()),
            Self::Column(array, data_type) => Ok(Known::computed(
                Scalar::of_row(array, row, *data_type),
                *data_type,
            )),
            Self::Condition(held) => {
                let value = held.is_valid(row).then(|| Scalar::Boolean(held.value(row)));
                Ok(Known::computed(value, PrimitiveType::Boolean))
            }
            Self::Arithmetic(at, op, left, right) => {
                compute(*op, &left.value(row, source)?, &right.value(row, source)?).map_err(failed(*at))
            }
            Self::Negate(at, inner) => negated(&inner.value(row, source)?).map_err(failed(*at)),
            Self::Later(at, inner, interval, backwards) => {
                later(&inner.value(row, source)?, *interval, *backwards).map_err(failed(*at))
            }
            Self::Cast {
                at,
                inner,
                to,
                or_null,
            } => match inner.value(row, source)?.cast(*to) {
                Err(Failure::Invalid(_) | Failure::Malformed(_)) if *or_null => {
                    Ok(Known::computed(None, *to))
                }
                cast => cast.map_err(failed(*at)),
            },
        }
    }
}

impl BoundValue {
    /// Returns the expression with the type of the column that it is assigned to: exact numbers are converted to other
    /// exact numbers and to doubles, with an error for a row whose value is out of range; NULL and dates are converted too.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch` with the `field` for every other type: an explicit cast is needed.
    pub fn assigned_to(self, column: &str, to: &DataType) -> Result<Self> {
        if self.data_type == *to {
            return Ok(self);
        }
        let mismatch = |hint: String| {
            let what = format!(
                "the column {column} is {to}, but its new value {} is {}",
                self.text, self.data_type
            );
            Err(Error::new(ErrorKind::SchemaMismatch, what)
                .with("field", column)
                .hint(hint))
        };
        match (&self.data_type, to) {
            (DataType::Primitive(PrimitiveType::Void), _) => Ok(Self {
                root: Node::Null,
                data_type: to.clone(),
                text: self.text,
            }),
            (DataType::Primitive(from), DataType::Primitive(wanted)) if is_assignable(*from, *wanted) => {
                let at = Span {
                    start: 0,
                    end: self.text.len(),
                };
                let root = match self.root {
                    Node::Known(known) => {
                        let cast = known.cast(*wanted);
                        Node::Known(cast.map_err(|failure| failure.at(Source(&self.text), at))?)
                    }
                    root => Node::Cast {
                        at,
                        inner: Box::new(root),
                        to: *wanted,
                        or_null: false,
                    },
                };
                Ok(Self {
                    root,
                    data_type: to.clone(),
                    text: self.text,
                })
            }
            (DataType::Primitive(_), DataType::Primitive(_)) => {
                mismatch(format!("write CAST({} AS {to})", self.text))
            }
            _ => mismatch("use a value of the column's own type".to_owned()),
        }
    }
}

/// Whether values of a type may be assigned to a column of another, as by Spark, except that no fraction is cut off.
fn is_assignable(from: PrimitiveType, to: PrimitiveType) -> bool {
    use PrimitiveType::{Date, Decimal, Double, Float, Timestamp, TimestampNtz};
    let is_exact = |data_type| is_integral(data_type) || matches!(data_type, Decimal { .. });
    match (from, to) {
        (from, to) if is_integral(to) => is_integral(from),
        (from, Decimal { .. }) => is_exact(from),
        (from, Double) => is_exact(from) || from == Float,
        (from, Float) => is_exact(from),
        (Date, Timestamp | TimestampNtz) => true,
        _ => false,
    }
}
