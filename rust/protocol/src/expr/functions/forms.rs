//! Functions whose calls are bound as other parts of an expression.

use super::function::{Form, Function, MANY, Meaning, Name};

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
