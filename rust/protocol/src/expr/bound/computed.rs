//! The columns that computed values refer to.

use std::fmt::Display;

use super::tree::{Computed, Node};

impl Computed {
    /// The parts that are computed first. Conditions are not among them.
    fn parts(&self) -> Vec<&Self> {
        match &self.node {
            Node::Known(_) | Node::Null | Node::Column(_) | Node::Condition(_) | Node::With(..) => Vec::new(),
            Node::Arithmetic(_, sides) | Node::TextTest(_, sides) | Node::Like(sides, _) => {
                sides.iter().collect()
            }
            Node::Negate(inner)
            | Node::Moved(inner, ..)
            | Node::Cast { inner, .. }
            | Node::Assign { inner, .. }
            | Node::Field(inner, _) => {
                vec![inner]
            }
            Node::Call(_, parts) | Node::Struct(parts) | Node::Coalesce(parts) => parts.iter().collect(),
            Node::Case { branches, otherwise } => {
                let results = branches.iter().map(|(_, result)| result);
                results.chain(std::iter::once(otherwise.as_ref())).collect()
            }
            Node::Element { of, key, .. } => vec![of, key],
        }
    }

    /// Calls `visit` with each reference to a column or nested field.
    pub(in crate::expr) fn for_each_path<'a>(&'a self, visit: &mut dyn FnMut(&'a Vec<String>)) {
        match &self.node {
            Node::Column(path) => visit(path),
            Node::With(operands, body) => {
                return in_operands(operands, visit, |visit| body.for_each_path(visit));
            }
            Node::Condition(condition) => condition.for_each_path(visit),
            Node::Case { branches, .. } => {
                for (condition, _) in branches {
                    condition.for_each_path(visit);
                }
            }
            _ => {}
        }
        self.parts()
            .into_iter()
            .for_each(|part| part.for_each_path(visit));
    }
}

/// Visits the paths of operands, and those of what uses them, except the references to the operands.
pub(super) fn in_operands<'a>(
    operands: &'a [(String, Computed)],
    visit: &mut dyn FnMut(&'a Vec<String>),
    body: impl FnOnce(&mut dyn FnMut(&'a Vec<String>)),
) {
    let is_own = |path: &Vec<String>| {
        let first = path.first();
        operands.iter().any(|(name, _)| Some(name) == first)
    };
    let mut other = |path: &'a Vec<String>| {
        if !is_own(path) {
            visit(path);
        }
    };
    for (_, operand) in operands {
        operand.for_each_path(&mut other);
    }
    body(&mut other);
}

/// The name of an operand that is evaluated once, which no column has.
pub(in crate::expr) fn operand_name(name: impl Display) -> String {
    format!("\0{name}")
}
