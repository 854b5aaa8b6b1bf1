//! Conditions on computed values.

use std::fmt::{self, Display, Formatter};

use arrow_array::{BooleanArray, RecordBatch};

use super::node::{Computed, in_operands};
use super::with_operands;
use crate::Result;
use crate::expr::bound::RowCondition;
use crate::expr::span::SourceText;
use crate::expr::{BoundPredicate, evaluate};

/// A condition on the values of expressions. Data skipping cannot judge it, except by partition values.
///
/// It is displayed as the text of the expression.
#[derive(Clone, Debug)]
pub(in crate::expr) struct ComputedCondition {
    /// The text of the complete expression, for errors that point into it.
    pub(in crate::expr) text: SourceText,
    /// The text of this condition.
    pub(in crate::expr) shown: String,
    /// The expressions, and the names by which the condition refers to their values.
    pub(in crate::expr) operands: Vec<(String, Computed)>,
    pub(in crate::expr) condition: BoundPredicate,
}

impl Display for ComputedCondition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl RowCondition for ComputedCondition {
    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let batch = with_operands(batch, &self.operands, self.text.source())?;
        evaluate(&self.condition, &batch)
    }

    fn paths(&self) -> Vec<&Vec<String>> {
        let mut found = Vec::new();
        in_operands(&self.operands, &mut |path| found.push(path), |visit| {
            self.condition.for_each_path(visit);
        });
        found
    }
}
