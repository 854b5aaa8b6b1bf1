//! Binds expressions to a schema: resolves columns, folds and types literals, and rejects incompatible
//! operands with their position in the text.

mod assigned;
mod branches;
mod calls;
mod comparisons;
mod computed;
mod constants;
mod conversions;
mod join;
mod lists;
pub(super) mod literal_position;
mod names;
mod padded;
mod sides;
#[cfg(test)]
mod tests;
mod texts;

use std::cell::{Cell, RefCell};

use super::bound::{Computed, Test};
use super::failure::Failure;
use super::span::{Source, Span};
use super::{BoundPredicate, Comparison, ComputedPart, Predicate, Scalar};
use crate::expr::cast::known::Known;
use crate::expr::operators::Interval;
use crate::expr::syntax::{Expr, ExprKind};
use crate::schema::{DataType, PrimitiveType, StructType};
use crate::{Error, Result};

pub use join::{JoinCondition, JoinKey};
pub use sides::{SOURCE, Side, Sides, TARGET};

impl Predicate {
    /// Resolves names and types against a schema.
    ///
    /// An unknown column is `InvalidPredicate` with the most similar name; so are operands that cannot be
    /// compared, and literals that Spark would not evaluate. All have the position as `line` and
    /// `column`.
    pub fn bind(&self, schema: &StructType) -> Result<BoundPredicate> {
        let timed = self.timed(|name| schema.field_ignoring_case(name).is_some())?;
        Binder::new(schema, timed.text.source()).condition(&timed.root)
    }
}

struct Binder<'a> {
    schema: &'a StructType,
    /// The sides that names refer to, if the schema has a column for each side of a merge.
    sides: Option<&'a Sides>,
    source: Source<'a>,
    /// The computed values that the condition that is being bound tests, and their names.
    operands: RefCell<Vec<(String, Computed)>>,
    operand_count: Cell<usize>,
    /// The number of branches around the expression that is being bound.
    in_branch: Cell<usize>,
}

/// A bound expression.
#[derive(Clone)]
enum Value {
    /// A constant.
    Known(Known),
    Interval(Interval),
    Column(Column),
    /// TRUE, FALSE or NULL for each row.
    Condition(BoundPredicate),
    /// Any other value for each row.
    Computed(Computed),
}

/// A column or a nested field.
#[derive(Clone)]
struct Column {
    path: Vec<String>,
    data_type: DataType,
    /// The collation of its strings, unless they are ordered by bytes.
    collation: Option<String>,
    /// The text of a computed value that it represents.
    shown: Option<String>,
    /// `n`, if it is declared as `char(n)`.
    char_length: Option<u32>,
    /// Whether it is declared as `char(n)`, also in a struct.
    is_char: bool,
}

impl Column {
    fn name(&self) -> String {
        if let Some(shown) = &self.shown {
            return shown.clone();
        }
        crate::schema::ColumnName::from_parts(self.path.clone()).to_string()
    }
}

fn not(inner: BoundPredicate) -> BoundPredicate {
    BoundPredicate::Not(Box::new(inner))
}

impl<'a> Binder<'a> {
    fn new(schema: &'a StructType, source: Source<'a>) -> Self {
        Self {
            schema,
            sides: None,
            source,
            operands: RefCell::default(),
            operand_count: Cell::default(),
            in_branch: Cell::default(),
        }
    }

    /// Binds names of the columns of two sides.
    fn of_sides(sides: &'a Sides, source: Source<'a>) -> Self {
        Self {
            sides: Some(sides),
            ..Self::new(sides.joined(), source)
        }
    }
}

impl Binder<'_> {
    fn invalid<T>(&self, at: Span, message: impl AsRef<str>) -> Result<T> {
        self.source.invalid(at, message, "")
    }

    fn failed(&self, at: Span) -> impl Fn(Failure) -> Error + '_ {
        move |failure| failure.at(self.source, at)
    }

    fn conditions(&self, parts: &[Expr]) -> Result<Vec<BoundPredicate>> {
        parts.iter().map(|part| self.condition(part)).collect()
    }

    /// Binds an expression that must be a condition.
    fn condition(&self, expr: &Expr) -> Result<BoundPredicate> {
        match self.value(expr)? {
            Value::Condition(condition) => Ok(condition),
            Value::Known(known) => match (known.value, known.data_type) {
                (Some(Scalar::Boolean(value)), _) => Ok(BoundPredicate::Constant(Some(value))),
                (None, PrimitiveType::Void | PrimitiveType::Boolean) => Ok(BoundPredicate::Constant(None)),
                _ => self.invalid(expr.at, "a literal is used where a condition is expected"),
            },
            Value::Interval(_) => self.invalid(expr.at, "an interval is used where a condition is expected"),
            Value::Computed(computed)
                if computed.data_type == DataType::Primitive(PrimitiveType::Boolean) =>
            {
                self.with_operands(expr, || {
                    let column = self.lifted(computed);
                    Ok(BoundPredicate::Column(column.path))
                })
            }
            Value::Computed(computed) => {
                let message = format!(
                    "a condition is expected, not a value of the type {}",
                    computed.data_type
                );
                self.invalid(expr.at, message)
            }
            Value::Column(column) => match column.data_type {
                DataType::Primitive(PrimitiveType::Boolean) => Ok(BoundPredicate::Column(column.path)),
                DataType::Primitive(PrimitiveType::Variant) => self.of_a_variant(expr.at, &column.name()),
                _ => {
                    let message = format!(
                        "the column {} is of the type {}, not a condition",
                        column.name(),
                        column.data_type
                    );
                    let hint = "compare it with something, for example: id > 0";
                    self.source
                        .invalid(expr.at, message, hint)
                        .map_err(|error: Error| error.with("field", column.name()))
                }
            },
        }
    }

    fn value(&self, expr: &Expr) -> Result<Value> {
        let at = expr.at;
        Ok(match &expr.kind {
            ExprKind::Literal(value) => Value::Known(Known {
                data_type: value.as_ref().map_or(PrimitiveType::Void, Scalar::data_type),
                value: value.clone(),
                is_literal: true,
            }),
            ExprKind::Interval(interval) => Value::Interval(*interval),
            ExprKind::Column(path) => self.reference(at, path)?,
            ExprKind::Arithmetic(op, left, right) => self.arithmetic(at, *op, left, right)?,
            ExprKind::Negate(inner) => self.negative(at, inner)?,
            ExprKind::Cast { inner, to, or_null } => self.cast(at, inner, *to, *or_null)?,
            ExprKind::Call(function, arguments) => self.call(at, function, arguments)?,
            ExprKind::Case {
                operand,
                branches,
                otherwise,
            } => {
                let branches: Vec<_> = branches
                    .iter()
                    .map(|(condition, result)| (condition, result))
                    .collect();
                self.case(at, operand.as_deref(), &branches, otherwise.as_deref())?
            }
            ExprKind::Field(inner, name) => {
                let inner = self.value(inner).and_then(|value| self.typed(inner.at, value))?;
                Value::Computed(self.field(at, inner, name)?)
            }
            ExprKind::Element(of, key) => self.element(at, of, key, 0)?,
            _ => match self.with_operands(expr, || self.asked(expr))? {
                BoundPredicate::Constant(value) => Value::Known(Known::computed(
                    value.map(Scalar::Boolean),
                    PrimitiveType::Boolean,
                )),
                condition => Value::Condition(condition),
            },
        })
    }

    /// Binds a condition on values that may be computed.
    fn with_operands(
        &self,
        expr: &Expr,
        bind: impl FnOnce() -> Result<BoundPredicate>,
    ) -> Result<BoundPredicate> {
        let outer = self.operands.take();
        let bound = bind();
        let operands = self.operands.replace(outer);
        let condition = bound?;
        if operands.is_empty() || matches!(condition, BoundPredicate::Constant(_)) {
            return Ok(condition);
        }
        Ok(BoundPredicate::Computed(ComputedPart::new(
            expr.to_string(),
            Test::Operands {
                text: self.source.to_owned(),
                operands,
                condition,
            },
        )))
    }

    /// Binds a test of an operand.
    fn asked(&self, expr: &Expr) -> Result<BoundPredicate> {
        Ok(match &expr.kind {
            ExprKind::And(parts) => BoundPredicate::And(self.conditions(parts)?),
            ExprKind::Or(parts) => BoundPredicate::Or(self.conditions(parts)?),
            ExprKind::Not(inner) => not(self.condition(inner)?),
            ExprKind::Compare(op, left, right) => {
                let left_value = self.tested(left)?;
                self.ensure_quoted(&left_value, right)?;
                let right_value = self.tested(right)?;
                match self.padded(*op, &left_value, &right_value, expr) {
                    Some(padded) => padded,
                    None => {
                        let left = (left.at, self.as_read(left.at, left_value)?);
                        let right = (right.at, self.as_read(right.at, right_value)?);
                        self.compare(*op, left, right, expr.at)?
                    }
                }
            }
            ExprKind::Between(inner, low, high) => {
                // Bound once: in nested BETWEENs, binding it twice would take exponential time.
                let mut value = self.read(inner)?;
                if let Value::Condition(_) = value {
                    value = Value::Column(self.lifted(self.typed(inner.at, value)?));
                }
                let part = |op, bound: &Expr| {
                    let side = (inner.at, value.clone());
                    self.compare(op, side, (bound.at, self.read(bound)?), expr.at)
                };
                let above = part(Comparison::GreaterOrEqual, low)?;
                match (above, part(Comparison::LessOrEqual, high)?) {
                    (BoundPredicate::Constant(above), BoundPredicate::Constant(below)) => {
                        BoundPredicate::Constant(both(above, below))
                    }
                    (above, below) => BoundPredicate::And(vec![above, below]),
                }
            }
            ExprKind::In(inner, list) => self.is_in(expr, inner, list)?,
            ExprKind::IsNull(inner) => match self.tested(inner)? {
                Value::Column(column) => BoundPredicate::IsNull(column.path),
                Value::Known(known) => BoundPredicate::Constant(Some(known.value.is_none())),
                Value::Condition(condition) => is(condition, None),
                Value::Interval(_) | Value::Computed(_) => BoundPredicate::Constant(Some(false)),
            },
            ExprKind::Is(inner, truth) => is(self.condition(inner)?, *truth),
            ExprKind::Like {
                inner,
                pattern,
                escape,
            } => self.like(inner, pattern, *escape)?,
            ExprKind::TextTest(test, text, part) => self.text_test(*test, text, part)?,
            ExprKind::IsNan(inner) => self.is_nan(inner)?,
            _ => return self.only_of_columns(expr.at),
        })
    }

    fn only_of_columns<T>(&self, at: Span) -> Result<T> {
        let message = format!("{} is not implemented in a comparison", self.source.text(at));
        let hint = "compare values of primitive types";
        self.source.unsupported(at, message, hint)
    }
}

/// AND of two results.
fn both(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// Tests the result of a condition.
pub(super) fn is(condition: BoundPredicate, truth: Option<bool>) -> BoundPredicate {
    match (condition, truth) {
        (BoundPredicate::Constant(value), truth) => BoundPredicate::Constant(Some(value == truth)),
        (BoundPredicate::Column(path), None) => BoundPredicate::IsNull(path),
        (condition, truth) => BoundPredicate::Is(Box::new(condition), truth),
    }
}
