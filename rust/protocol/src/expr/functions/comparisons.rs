//! GREATEST and LEAST.

use super::call::Call;
use super::function::{Function, Laziness, MANY, values};
use super::signature::Signature;
use crate::expr::failure::Failure;
use crate::expr::kernels::{Values, scalars};
use crate::expr::literal::order::compare_values;
use crate::expr::{Comparison, Scalar};

pub(super) static FUNCTIONS: &[Function] = &[
    values(
        &[("greatest", 2, MANY)],
        Signature::Common,
        Laziness::Eager,
        |call| extreme(call, Comparison::Greater),
    ),
    values(
        &[("least", 2, MANY)],
        Signature::Common,
        Laziness::Eager,
        |call| extreme(call, Comparison::Less),
    ),
];

/// The greatest or least value that is not NULL.
fn extreme(call: &Call<'_>, op: Comparison) -> Result<Values, Failure> {
    let all: Vec<&Values> = call.values.iter().collect();
    let data_type = call.to();
    scalars(&all, call.rows, data_type, |row| {
        let mut found: Option<Scalar> = None;
        for value in all.iter().filter_map(|values| values.scalar(row, data_type)) {
            if found
                .as_ref()
                .is_none_or(|found| compare_values(op, &value, found))
            {
                found = Some(value);
            }
        }
        Ok(found)
    })
}
