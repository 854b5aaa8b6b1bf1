//! Binds comparisons of `char(n)` columns, for which Spark pads the shorter operand: `=`, `<=>`, `<>`, `<`, `<=`, `>`, `>=`
//! and IN with constants, and comparisons of two such columns. It does not pad for BETWEEN, LIKE and functions, in fields
//! of structs, or in a list with NULL.

use super::binder::{Binder, Column, Value};
use crate::Result;
use crate::expr::bound::{Compared, PaddedComparison, Test};
use crate::expr::cast::known::Known;
use crate::expr::syntax::{Expr, ExprKind};
use crate::expr::{BoundPredicate, Comparison, ComputedPart, Scalar};

impl Binder<'_> {
    /// A comparison that pads; `None` for every other one.
    pub(super) fn padded(
        &self,
        op: Comparison,
        left: &Value,
        right: &Value,
        shown: &dyn ToString,
    ) -> Option<BoundPredicate> {
        let (column, with) = match (left, right) {
            (Value::Column(column), Value::Known(known)) => {
                (column, Compared::Text(op, text(known)?.to_owned()))
            }
            (Value::Known(known), Value::Column(column)) => {
                (column, Compared::Text(op.mirrored(), text(known)?.to_owned()))
            }
            (Value::Column(column), Value::Column(other)) => {
                let (own, of_other) = (column.char_length?, other.char_length?);
                // Equal columns of both sides are keys of a merge.
                if own == of_other && self.sides.is_some() {
                    return None;
                }
                (column, Compared::Column(op, other.path.clone()))
            }
            _ => return None,
        };
        compared(column, with, shown)
    }

    /// The same for a list of constants.
    pub(super) fn padded_in(
        &self,
        value: &Value,
        items: &[Known],
        shown: &dyn ToString,
    ) -> Option<BoundPredicate> {
        let Value::Column(column) = value else { return None };
        let texts = items.iter().map(text).collect::<Option<Vec<_>>>()?;
        compared(column, PaddedComparison::any_of(texts), shown)
    }

    /// The same for a list of such columns.
    pub(super) fn padded_in_columns(
        &self,
        shown: &Expr,
        inner: &Expr,
        list: &[Expr],
    ) -> Result<Option<BoundPredicate>> {
        if !std::iter::once(inner)
            .chain(list)
            .all(|expr| matches!(expr.kind, ExprKind::Column(_)))
        {
            return Ok(None);
        }
        let value = self.value(inner)?;
        let mut parts = Vec::with_capacity(list.len());
        for item in list {
            match self.padded(Comparison::Equal, &value, &self.value(item)?, shown) {
                Some(padded) => parts.push(padded),
                None => return Ok(None),
            }
        }
        Ok(Some(BoundPredicate::Or(parts)))
    }
}

fn compared(column: &Column, with: Compared, shown: &dyn ToString) -> Option<BoundPredicate> {
    column.char_length?;
    let comparison = PaddedComparison::new(column.path.clone(), with);
    let part = ComputedPart::new(shown.to_string(), Test::Padded(comparison));
    Some(BoundPredicate::Computed(part))
}

fn text(known: &Known) -> Option<&str> {
    match &known.value {
        Some(Scalar::String(text)) => Some(text),
        _ => None,
    }
}
