//! Binds conditions, and values of every kind.

use super::binder::{Binder, Value};
use super::truth::{both, is, not};
use crate::expr::bound::Test;
use crate::expr::cast::known::Known;
use crate::expr::span::Span;
use crate::expr::syntax::{Expr, ExprKind};
use crate::expr::{BoundPredicate, Comparison, ComputedPart, Scalar};
use crate::schema::{DataType, PrimitiveType};
use crate::{Error, Result};

impl Binder<'_> {
    fn conditions(&self, parts: &[Expr]) -> Result<Vec<BoundPredicate>> {
        parts.iter().map(|part| self.condition(part)).collect()
    }

    /// Binds an expression that must be a condition.
    pub(super) fn condition(&self, expr: &Expr) -> Result<BoundPredicate> {
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

    pub(super) fn value(&self, expr: &Expr) -> Result<Value> {
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
    pub(super) fn with_operands(
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

    pub(super) fn only_of_columns<T>(&self, at: Span) -> Result<T> {
        let message = format!("{} is not implemented in a comparison", self.source.text(at));
        let hint = "compare values of primitive types";
        self.source.unsupported(at, message, hint)
    }
}
