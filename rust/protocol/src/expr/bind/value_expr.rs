//! Binds an expression for a value: resolves columns, folds constants and determines its type.

use super::{Binder, Value, castable};
use crate::Result;
use crate::expr::arithmetic::{compute, later, negated};
use crate::expr::known::Known;
use crate::expr::predicate::{Arithmetic, Expr, ExprKind, Interval};
use crate::expr::span::Source;
use crate::expr::value_expr::{BoundValue, Node, ValueExpr};
use crate::schema::{DataType, PrimitiveType, StructType};

impl ValueExpr {
    /// Resolves names and types against a schema.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate` for an unknown column or for operands that cannot be combined; `UnsupportedExpression`; both with
    /// the position.
    pub fn bind(&self, schema: &StructType) -> Result<BoundValue> {
        let text = &self.0.text;
        let binder = Binder {
            schema,
            source: Source(text),
        };
        let (root, data_type) = binder.node(&self.0.root)?;
        Ok(BoundValue {
            text: text.clone(),
            root,
            data_type,
        })
    }
}

/// NULL of a type, which has the type that any value of it has in a computation.
fn null(data_type: PrimitiveType) -> Known {
    Known::computed(None, data_type)
}

impl Binder<'_> {
    fn node(&self, expr: &Expr) -> Result<(Node, DataType)> {
        let at = expr.at;
        match &expr.kind {
            ExprKind::Arithmetic(op, left, right) => {
                if let Some(moved) = self.moved(expr, *op, left, right)? {
                    return Ok(moved);
                }
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                if let (Node::Known(left), Node::Known(right)) = (&left.0, &right.0) {
                    let known = compute(*op, left, right).map_err(self.failed(at))?;
                    return Ok(of_known(known));
                }
                let typed = |(node, data_type): &(Node, PrimitiveType)| match node {
                    Node::Known(known) => known.clone(),
                    _ => null(*data_type),
                };
                // NULL in the place of a column: then the result is NULL, of the type that it has for every row.
                let computed = compute(*op, &typed(&left), &typed(&right));
                let data_type = computed.map_err(self.failed(at))?.data_type;
                let node = Node::Arithmetic(at, *op, Box::new(left.0), Box::new(right.0));
                Ok((node, DataType::Primitive(data_type)))
            }
            ExprKind::Negate(inner) => {
                let (inner, data_type) = self.operand(inner)?;
                if let Node::Known(known) = &inner {
                    return Ok(of_known(negated(known).map_err(self.failed(at))?));
                }
                let data_type = negated(&null(data_type)).map_err(self.failed(at))?.data_type;
                Ok((Node::Negate(at, Box::new(inner)), DataType::Primitive(data_type)))
            }
            ExprKind::Cast { inner, to, or_null } => {
                let (inner, from) = self.operand(inner)?;
                if matches!(inner, Node::Known(_)) {
                    return self.of_value(expr);
                }
                if !(from == *to || castable(from, *to) || is_text(*to) || are_times(from, *to)) {
                    return self.source.unsupported(
                        at,
                        format!("a cast of a column from {from} to {to} is not implemented"),
                        "cast between numbers, dates and timestamps, or from and to strings",
                    );
                }
                let node = Node::Cast {
                    at,
                    inner: Box::new(inner),
                    to: *to,
                    or_null: *or_null,
                };
                Ok((node, DataType::Primitive(*to)))
            }
            _ => self.of_value(expr),
        }
    }

    /// A date or time that is moved by an interval.
    fn moved(
        &self,
        expr: &Expr,
        op: Arithmetic,
        left: &Expr,
        right: &Expr,
    ) -> Result<Option<(Node, DataType)>> {
        let interval = |expr: &Expr| match &expr.kind {
            ExprKind::Interval(interval) => Some(*interval),
            _ => None,
        };
        let (moved, interval, backwards): (&Expr, Interval, bool) =
            match (op, interval(left), interval(right)) {
                (Arithmetic::Add, Some(interval), None) => (right, interval, false),
                (Arithmetic::Add, None, Some(interval)) => (left, interval, false),
                (Arithmetic::Subtract, None, Some(interval)) => (left, interval, true),
                _ => return Ok(None),
            };
        let (inner, data_type) = self.operand(moved)?;
        if matches!(inner, Node::Known(_)) {
            return self.of_value(expr).map(Some);
        }
        let moved = later(&null(data_type), interval, backwards).map_err(self.failed(expr.at))?;
        let node = Node::Later(expr.at, Box::new(inner), interval, backwards);
        Ok(Some((node, DataType::Primitive(moved.data_type))))
    }

    /// An operand of a computation, which has a primitive type.
    fn operand(&self, expr: &Expr) -> Result<(Node, PrimitiveType)> {
        match self.node(expr)? {
            (node, DataType::Primitive(data_type)) if data_type != PrimitiveType::Variant => {
                Ok((node, data_type))
            }
            (_, data_type) => self.invalid(expr.at, format!("the type {data_type} cannot be computed with")),
        }
    }

    fn of_value(&self, expr: &Expr) -> Result<(Node, DataType)> {
        Ok(match self.value(expr)? {
            Value::Known(known) => of_known(known),
            Value::Column(column) => match column.data_type {
                DataType::Primitive(data_type) if data_type != PrimitiveType::Variant => (
                    Node::Column(column.path, data_type),
                    DataType::Primitive(data_type),
                ),
                other => (Node::Whole(column.path), other),
            },
            Value::Condition(condition) => (
                Node::Condition(condition),
                DataType::Primitive(PrimitiveType::Boolean),
            ),
            Value::Interval(_) => return self.invalid(expr.at, "an interval is not a value of a column"),
        })
    }
}

fn of_known(known: Known) -> (Node, DataType) {
    let data_type = DataType::Primitive(known.data_type);
    (Node::Known(known), data_type)
}

fn is_text(data_type: PrimitiveType) -> bool {
    data_type == PrimitiveType::String
}

fn are_times(from: PrimitiveType, to: PrimitiveType) -> bool {
    let is_time = |data_type| {
        matches!(
            data_type,
            PrimitiveType::Date | PrimitiveType::Timestamp | PrimitiveType::TimestampNtz
        )
    };
    is_time(from) && is_time(to)
}
