//! `-value`.

use arrow_arith::numeric;
use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, Decimal128Array};

use super::arithmetic::of_arrow;
use super::cast::cast_values;
use super::decimals;
use super::values::{Values, by_row};
use crate::expr::cast::known::Known;
use crate::expr::failure::{Failure, invalid};
use crate::expr::literal::integers::is_numeric;
use crate::schema::PrimitiveType;

/// `-value` of a constant.
pub(in crate::expr) fn negated(known: &Known) -> Result<Known, Failure> {
    let data_type = type_of_negated(known.data_type)?;
    let values = negate(&Values::of_known(known), known.data_type, 1)?;
    Ok(Known::computed(values.scalar(0, data_type), data_type))
}

/// The type of `-value`.
pub(in crate::expr) fn type_of_negated(data_type: PrimitiveType) -> Result<PrimitiveType, Failure> {
    match data_type {
        PrimitiveType::Void | PrimitiveType::String => Ok(PrimitiveType::Double),
        _ if is_numeric(data_type) => Ok(data_type),
        _ => invalid(format!("the type {data_type} has no sign")),
    }
}

/// `-value` of rows.
pub(in crate::expr) fn negate(values: &Values, from: PrimitiveType, rows: usize) -> Result<Values, Failure> {
    let to = type_of_negated(from)?;
    let values = cast_values(values, from, to, rows)?;
    if let (PrimitiveType::Decimal { .. }, Some(array)) =
        (to, values.array.as_primitive_opt::<Decimal128Type>())
    {
        let mut negated = by_row::<_, Decimal128Array>(&[&values], rows, |row| {
            let at = values.at(row);
            let value = array.is_valid(at).then(|| array.value(at));
            value.map(|unscaled| decimals::negated(unscaled, to)).transpose()
        })?;
        negated.set_decimal(to);
        return Ok(negated);
    }
    let negated = numeric::neg(values.array.as_ref()).map_err(|error| of_arrow(&error, to))?;
    Ok(values.with(negated))
}
