//! The functions of expressions, each of which is one row of a table.
//!
//! A row has the names of a function with their numbers of arguments, the types of its arguments and its result, which
//! arguments are evaluated, and the kernel that computes whole columns. It is in the file of its family, beside its kernel.

mod call;
mod comparisons;
mod dates;
mod forms;
mod function;
mod hashes;
mod numbers;
mod rounding;
mod signature;
mod texts;

pub(super) use call::Call;
pub(super) use dates::EXACT_SECOND;
pub(super) use function::{Form, Function, Laziness, Meaning};
pub(super) use signature::{Argument, Arguments, Signature, Types};

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
}

#[cfg(test)]
mod tests {
    use super::all;
    use super::function::Name;

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
