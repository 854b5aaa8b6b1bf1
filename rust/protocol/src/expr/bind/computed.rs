//! Binds expressions to values that are computed for each row.

use super::binder::{Binder, Column, Value};
use crate::Result;
use crate::expr::bound::{Computed, Node, operand_name};
use crate::expr::cast::castable;
use crate::expr::cast::known::Known;
use crate::expr::kernels::arithmetic::{compute, plan};
use crate::expr::kernels::intervals::moved;
use crate::expr::kernels::negation::{negated, type_of_negated};
use crate::expr::operators::Arithmetic;
use crate::expr::span::Span;
use crate::expr::syntax::Expr;
use crate::expr::{BoundPredicate, BoundValue, Predicate, ValueExpr};
use crate::schema::{DataType, PrimitiveType, StructType};

impl ValueExpr {
    /// Resolves names and types against a schema.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate` for an unknown column or for operands that cannot be combined; `UnsupportedExpression`; both with
    /// the position.
    pub fn bind(&self, schema: &StructType) -> Result<BoundValue> {
        let timed = self.0.timed(|name| schema.field_ignoring_case(name).is_some())?;
        value_of(&timed, &Binder::new(schema, timed.text.source()))
    }
}

/// Binds a value.
pub(super) fn value_of(expression: &Predicate, binder: &Binder<'_>) -> Result<BoundValue> {
    let value = binder.value(&expression.root)?;
    Ok(BoundValue {
        text: expression.text.clone(),
        computed: binder.typed(expression.root.at, value)?,
    })
}

/// The constant of a computed part, or NULL of its type: both have the type that the part has in a computation.
fn known(part: &Computed, data_type: PrimitiveType) -> Known {
    match &part.node {
        Node::Known(known) => known.clone(),
        _ => Known::computed(None, data_type),
    }
}

impl Binder<'_> {
    /// The expression of a value.
    pub(super) fn typed(&self, at: Span, value: Value) -> Result<Computed> {
        let (data_type, node) = match value {
            Value::Known(known) => (DataType::Primitive(known.data_type), Node::Known(known)),
            Value::Column(column) => (column.data_type, Node::Column(column.path)),
            Value::Condition(condition) => (
                DataType::Primitive(PrimitiveType::Boolean),
                Node::Condition(Box::new(condition)),
            ),
            Value::Computed(computed) => return Ok(computed),
            Value::Interval(_) => return self.invalid(at, "an interval is not a value"),
        };
        Ok(Computed { at, data_type, node })
    }

    /// A value that is computed with: its strings are compared by their bytes.
    pub(super) fn part(&self, expr: &Expr) -> Result<Computed> {
        let value = self.value(expr)?;
        if let Value::Column(column) = &value
            && (column.collation.is_some() || column.data_type == PrimitiveType::Variant.into())
        {
            self.comparable(expr.at, column)?;
        }
        self.typed(expr.at, value)
    }

    /// The same for a value of a primitive type.
    pub(super) fn operand(&self, expr: &Expr) -> Result<(Computed, PrimitiveType)> {
        let part = self.part(expr)?;
        match part.data_type {
            DataType::Primitive(data_type) => Ok((part, data_type)),
            _ => {
                let message = format!("the type {} cannot be computed with", part.data_type);
                self.invalid(expr.at, message)
            }
        }
    }

    /// Computes a constant expression.
    pub(super) fn folded(&self, computed: Computed) -> Result<Value> {
        let Some(data_type) = computed.data_type.as_primitive() else {
            return Ok(Value::Computed(computed));
        };
        if !computed.is_constant() {
            return Ok(Value::Computed(computed));
        }
        match computed.constant(self.source) {
            Ok(value) => Ok(Value::Known(Known::computed(value, data_type))),
            // Only the rows that reach a branch raise its errors.
            Err(_) if self.in_branch.get() > 0 => Ok(Value::Computed(computed)),
            Err(error) => Err(error),
        }
    }

    /// Binds an expression that is evaluated only for some rows.
    pub(super) fn in_branch<T>(&self, bind: impl FnOnce() -> Result<T>) -> Result<T> {
        self.in_branch.set(self.in_branch.get() + 1);
        let bound = bind();
        self.in_branch.set(self.in_branch.get() - 1);
        bound
    }

    /// A column that represents a computed value in a condition.
    pub(super) fn lifted(&self, computed: Computed) -> Column {
        let name = self.new_operand();
        let shown = Some(self.source.text(computed.at));
        let data_type = computed.data_type.clone();
        self.operands.borrow_mut().push((name.clone(), computed));
        Column {
            path: vec![name],
            data_type,
            collation: None,
            shown,
            char_length: None,
            is_char: false,
        }
    }

    /// The name of another operand.
    pub(super) fn new_operand(&self) -> String {
        let number = self.operand_count.get();
        self.operand_count.set(number + 1);
        operand_name(number)
    }

    /// Binds an operand of a condition; a computed value is represented by a column.
    pub(super) fn tested(&self, expr: &Expr) -> Result<Value> {
        Ok(match self.value(expr)? {
            Value::Computed(computed) => Value::Column(self.lifted(computed)),
            value => value,
        })
    }

    /// Binds an operand of a test that does not pad texts of `char(n)` itself.
    pub(super) fn read(&self, expr: &Expr) -> Result<Value> {
        self.tested(expr).and_then(|value| self.as_read(expr.at, value))
    }

    /// The operand as a computed value if it is a column of `char(n)`: statistics have its stored texts, which not every
    /// writer pads, and rows have padded ones.
    pub(super) fn as_read(&self, at: Span, value: Value) -> Result<Value> {
        Ok(match value {
            Value::Column(column) if column.is_char && column.collation.is_none() => {
                Value::Column(self.lifted(self.typed(at, Value::Column(column))?))
            }
            value => value,
        })
    }

    pub(super) fn arithmetic(&self, at: Span, op: Arithmetic, left: &Expr, right: &Expr) -> Result<Value> {
        let (left_value, right_value) = (self.value(left)?, self.value(right)?);
        let (value, expr, interval, backwards) = match (op, &left_value, &right_value) {
            (Arithmetic::Add, Value::Interval(interval), _) => (right_value, right, *interval, false),
            (Arithmetic::Add, _, Value::Interval(interval)) => (left_value, left, *interval, false),
            (Arithmetic::Subtract, _, Value::Interval(interval)) => (left_value, left, *interval, true),
            _ => return self.combined(at, op, (left.at, left_value), (right.at, right_value)),
        };
        let inner = self.typed(expr.at, value)?;
        let from = inner.data_type.as_primitive().unwrap_or(PrimitiveType::Void);
        let null = Known::computed(None, from);
        let data_type = moved(&null, interval, backwards)
            .map_err(self.failed(at))?
            .data_type;
        self.folded(Computed {
            at,
            data_type: DataType::Primitive(data_type),
            node: Node::Moved(Box::new(inner), interval, backwards),
        })
    }

    fn combined(&self, at: Span, op: Arithmetic, left: (Span, Value), right: (Span, Value)) -> Result<Value> {
        if let (Value::Known(left), Value::Known(right), 0) = (&left.1, &right.1, self.in_branch.get()) {
            return compute(op, left, right)
                .map(Value::Known)
                .map_err(self.failed(at));
        }
        let (left, right) = (self.typed(left.0, left.1)?, self.typed(right.0, right.1)?);
        let (Some(a), Some(b)) = (left.data_type.as_primitive(), right.data_type.as_primitive()) else {
            let message = format!(
                "the types {} and {} cannot be combined with {op}",
                left.data_type, right.data_type
            );
            return self.invalid(at, message);
        };
        let plan = plan(op, &known(&left, a), &known(&right, b)).map_err(self.failed(at))?;
        self.folded(Computed {
            at,
            data_type: DataType::Primitive(plan.data_type),
            node: Node::Arithmetic(plan, Box::new([left, right])),
        })
    }

    pub(super) fn negative(&self, at: Span, inner: &Expr) -> Result<Value> {
        let value = self.value(inner)?;
        if let (Value::Known(known), 0) = (&value, self.in_branch.get()) {
            return negated(known).map(Value::Known).map_err(self.failed(at));
        }
        let inner = self.typed(inner.at, value)?;
        let from = inner.data_type.as_primitive().unwrap_or(PrimitiveType::Variant);
        let data_type = type_of_negated(from).map_err(self.failed(at))?;
        self.folded(Computed {
            at,
            data_type: DataType::Primitive(data_type),
            node: Node::Negate(Box::new(inner)),
        })
    }

    pub(super) fn cast(&self, at: Span, inner: &Expr, to: PrimitiveType, or_null: bool) -> Result<Value> {
        let value = self.value(inner)?;
        if matches!(&value, Value::Column(column) if column.data_type == DataType::Primitive(to)) {
            return Ok(value);
        }
        let inner = self.typed(inner.at, value)?;
        match inner.data_type.as_primitive() {
            Some(from) if castable(from, to) => self.folded(Computed {
                at,
                data_type: DataType::Primitive(to),
                node: Node::Cast {
                    inner: Box::new(inner),
                    or_null,
                },
            }),
            _ => self.invalid(
                at,
                format!("the type {} is not cast to the type {to}", inner.data_type),
            ),
        }
    }

    /// The condition that two computed values are equal.
    pub(super) fn equal(&self, at: Span, left: Value, right: (Span, Value)) -> Result<BoundPredicate> {
        self.compare(crate::expr::Comparison::Equal, (at, left), right, at)
    }
}
