//! Binds expressions to a schema: resolves columns, folds and types literals, and rejects incompatible
//! operands with their position in the text.

mod assigned;
mod binder;
mod branches;
mod calls;
mod comparisons;
mod computed;
mod conditions;
mod constants;
mod conversions;
mod join;
mod lists;
pub(super) mod literal_position;
mod names;
mod padded;
mod sides;
#[cfg(test)]
mod tests;
mod texts;
pub(super) mod truth;

pub use join::{JoinCondition, JoinKey};
pub use sides::{SOURCE, Side, Sides, TARGET};

use super::{BoundPredicate, Predicate};
use crate::Result;
use crate::schema::StructType;
use binder::Binder;

impl Predicate {
    /// Resolves names and types against a schema.
    ///
    /// An unknown column is `InvalidPredicate` with the most similar name; so are operands that cannot be
    /// compared, and literals that Spark would not evaluate. All have the position as `line` and
    /// `column`.
    pub fn bind(&self, schema: &StructType) -> Result<BoundPredicate> {
        let timed = self.timed(|name| schema.field_ignoring_case(name).is_some())?;
        Binder::new(schema, timed.text.source()).condition(&timed.root)
    }
}
