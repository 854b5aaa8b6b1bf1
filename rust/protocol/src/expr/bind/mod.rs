//! Binds a predicate to a schema: resolves columns, folds and types literals, and rejects incompatible
//! operands with their position in the text.

mod comparisons;
mod constants;
mod lists;
mod names;
#[cfg(test)]
mod tests;
mod texts;
mod value_expr;

use super::arithmetic;
use super::failure::Failure;
use super::known::Known;
use super::predicate::{Arithmetic, Expr, ExprKind, Interval};
use super::span::{Source, Span};
use super::{BoundPredicate, Comparison, Predicate, Scalar};
use crate::schema::{DataType, PrimitiveType, StructType};
use crate::{Error, Result};

impl Predicate {
    /// Resolves names and types against a schema.
    ///
    /// An unknown column is `InvalidPredicate` with the most similar name; so are operands that cannot be
    /// compared, and literals that Spark would not evaluate. All have the position as `line` and
    /// `column`.
    pub fn bind(&self, schema: &StructType) -> Result<BoundPredicate> {
        let binder = Binder {
            schema,
            source: Source(&self.text),
        };
        binder.condition(&self.root)
    }
}

struct Binder<'a> {
    schema: &'a StructType,
    source: Source<'a>,
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
}

/// A column or a nested field.
#[derive(Clone)]
struct Column {
    path: Vec<String>,
    data_type: DataType,
    /// The collation of its strings, unless they are ordered by bytes.
    collation: Option<String>,
}

impl Column {
    fn name(&self) -> String {
        crate::schema::ColumnName::from_parts(self.path.clone()).to_string()
    }
}

fn not(inner: BoundPredicate) -> BoundPredicate {
    BoundPredicate::Not(Box::new(inner))
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
            ExprKind::Column(path) => Value::Column(self.resolve(at, path)?),
            ExprKind::Arithmetic(op, left, right) => self.arithmetic(at, *op, left, right)?,
            ExprKind::Negate(inner) => match self.value(inner)? {
                Value::Known(known) => Value::Known(arithmetic::negated(&known).map_err(self.failed(at))?),
                _ => return self.only_of_literals(at),
            },
            ExprKind::Cast { inner, to, or_null } => self.cast(at, inner, *to, *or_null)?,
            _ => match self.asked(expr)? {
                BoundPredicate::Constant(value) => Value::Known(Known::computed(
                    value.map(Scalar::Boolean),
                    PrimitiveType::Boolean,
                )),
                condition => Value::Condition(condition),
            },
        })
    }

    /// Binds a test of an operand.
    fn asked(&self, expr: &Expr) -> Result<BoundPredicate> {
        Ok(match &expr.kind {
            ExprKind::And(parts) => BoundPredicate::And(self.conditions(parts)?),
            ExprKind::Or(parts) => BoundPredicate::Or(self.conditions(parts)?),
            ExprKind::Not(inner) => not(self.condition(inner)?),
            ExprKind::Compare(op, left, right) => {
                let left_value = self.value(left)?;
                self.ensure_quoted(&left_value, right)?;
                let right_value = self.value(right)?;
                self.compare(*op, (left.at, left_value), (right.at, right_value), expr.at)?
            }
            ExprKind::Between(inner, low, high) => {
                // Bound once: in nested BETWEENs, binding it twice would take exponential time.
                let value = self.value(inner)?;
                if matches!(value, Value::Condition(_)) {
                    return self.only_of_columns(inner.at);
                }
                let part = |op, bound: &Expr| {
                    let side = (inner.at, value.clone());
                    self.compare(op, side, (bound.at, self.value(bound)?), expr.at)
                };
                let above = part(Comparison::GreaterOrEqual, low)?;
                match (above, part(Comparison::LessOrEqual, high)?) {
                    (BoundPredicate::Constant(above), BoundPredicate::Constant(below)) => {
                        BoundPredicate::Constant(both(above, below))
                    }
                    (above, below) => BoundPredicate::And(vec![above, below]),
                }
            }
            ExprKind::In(inner, list) => self.is_in(expr.at, inner, list)?,
            ExprKind::IsNull(inner) => match self.value(inner)? {
                Value::Column(column) => BoundPredicate::IsNull(column.path),
                Value::Known(known) => BoundPredicate::Constant(Some(known.value.is_none())),
                Value::Condition(condition) => is(condition, None),
                Value::Interval(_) => BoundPredicate::Constant(Some(false)),
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

    fn only_of_literals<T>(&self, at: Span) -> Result<T> {
        let message = format!("{} is not implemented in predicates", self.source.text(at));
        let hint = "arithmetic and casts are supported for literals only: move the computation to the literal's side";
        self.source.unsupported(at, message, hint)
    }

    fn only_of_columns<T>(&self, at: Span) -> Result<T> {
        let message = format!("{} is not implemented in predicates", self.source.text(at));
        let hint = "compare a column with literals or with another column";
        self.source.unsupported(at, message, hint)
    }

    fn arithmetic(&self, at: Span, op: Arithmetic, left: &Expr, right: &Expr) -> Result<Value> {
        let known = match (op, self.value(left)?, self.value(right)?) {
            (_, Value::Known(left), Value::Known(right)) => arithmetic::compute(op, &left, &right),
            (Arithmetic::Add, Value::Known(known), Value::Interval(interval))
            | (Arithmetic::Add, Value::Interval(interval), Value::Known(known)) => {
                arithmetic::later(&known, interval, false)
            }
            (Arithmetic::Subtract, Value::Known(known), Value::Interval(interval)) => {
                arithmetic::later(&known, interval, true)
            }
            _ => return self.only_of_literals(at),
        };
        known.map(Value::Known).map_err(self.failed(at))
    }

    fn cast(&self, at: Span, inner: &Expr, to: PrimitiveType, or_null: bool) -> Result<Value> {
        match self.value(inner)? {
            Value::Known(known) => match known.cast(to) {
                Err(Failure::Invalid(_) | Failure::Malformed(_))
                    if or_null && castable(known.data_type, to) =>
                {
                    Ok(Value::Known(Known::computed(None, to)))
                }
                cast => cast.map(Value::Known).map_err(self.failed(at)),
            },
            // A cast to its own type.
            Value::Column(column) if column.data_type == DataType::Primitive(to) => Ok(Value::Column(column)),
            _ => self.only_of_literals(at),
        }
    }
}

/// Whether some values of a type can be cast to another, so that TRY_CAST returns NULL for the others.
fn castable(from: PrimitiveType, to: PrimitiveType) -> bool {
    use super::integers::is_numeric;
    from == PrimitiveType::String || (is_numeric(from) && is_numeric(to))
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
