//! What is known while an expression is bound, and the values that its parts are bound to.

use std::cell::{Cell, RefCell};

use super::sides::Sides;
use crate::expr::bound::{BoundPredicate, Computed};
use crate::expr::cast::known::Known;
use crate::expr::failure::Failure;
use crate::expr::operators::Interval;
use crate::expr::span::{Source, Span};
use crate::schema::{ColumnName, DataType, StructType};
use crate::{Error, Result};

pub(super) struct Binder<'a> {
    pub(super) schema: &'a StructType,
    /// The sides that names refer to, if the schema has a column for each side of a merge.
    pub(super) sides: Option<&'a Sides>,
    pub(super) source: Source<'a>,
    /// The computed values that the condition that is being bound tests, and their names.
    pub(super) operands: RefCell<Vec<(String, Computed)>>,
    pub(super) operand_count: Cell<usize>,
    /// The number of branches around the expression that is being bound.
    pub(super) in_branch: Cell<usize>,
}

/// A bound expression.
#[derive(Clone)]
pub(super) enum Value {
    /// A constant.
    Known(Known),
    Interval(Interval),
    Column(Column),
    /// TRUE, FALSE or NULL for each row.
    Condition(BoundPredicate),
    /// Any other value for each row.
    Computed(Computed),
}

/// A column or a nested field.
#[derive(Clone)]
pub(super) struct Column {
    pub(super) path: Vec<String>,
    pub(super) data_type: DataType,
    /// The collation of its strings, unless they are ordered by bytes.
    pub(super) collation: Option<String>,
    /// The text of a computed value that it represents.
    pub(super) shown: Option<String>,
    /// `n`, if it is declared as `char(n)`.
    pub(super) char_length: Option<u32>,
    /// Whether it is declared as `char(n)`, also in a struct.
    pub(super) is_char: bool,
}

impl Column {
    pub(super) fn name(&self) -> String {
        if let Some(shown) = &self.shown {
            return shown.clone();
        }
        ColumnName::from_parts(self.path.clone()).to_string()
    }
}

impl<'a> Binder<'a> {
    pub(super) fn new(schema: &'a StructType, source: Source<'a>) -> Self {
        Self {
            schema,
            sides: None,
            source,
            operands: RefCell::default(),
            operand_count: Cell::default(),
            in_branch: Cell::default(),
        }
    }

    /// Binds names of the columns of two sides.
    pub(super) fn of_sides(sides: &'a Sides, source: Source<'a>) -> Self {
        Self {
            sides: Some(sides),
            ..Self::new(sides.joined(), source)
        }
    }
}

impl Binder<'_> {
    pub(super) fn invalid<T>(&self, at: Span, message: impl AsRef<str>) -> Result<T> {
        self.source.invalid(at, message, "")
    }

    pub(super) fn failed(&self, at: Span) -> impl Fn(Failure) -> Error + '_ {
        move |failure| failure.at(self.source, at)
    }
}
