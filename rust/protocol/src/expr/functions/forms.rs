//! Functions whose calls are bound as other parts of an expression.

use super::{Function, MANY, Meaning, Name};

/// A part of an expression that is written as a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::expr) enum Form {
    Coalesce,
    CurrentDate,
    CurrentTimestamp,
    ElementAt,
    If,
    NamedStruct,
    NullIf,
}

impl Form {
    /// Whether its value is the current time.
    pub(in crate::expr) fn is_time(self) -> bool {
        matches!(self, Self::CurrentDate | Self::CurrentTimestamp)
    }
}

const fn form(names: &'static [Name], form: Form) -> Function {
    Function {
        names,
        meaning: Meaning::Form(form),
    }
}

pub(super) static FUNCTIONS: &[Function] = &[
    form(
        &[("coalesce", 1, MANY), ("nvl", 2, 2), ("ifnull", 2, 2)],
        Form::Coalesce,
    ),
    form(&[("current_date", 0, 0), ("curdate", 0, 0)], Form::CurrentDate),
    form(
        &[("current_timestamp", 0, 0), ("now", 0, 0)],
        Form::CurrentTimestamp,
    ),
    form(&[("element_at", 2, 2)], Form::ElementAt),
    form(&[("if", 3, 3)], Form::If),
    form(&[("named_struct", 2, MANY)], Form::NamedStruct),
    form(&[("nullif", 2, 2)], Form::NullIf),
];
