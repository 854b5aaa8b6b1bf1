//! A function: its names, and how its calls are bound and evaluated.

use std::fmt::{self, Debug, Formatter};

use super::call::Call;
use super::signature::Signature;
use crate::expr::failure::Failure;
use crate::expr::kernels::Values;

/// A name of a function, and the least and the greatest number of arguments that it has under this name.
pub(super) type Name = (&'static str, usize, usize);

/// Any number of arguments.
pub(super) const MANY: usize = usize::MAX;

/// A function.
pub(in crate::expr) struct Function {
    /// The first name is the one that is displayed.
    pub(super) names: &'static [Name],
    pub(in crate::expr) meaning: Meaning,
}

/// How a call is bound and evaluated.
#[derive(Clone, Copy)]
pub(in crate::expr) enum Meaning {
    /// A function of the values of its arguments.
    Values {
        signature: Signature,
        laziness: Laziness,
        kernel: Kernel,
    },
    /// A call that is bound as another part of an expression.
    Form(Form),
}

/// Computes the results of a call for all rows.
pub(in crate::expr) type Kernel = fn(&Call<'_>) -> Result<Values, Failure>;

/// For which rows an argument is evaluated, if one of them raises an error.
#[derive(Clone, Copy)]
pub(in crate::expr) enum Laziness {
    /// For all rows.
    Eager,
    /// For the rows in which no earlier argument is NULL.
    UntilNull,
    /// The same, and only for the rows in which the argument at an index, which is evaluated first, is a known word.
    AfterWord(usize, fn(&str) -> bool),
}

/// A row of a function of values.
pub(super) const fn values(
    names: &'static [Name],
    signature: Signature,
    laziness: Laziness,
    kernel: Kernel,
) -> Function {
    Function {
        names,
        meaning: Meaning::Values {
            signature,
            laziness,
            kernel,
        },
    }
}

impl Function {
    pub(in crate::expr) fn name(&self) -> &'static str {
        self.names.first().map_or("", |(name, ..)| name)
    }

    /// The form that a call has, if the function is not one of values.
    pub(in crate::expr) fn form(&self) -> Option<Form> {
        match self.meaning {
            Meaning::Form(form) => Some(form),
            Meaning::Values { .. } => None,
        }
    }
}

impl PartialEq for Function {
    /// Each function exists once.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Debug for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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
