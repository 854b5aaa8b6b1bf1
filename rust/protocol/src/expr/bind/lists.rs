//! Binds IN: all operands are compared in one type.

use super::binder::{Binder, Value};
use super::comparisons::{beside_value, with_truth};
use super::literal_position::{self, LiteralPosition};
use crate::Result;

use crate::expr::bound::Computed;
use crate::expr::cast::coercion::wider;
use crate::expr::cast::known::Known;
use crate::expr::literal::order::compare_values;
use crate::expr::span::Span;
use crate::expr::syntax::Expr;
use crate::expr::{BoundPredicate, Comparison, Operand, Scalar, ValueSet};
use crate::schema::{DataType, PrimitiveType};

impl Binder<'_> {
    pub(super) fn is_in(&self, expr: &Expr, inner: &Expr, list: &[Expr]) -> Result<BoundPredicate> {
        let at = expr.at;
        if let Some(padded) = self.padded_in_columns(expr, inner, list)? {
            return Ok(padded);
        }
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            match self.value(item)? {
                Value::Known(known) => items.push(known),
                value => {
                    let found = self.typed(item.at, value)?;
                    return self.in_computed(at, inner, list, items, found);
                }
            }
        }
        let value = self.tested(inner)?;
        if let Some(padded) = self.padded_in(&value, &items, expr) {
            return Ok(padded);
        }
        let value = self.as_read(inner.at, value)?;
        let own = match &value {
            Value::Known(known) => known.data_type,
            Value::Column(column) if items.iter().all(|item| item.data_type == PrimitiveType::Void) => {
                return Ok(match &column.data_type {
                    DataType::Primitive(PrimitiveType::Variant) => {
                        return self.of_a_variant(inner.at, &column.name());
                    }
                    _ => BoundPredicate::Constant(None),
                });
            }
            Value::Column(column) => self.comparable(inner.at, column)?,
            Value::Condition(_) => PrimitiveType::Boolean,
            Value::Interval(_) | Value::Computed(_) => return self.only_of_columns(inner.at),
        };
        let (common, values, has_null) = self.in_one_type(own, &items, list)?;
        match value {
            Value::Known(known) => {
                let Some(own) = known.cast(common).map_err(self.failed(at))?.value else {
                    return Ok(BoundPredicate::Constant(None));
                };
                let found = values
                    .iter()
                    .any(|value| compare_values(Comparison::Equal, &own, value));
                Ok(BoundPredicate::Constant(
                    found.then_some(true).or((!has_null).then_some(false)),
                ))
            }
            Value::Column(column) if own != PrimitiveType::Boolean => {
                if own == PrimitiveType::String && common != PrimitiveType::String {
                    return self.of_texts(at, &column.name(), common);
                }
                Ok(one_of(column.path, own, values, common, has_null))
            }
            Value::Column(column) => Ok(one_truth_of(
                BoundPredicate::Column(column.path),
                &values,
                has_null,
            )),
            Value::Condition(condition) if values.len() + usize::from(has_null) == 1 => {
                Ok(one_truth_of(condition, &values, has_null))
            }
            Value::Condition(condition) => {
                let column = self.lifted(self.typed(inner.at, Value::Condition(condition))?);
                Ok(one_truth_of(
                    BoundPredicate::Column(column.path),
                    &values,
                    has_null,
                ))
            }
            _ => self.only_of_columns(at),
        }
    }

    /// The common type of all operands, the constants of a list in it, and whether one of them is NULL.
    fn in_one_type(
        &self,
        own: PrimitiveType,
        items: &[Known],
        list: &[Expr],
    ) -> Result<(PrimitiveType, Vec<Scalar>, bool)> {
        let mut common = own;
        for (item, expr) in items.iter().zip(list) {
            match wider(common, item.data_type) {
                Some(wider) => common = wider,
                None => return self.apart(expr.at, own, item.data_type),
            }
        }
        let mut values = Vec::with_capacity(items.len());
        let mut has_null = false;
        for (item, expr) in items.iter().zip(list) {
            match item.cast(common).map_err(self.failed(expr.at))?.value {
                Some(value) => values.push(value),
                None => has_null = true,
            }
        }
        Ok((common, values, has_null))
    }

    /// Binds IN with a list that has computed values: constants up to the first of them, which are already bound.
    fn in_computed(
        &self,
        at: Span,
        inner: &Expr,
        list: &[Expr],
        constants: Vec<Known>,
        computed: Computed,
    ) -> Result<BoundPredicate> {
        let mut parts = vec![self.part(inner)?];
        for (constant, item) in constants.into_iter().zip(list) {
            parts.push(self.typed(item.at, Value::Known(constant))?);
        }
        parts.push(computed);
        for item in list.iter().skip(parts.len() - 1) {
            parts.push(self.part(item)?);
        }
        let (parts, _) = self.alike(at, parts)?;
        let mut columns = parts.into_iter().map(|part| (part.at, self.lifted(part)));
        let Some((inner_at, own)) = columns.next() else {
            return self.only_of_columns(at);
        };
        let equal = columns.map(|(item_at, item)| {
            let own = (inner_at, Value::Column(own.clone()));
            self.compare(Comparison::Equal, own, (item_at, Value::Column(item)), at)
        });
        let equal = equal.collect::<Result<Vec<_>>>()?;
        Ok(BoundPredicate::Or(equal))
    }
}

/// Whether a column equals one of many values of the common type.
fn one_of(
    path: Vec<String>,
    column: PrimitiveType,
    values: Vec<Scalar>,
    common: PrimitiveType,
    has_null: bool,
) -> BoundPredicate {
    let fits: Option<Vec<LiteralPosition>> = values
        .iter()
        .map(|value| literal_position::fit(value, column))
        .collect();
    let Some(fits) = fits else {
        // They are compared one by one, in a type other than that of the column.
        let equal = |value| beside_value(Comparison::Equal, path.clone(), column, value, common);
        let mut parts: Vec<BoundPredicate> = values.into_iter().map(equal).collect();
        if has_null {
            parts.push(BoundPredicate::Constant(None));
        }
        return if parts.len() > 1 {
            BoundPredicate::Or(parts)
        } else {
            parts.pop().unwrap_or(BoundPredicate::Constant(None))
        };
    };
    let exact = |fit| match fit {
        LiteralPosition::Exact(value) => Some(value),
        LiteralPosition::After(_) | LiteralPosition::Below | LiteralPosition::Above => None,
    };
    let values = ValueSet::new(fits.into_iter().filter_map(exact).collect());
    match (values.values(), has_null) {
        ([], true) => BoundPredicate::Constant(None),
        ([], false) => literal_position::unless_null(path, false),
        ([value], false) => BoundPredicate::Compare {
            op: Comparison::Equal,
            left: Operand::Column(path),
            right: Operand::Scalar(value.clone()),
            common: column,
        },
        _ => BoundPredicate::In {
            path,
            values,
            has_null,
        },
    }
}

/// Whether the result of a condition is in a list.
fn one_truth_of(condition: BoundPredicate, values: &[Scalar], has_null: bool) -> BoundPredicate {
    let mut parts: Vec<BoundPredicate> = values
        .iter()
        .map(|value| with_truth(Comparison::Equal, condition.clone(), Some(value)))
        .collect();
    if has_null {
        parts.push(BoundPredicate::Constant(None));
    }
    if parts.len() > 1 {
        BoundPredicate::Or(parts)
    } else {
        parts.pop().unwrap_or(BoundPredicate::Constant(None))
    }
}
