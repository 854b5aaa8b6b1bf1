//! An expression for a value as the user wrote it, before it is bound to a schema.

use super::predicate::Predicate;

/// An expression for a value, as the user wrote it.
///
/// ```
/// use deltaic_protocol::expr::ValueExpr;
/// let expression = ValueExpr::parse("price * 2")?;
/// assert_eq!(expression.text(), "price * 2");
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ValueExpr(pub(in crate::expr) Predicate);

impl ValueExpr {
    /// The SQL text that was parsed.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.text()
    }

    /// Whether this is the word `DEFAULT`: the default of the column that it is assigned to.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.text().trim().eq_ignore_ascii_case("default")
    }
}
