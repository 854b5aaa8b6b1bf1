//! A bound expression.

use std::fmt::Display;

use super::BoundPredicate;
use crate::expr::cast::known::Known;
use crate::expr::functions::Function;
use crate::expr::kernels::arithmetic::Plan;
use crate::expr::operators::{Interval, TextTest};
use crate::expr::span::Span;
use crate::schema::DataType;

/// A part of a bound expression with the type of its values.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::expr) struct Computed {
    pub(in crate::expr) at: Span,
    pub(in crate::expr) data_type: DataType,
    pub(in crate::expr) node: Node,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::expr) enum Node {
    /// A constant of a primitive type.
    Known(Known),
    /// NULL of any type.
    Null,
    /// A column or a nested field.
    Column(Vec<String>),
    Condition(Box<BoundPredicate>),
    Arithmetic(Plan, Box<[Computed; 2]>),
    Negate(Box<Computed>),
    /// Adds an interval to a time, or subtracts it.
    Moved(Box<Computed>, Interval, bool),
    Cast {
        inner: Box<Computed>,
        /// `TRY_CAST`: NULL instead of an error.
        or_null: bool,
    },
    /// A number as the value of a column of another type, which must keep it.
    Assign {
        inner: Box<Computed>,
        /// The column, and what helps, for errors.
        column: String,
        hint: String,
    },
    /// A test of a string by another one.
    TextTest(TextTest, Box<[Computed; 2]>),
    /// LIKE with a pattern for each row, and its escape.
    Like(Box<[Computed; 2]>, char),
    /// A function of values that have the types that it needs.
    Call(&'static Function, Vec<Computed>),
    /// A struct of these fields, which is never NULL.
    Struct(Vec<Computed>),
    /// The first result whose condition is TRUE. Later parts are evaluated only for the other rows.
    Case {
        branches: Vec<(BoundPredicate, Computed)>,
        otherwise: Box<Computed>,
    },
    /// The first value that is not NULL.
    Coalesce(Vec<Computed>),
    /// Evaluates expressions once; the last one uses them as columns of these names.
    With(Vec<(String, Computed)>, Box<Computed>),
    /// The field at an index of a struct.
    Field(Box<Computed>, usize),
    /// An element of an array, or the value of a key of a map.
    Element {
        of: Box<Computed>,
        key: Box<Computed>,
        /// The index of the first element of an array.
        first: i64,
    },
}

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
