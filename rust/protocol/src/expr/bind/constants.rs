//! Evaluates expressions without columns.

use super::binder::{Binder, Value};
use crate::expr::cast::known::Known;
use crate::expr::syntax::Expr;
use crate::expr::{BoundPredicate, Predicate, Scalar, ValueExpr};
use crate::schema::{PrimitiveType, StructType};
use crate::{Error, Result};

impl Predicate {
    /// The value of an expression without columns, cast to a type; `None` if it is NULL.
    ///
    /// # Errors
    ///
    /// Returns `InvalidPredicate` if the expression contains a column or has no value of the type;
    /// `UnsupportedExpression` if its SQL is not implemented. Both have the position as `line` and
    /// `column`.
    ///
    /// ```
    /// use deltaic_protocol::expr::{Scalar, parse_predicate};
    /// use deltaic_protocol::schema::PrimitiveType;
    /// let seven = parse_predicate("3 + 4")?.constant(PrimitiveType::Long)?;
    /// assert_eq!(seven, Some(Scalar::Long(7)));
    /// assert!(parse_predicate("a")?.constant(PrimitiveType::Long).is_err());
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn constant(&self, to: PrimitiveType) -> Result<Option<Scalar>> {
        let nothing = StructType::default();
        let timed = self.timed(|_| false)?;
        let binder = Binder::new(&nothing, timed.text.source());
        if let Some(column) = timed.columns().first() {
            let message = format!(
                "the column {} is used where a constant is expected",
                column.join(".")
            );
            return binder.source.invalid(
                timed.root.at,
                message,
                "write a value without columns, for example 'new' or 0",
            );
        }
        let known = binder.known(&timed.root)?;
        known
            .cast(to)
            .map(|known| known.value)
            .map_err(binder.failed(timed.root.at))
    }
}

impl ValueExpr {
    /// The value of an expression without columns, cast to a type; `None` if it is NULL.
    ///
    /// # Errors
    ///
    /// Those of [`Predicate::constant`].
    pub fn constant(&self, to: PrimitiveType) -> Result<Option<Scalar>> {
        self.0.constant(to)
    }
}

impl Binder<'_> {
    fn known(&self, expr: &Expr) -> Result<Known> {
        match self.value(expr)? {
            Value::Known(known) => Ok(known),
            Value::Condition(BoundPredicate::Constant(value)) => Ok(Known::computed(
                value.map(Scalar::Boolean),
                PrimitiveType::Boolean,
            )),
            Value::Condition(_) | Value::Interval(_) | Value::Column(_) | Value::Computed(_) => {
                let message = format!("{} is not a constant", self.source.text(expr.at));
                let error: Result<Known, Error> = self.source.unsupported(expr.at, message, "");
                error
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::expr::parse_predicate;

    #[test]
    fn a_constant_is_computed_in_the_type_that_is_requested() -> Result<()> {
        let text = |text: &str, to: PrimitiveType| parse_predicate(text)?.constant(to);
        assert_eq!(text("7", PrimitiveType::Long)?, Some(Scalar::Long(7)));
        assert_eq!(text("-7", PrimitiveType::Integer)?, Some(Scalar::Integer(-7)));
        assert_eq!(
            text("1 = 1", PrimitiveType::Boolean)?,
            Some(Scalar::Boolean(true))
        );
        assert_eq!(text("true", PrimitiveType::Boolean)?, Some(Scalar::Boolean(true)));
        assert_eq!(text("NULL", PrimitiveType::String)?, None);
        assert_eq!(
            text("DATE '1970-01-02'", PrimitiveType::Date)?,
            Some(Scalar::Date(1))
        );
        for (wrong, to, kind) in [
            ("a", PrimitiveType::Long, ErrorKind::InvalidPredicate),
            ("a > 1", PrimitiveType::Boolean, ErrorKind::InvalidPredicate),
            ("'x'", PrimitiveType::Long, ErrorKind::InvalidPredicate),
            ("300", PrimitiveType::Byte, ErrorKind::InvalidPredicate),
            ("1) OR (1", PrimitiveType::Long, ErrorKind::InvalidPredicate),
            ("uuid()", PrimitiveType::String, ErrorKind::UnsupportedExpression),
        ] {
            let found = text(wrong, to).err().map(|error| error.kind());
            assert_eq!(found, Some(kind), "{wrong}");
        }
        Ok(())
    }
}
