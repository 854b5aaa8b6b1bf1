//! Structs, arrays and maps.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, MapArray, StructArray, UInt32Array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType as ArrowType;
use arrow_select::take::take;

use super::values::Values;
use crate::expr::Scalar;
use crate::expr::cast::cast;
use crate::expr::failure::{Failure, invalid};
use crate::schema::{DataType, PrimitiveType};
use crate::{Error, Result};

fn failed(error: &arrow_schema::ArrowError) -> Failure {
    Failure::Invalid(format!("a nested value cannot be computed: {error}"))
}

/// A struct of values, which is never NULL.
pub(in crate::expr) fn structure(
    values: &[Values],
    data_type: &DataType,
    rows: usize,
) -> Result<Values, Failure> {
    let Ok(ArrowType::Struct(fields)) = data_type.to_arrow() else {
        return invalid("a struct is expected");
    };
    let is_constant = values.iter().all(|values| values.is_constant);
    let rows = if is_constant { 1 } else { rows };
    let columns = values.iter().map(|values| values.clone().into_rows(rows));
    let columns = columns
        .collect::<Result<Vec<ArrayRef>>>()
        .map_err(|error| Failure::Invalid(error.what().to_owned()))?;
    let array = StructArray::try_new(fields, columns, None).map_err(|error| failed(&error))?;
    Ok(Values {
        array: Arc::new(array),
        is_constant,
    })
}

/// A field of structs; a field of a NULL struct is NULL.
pub(in crate::expr) fn field(values: &Values, index: usize) -> Result<Values> {
    let found = values.array.as_struct_opt().and_then(|structs| {
        let child = structs.columns().get(index)?;
        let nulls = NullBuffer::union(structs.nulls(), child.nulls());
        let data = child.to_data().into_builder().nulls(nulls).build().ok()?;
        Some(arrow_array::make_array(data))
    });
    match found {
        Some(array) => Ok(values.with(array)),
        None => Err(Error::internal("a struct has no field at an index")),
    }
}

/// Elements of arrays, counted from `first`, and with `first` 1 from the end if the index is negative; or the values of
/// keys of maps, NULL if there is none.
pub(in crate::expr) fn element(
    (of, of_type): (&Values, &DataType),
    (key, key_type): (&Values, &DataType),
    first: i64,
    rows: usize,
) -> Result<Values, Failure> {
    let is_constant = of.is_constant && key.is_constant;
    let rows = if is_constant { 1 } else { rows };
    let mut picks: Vec<Option<u32>> = Vec::with_capacity(rows);
    let values = if let Some(maps) = of.array.as_map_opt() {
        let of_key = key_type.as_primitive().unwrap_or(PrimitiveType::String);
        let own_key = match of_type {
            DataType::Map(map) => map.key_type.as_primitive().unwrap_or(of_key),
            _ => of_key,
        };
        for row in 0..rows {
            picks.push(in_map((maps, own_key), of.at(row), key.scalar(row, of_key)));
        }
        Arc::clone(maps.values())
    } else if let Some(lists) = of.array.as_list_opt::<i32>() {
        for row in 0..rows {
            let at = of.at(row);
            let Some(index) = key.int(row).filter(|_| lists.is_valid(at)) else {
                picks.push(None);
                continue;
            };
            let offsets = lists.value_offsets();
            let (Some(start), Some(end)) = (offsets.get(at), offsets.get(at + 1)) else {
                return invalid("a list has no bounds");
            };
            let length = i64::from(end - start);
            let position = match index {
                0 if first == 1 => return invalid("the index 0 is invalid: elements are counted from 1"),
                index if index < 0 && first == 1 => length + index,
                index => index - first,
            };
            if !(0..length).contains(&position) {
                return invalid(format!(
                    "the index {index} is out of bounds: the array has {length} elements"
                ));
            }
            picks.push(u32::try_from(i64::from(*start) + position).ok());
        }
        Arc::clone(lists.values())
    } else {
        return invalid("an array or a map is expected");
    };
    let array = take(&values, &UInt32Array::from(picks), None).map_err(|error| failed(&error))?;
    Ok(Values { array, is_constant })
}

/// The position of the value of a key among the values of all maps.
fn in_map((maps, own): (&MapArray, PrimitiveType), row: usize, key: Option<Scalar>) -> Option<u32> {
    let key = key?;
    if maps.is_null(row) {
        return None;
    }
    let offsets = maps.value_offsets();
    let (start, end) = (*offsets.get(row)?, *offsets.get(row + 1)?);
    let is_same = |found: &Scalar| match (found, &key) {
        (Scalar::Float(a), Scalar::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
        (Scalar::Double(a), Scalar::Double(b)) => a == b || (a.is_nan() && b.is_nan()),
        (a, b) => a == b,
    };
    (start..end).find_map(|at| {
        let position = usize::try_from(at).ok()?;
        let found = Scalar::of_row(maps.keys(), position, own)?;
        let found = cast(&found, key.data_type()).ok()?;
        is_same(&found).then(|| u32::try_from(at).ok()).flatten()
    })
}
