//! A predicate as the user wrote it, before it is bound to a schema.

use super::expr::Expr;
use crate::expr::span::SourceText;

/// A predicate as the user wrote it. It is displayed as text that can be parsed to the same predicate.
///
/// ```
/// use deltaic_protocol::expr::parse_predicate;
/// let predicate = parse_predicate("a>1 and b in('x')")?;
/// assert_eq!(predicate.to_string(), "((a > 1) AND (b IN ('x')))");
/// assert_eq!(parse_predicate(&predicate.to_string())?, predicate);
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Predicate {
    /// The text, for errors that point into it.
    pub(in crate::expr) text: SourceText,
    pub(in crate::expr) root: Expr,
    /// The current time in microseconds since the epoch, if it is known.
    pub(in crate::expr) now: Option<i64>,
}

impl Predicate {
    /// The SQL text that was parsed.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.as_str()
    }
}

impl PartialEq for Predicate {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}
