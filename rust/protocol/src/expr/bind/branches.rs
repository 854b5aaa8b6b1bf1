//! Binds CASE, COALESCE and NULLIF, and the parts of nested values.

use super::binder::{Binder, Column, Value};
use crate::Result;
use crate::expr::bound::{Computed, Node};
use crate::expr::cast::coercion::wider;
use crate::expr::cast::known::Known;
use crate::expr::literal::integers::is_integral;
use crate::expr::span::Span;
use crate::expr::syntax::{Expr, ExprKind};
use crate::expr::{Comparison, Scalar};
use crate::schema::{DataType, PrimitiveType};

impl Binder<'_> {
    pub(super) fn case(
        &self,
        at: Span,
        operand: Option<&Expr>,
        branches: &[(&Expr, &Expr)],
        otherwise: Option<&Expr>,
    ) -> Result<Value> {
        let operand = match operand {
            Some(operand) => {
                let (named, mut column) = self.named(operand)?;
                if let ExprKind::Column(_) = operand.kind
                    && let Value::Column(of) = self.value(operand)?
                {
                    column.char_length = of.char_length;
                }
                Some((named, column))
            }
            None => None,
        };
        let (mut conditions, mut results) = (Vec::new(), Vec::new());
        for (index, (condition, result)) in branches.iter().enumerate() {
            let bind = || match &operand {
                None => self.condition(condition),
                Some((_, column)) => self.with_operands(condition, || {
                    let (operand, value) = (Value::Column(column.clone()), self.tested(condition)?);
                    match self.padded(Comparison::Equal, &operand, &value, condition) {
                        Some(padded) => Ok(padded),
                        None => self.equal(at, operand, (condition.at, value)),
                    }
                }),
            };
            conditions.push(match index {
                0 => bind()?,
                _ => self.in_branch(bind)?,
            });
            results.push(self.in_branch(|| self.part(result))?);
        }
        results.push(match otherwise {
            Some(otherwise) => self.in_branch(|| self.part(otherwise))?,
            None => self.typed(at, Value::Known(Known::computed(None, PrimitiveType::Void)))?,
        });
        let (mut results, data_type) = self.in_branch(|| self.alike(at, results))?;
        let Some(otherwise) = results.pop() else {
            return self.invalid(at, "CASE has no result");
        };
        let case = Computed {
            at,
            data_type,
            node: Node::Case {
                branches: conditions.into_iter().zip(results).collect(),
                otherwise: Box::new(otherwise),
            },
        };
        self.folded(match operand {
            Some((operand, _)) => around(operand, case),
            None => case,
        })
    }

    /// An operand that is evaluated once, and the column that represents it.
    fn named(&self, expr: &Expr) -> Result<((String, Computed), Column)> {
        let (part, data_type) = self.operand(expr)?;
        let name = self.new_operand();
        let column = Column {
            path: vec![name.clone()],
            data_type: DataType::Primitive(data_type),
            collation: None,
            shown: Some(self.source.text(expr.at)),
            char_length: None,
            is_char: false,
        };
        Ok(((name, part), column))
    }

    pub(super) fn coalesce(&self, at: Span, arguments: &[Expr]) -> Result<Value> {
        let mut parts = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            parts.push(match index {
                0 => self.part(argument)?,
                _ => self.in_branch(|| self.part(argument))?,
            });
        }
        let (parts, data_type) = self.in_branch(|| self.alike(at, parts))?;
        self.folded(Computed {
            at,
            data_type,
            node: Node::Coalesce(parts),
        })
    }

    pub(super) fn null_if(&self, at: Span, value: &Expr, other: &Expr) -> Result<Value> {
        let (operand, column) = self.named(value)?;
        let data_type = column.data_type.clone();
        let itself = self.typed(at, Value::Column(column.clone()))?;
        let is_equal = self.with_operands(other, || {
            let other_value = self.tested(other)?;
            self.equal(at, Value::Column(column), (other.at, other_value))
        })?;
        let null = Computed {
            at,
            data_type: data_type.clone(),
            node: Node::Null,
        };
        let case = Computed {
            at,
            data_type,
            node: Node::Case {
                branches: vec![(is_equal, null)],
                otherwise: Box::new(itself),
            },
        };
        self.folded(around(operand, case))
    }

    /// A field of a struct, or the value of a key of a map.
    pub(super) fn field(&self, at: Span, of: Computed, name: &str) -> Result<Computed> {
        match &of.data_type {
            DataType::Struct(fields) => {
                let position = fields.fields.iter().position(|field| field.name == name);
                let position = position.or_else(|| {
                    let name = name.to_lowercase();
                    fields
                        .fields
                        .iter()
                        .position(|field| field.name.to_lowercase() == name)
                });
                match position.and_then(|index| Some((index, fields.fields.get(index)?))) {
                    Some((index, field)) => Ok(Computed {
                        at,
                        data_type: field.data_type.clone(),
                        node: Node::Field(Box::new(of), index),
                    }),
                    None => self.invalid(at, format!("the struct has no field {name}")),
                }
            }
            DataType::Map(_) => {
                let key = Known::computed(Some(Scalar::String(name.to_owned())), PrimitiveType::String);
                let key = self.typed(at, Value::Known(key))?;
                self.element_of(at, of, key, 0)
            }
            other => self.invalid(at, format!("the type {other} has no field {name}")),
        }
    }

    pub(super) fn element(&self, at: Span, of: &Expr, key: &Expr, first: i64) -> Result<Value> {
        let of = self.value(of).and_then(|value| self.typed(of.at, value))?;
        let key = self.part(key)?;
        if let (DataType::Struct(_), Node::Known(known)) = (&of.data_type, &key.node)
            && let Some(Scalar::String(name)) = &known.value
        {
            return self.field(at, of, &name.clone()).map(Value::Computed);
        }
        self.element_of(at, of, key, first).map(Value::Computed)
    }

    fn element_of(&self, at: Span, of: Computed, key: Computed, first: i64) -> Result<Computed> {
        let (key_type, data_type) = match &of.data_type {
            DataType::Array(array) => {
                let index = match key.data_type.as_primitive() {
                    Some(PrimitiveType::Long) if first == 0 => PrimitiveType::Long,
                    Some(own) if own != PrimitiveType::Long && is_integral(own) => PrimitiveType::Integer,
                    Some(PrimitiveType::Void) if first == 0 => PrimitiveType::Integer,
                    _ => return self.invalid(key.at, "the index of an array is an integer"),
                };
                (Some(index), array.element_type.clone())
            }
            DataType::Map(map) => {
                let own = map.key_type.as_primitive();
                // ELEMENT_AT compares keys as their common type; an index is converted to the type of the keys.
                let key_type = match (own, key.data_type.as_primitive()) {
                    (Some(own), Some(other)) if first == 1 && own != other => {
                        let is_text = |data_type| data_type == PrimitiveType::String;
                        match wider(own, other).filter(|_| !is_text(own) && !is_text(other)) {
                            Some(common) => Some(common),
                            None => return self.apart(at, own, other),
                        }
                    }
                    _ => own,
                };
                (key_type, map.value_type.clone())
            }
            other => return self.invalid(at, format!("the type {other} has no elements")),
        };
        let Some(key_type) = key_type else {
            return self
                .source
                .unsupported(at, "keys that are not primitive are not implemented", "");
        };
        Ok(Computed {
            at,
            data_type,
            node: Node::Element {
                of: Box::new(of),
                key: Box::new(self.implicit(key, key_type)?),
                first,
            },
        })
    }
}

/// A computation with an operand that is evaluated once.
fn around(operand: (String, Computed), body: Computed) -> Computed {
    Computed {
        at: body.at,
        data_type: body.data_type.clone(),
        node: Node::With(vec![operand], Box::new(body)),
    }
}
