//! Calls functions with the values of their arguments, which have the types that the binder determined.

use arrow_array::StringArray;

use super::values::{Values, by_row, primitive, scalars};
use super::{Computed, dates, digests, nested, numbers, texts};
use crate::expr::compare_values;
use crate::expr::failure::{Failure, invalid};
use crate::expr::function::Function;
use crate::expr::{Comparison, Scalar};
use crate::schema::{DataType, PrimitiveType};

pub(super) fn call(
    function: Function,
    values: &[Values],
    arguments: &[Computed],
    data_type: &DataType,
    rows: usize,
) -> Result<Values, Failure> {
    use Function as F;
    let to = data_type.as_primitive().unwrap_or(PrimitiveType::Void);
    if let Some(result) = texts::call(function, values, to, rows) {
        return result;
    }
    if let Some(result) = dates::call(function, values, rows) {
        return result;
    }
    match (function, values) {
        (F::NamedStruct, _) => nested::structure(values, data_type, rows),
        (F::Greatest | F::Least, _) => extreme(function, values, to, rows),
        (F::Hash | F::XxHash64, _) => digests::hash(function, values, arguments, rows),
        (F::Md5, [bytes]) => {
            by_row::<_, StringArray>(&[bytes], rows, |row| Ok(bytes.bytes(row).map(digests::md5)))
        }
        (F::Sha2, [bytes, bits]) => by_row::<_, StringArray>(&[bytes, bits], rows, |row| {
            let pair = bytes.bytes(row).zip(bits.int(row));
            Ok(pair.and_then(|(bytes, bits)| digests::sha2(bytes, bits)))
        }),
        (_, [first, rest @ ..]) => {
            let from = match arguments.first() {
                Some(argument) => primitive(&argument.data_type)?,
                None => to,
            };
            numbers::call(function, (first, from), rest.first(), to, rows)
        }
        _ => invalid("a function has no arguments"),
    }
}

/// The greatest or least value that is not NULL.
fn extreme(
    function: Function,
    values: &[Values],
    data_type: PrimitiveType,
    rows: usize,
) -> Result<Values, Failure> {
    let op = match function {
        Function::Greatest => Comparison::Greater,
        _ => Comparison::Less,
    };
    let all: Vec<&Values> = values.iter().collect();
    scalars(&all, rows, data_type, |row| {
        let mut found: Option<Scalar> = None;
        for value in values.iter().filter_map(|values| values.scalar(row, data_type)) {
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
