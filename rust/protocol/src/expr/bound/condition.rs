//! Conditions on computed values.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use super::computed::in_operands;
use super::tree::{BoundPredicate, ComputedPart, Test};

impl ComputedPart {
    /// The condition that is displayed as `shown`.
    pub(in crate::expr) fn new(shown: String, test: Test) -> Self {
        Self(Arc::new((shown, test)))
    }

    pub(in crate::expr) fn test(&self) -> &Test {
        &self.0.1
    }

    /// A condition on columns that holds wherever this one does.
    #[must_use]
    pub fn implied(&self) -> Option<&BoundPredicate> {
        match self.test() {
            Test::Operands { .. } => None,
            Test::Padded(comparison) => comparison.implied(),
        }
    }

    /// Calls `visit` with each reference to a column or nested field.
    pub(super) fn for_each_path<'a>(&'a self, visit: &mut dyn FnMut(&'a Vec<String>)) {
        match self.test() {
            Test::Operands {
                operands, condition, ..
            } => in_operands(operands, visit, |visit| condition.for_each_path(visit)),
            Test::Padded(comparison) => comparison.paths().into_iter().for_each(visit),
        }
    }

    fn paths(&self) -> Vec<&Vec<String>> {
        let mut found = Vec::new();
        self.for_each_path(&mut |path| found.push(path));
        found
    }
}

impl PartialEq for ComputedPart {
    fn eq(&self, other: &Self) -> bool {
        self.0.0 == other.0.0 && self.paths() == other.paths()
    }
}

impl Display for ComputedPart {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.0)
    }
}
