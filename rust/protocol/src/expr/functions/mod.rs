//! The functions of expressions, each of which is one row of a table.
//!
//! A row has the names of a function with their numbers of arguments, the types of its arguments and its result, which
//! arguments are evaluated, and the kernel that computes whole columns. It is in the file of its family, beside its kernel.

mod call;
mod comparisons;
mod dates;
mod forms;
mod hashes;
mod numbers;
mod rounding;
mod signature;
mod texts;

use std::fmt::{self, Debug, Formatter};

use super::failure::Failure;
use super::kernels::Values;
pub(super) use call::Call;
pub(super) use dates::EXACT_SECOND;
pub(super) use forms::Form;
pub(super) use signature::{Argument, Arguments, Signature, Types};

/// A name of a function, and the least and the greatest number of arguments that it has under this name.
type Name = (&'static str, usize, usize);

/// Any number of arguments.
const MANY: usize = usize::MAX;

/// A function.
pub(super) struct Function {
    /// The first name is the one that is displayed.
    names: &'static [Name],
    pub(super) meaning: Meaning,
}

/// How a call is bound and evaluated.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
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
pub(super) type Kernel = fn(&Call<'_>) -> Result<Values, Failure>;

/// For which rows an argument is evaluated, if one of them raises an error.
#[derive(Clone, Copy)]
pub(super) enum Laziness {
    /// For all rows.
    Eager,
    /// For the rows in which no earlier argument is NULL.
    UntilNull,
    /// The same, and only for the rows in which the argument at an index, which is evaluated first, is a known word.
    AfterWord(usize, fn(&str) -> bool),
}

/// A row of a function of values.
const fn values(
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

/// All functions, by family.
fn all() -> impl Iterator<Item = &'static Function> {
    let families = [
        comparisons::FUNCTIONS,
        dates::FUNCTIONS,
        forms::FUNCTIONS,
        hashes::FUNCTIONS,
        numbers::FUNCTIONS,
        rounding::FUNCTIONS,
        texts::FUNCTIONS,
    ];
    families.into_iter().flatten()
}

impl Function {
    /// The function that is called by a name with a number of arguments.
    pub(super) fn of(name: &str, arguments: usize) -> Option<&'static Self> {
        all().find(|function| {
            function.names.iter().any(|(known, least, most)| {
                known.eq_ignore_ascii_case(name) && (*least..=*most).contains(&arguments)
            })
        })
    }

    /// Whether a function has this name, with any number of arguments.
    pub(super) fn is_known(name: &str) -> bool {
        let mut names = all().flat_map(|function| function.names);
        names.any(|(known, ..)| known.eq_ignore_ascii_case(name))
    }

    pub(super) fn name(&self) -> &'static str {
        self.names.first().map_or("", |(name, ..)| name)
    }

    /// The form that a call has, if the function is not one of values.
    pub(super) fn form(&self) -> Option<Form> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_number_of_arguments_is_one_function() {
        let names: Vec<Name> = all().flat_map(|function| function.names).copied().collect();
        assert!(names.len() > 50);
        for (name, least, most) in names {
            assert!(least <= most, "{name}");
            for count in least..=most.min(least + 4) {
                let found = all().filter(|function| {
                    let has =
                        |(known, least, most): &Name| *known == name && (*least..=*most).contains(&count);
                    function.names.iter().any(has)
                });
                assert_eq!(found.count(), 1, "{name} with {count} arguments");
            }
        }
        assert!(all().all(|function| !function.name().is_empty()));
    }
}
