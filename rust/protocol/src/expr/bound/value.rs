//! Bound values.

use super::tree::{Computed, Node};
use crate::expr::cast::coercion::wider;
use crate::expr::literal::integers::is_integral;
use crate::expr::span::SourceText;
use crate::schema::DataType;

/// An expression for a value that is bound to a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundValue {
    pub(in crate::expr) text: SourceText,
    pub(in crate::expr) computed: Computed,
}

impl BoundValue {
    /// The type of the values.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        &self.computed.data_type
    }

    /// The SQL text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.as_str()
    }

    /// Whether the value is that of a column or nested field.
    #[must_use]
    pub fn is_column(&self) -> bool {
        matches!(self.computed.node, Node::Column(_))
    }

    /// The names of the column or nested field whose value this is, cast to a wider number or not.
    #[must_use]
    pub fn widened_column(&self) -> Option<&[String]> {
        match &self.computed.node {
            Node::Column(path) => Some(path),
            Node::Cast {
                inner,
                or_null: false,
            } => match (&inner.node, &inner.data_type, self.data_type()) {
                (Node::Column(path), DataType::Primitive(from), DataType::Primitive(to))
                    if is_integral(*from) && is_integral(*to) && wider(*from, *to) == Some(*to) =>
                {
                    Some(path)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Calls `visit` with each reference to a column or nested field.
    pub fn for_each_path<'a>(&'a self, visit: &mut dyn FnMut(&'a Vec<String>)) {
        self.computed.for_each_path(visit);
    }
}
