//! The values of a part of an expression, and functions that compute others from them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, Datum, UInt32Array};

use crate::expr::Scalar;
use crate::expr::cast::known::Known;
use crate::expr::failure::Failure;
use crate::schema::{DataType, PrimitiveType};
use crate::{Error, Result};

/// One value for each row, or one for all rows.
#[derive(Clone, Debug)]
pub(in crate::expr) struct Values {
    pub(in crate::expr) array: ArrayRef,
    /// Whether the array has one element, which is the value of every row.
    pub(in crate::expr) is_constant: bool,
}

impl Values {
    pub(in crate::expr) fn of_rows(array: ArrayRef) -> Self {
        Self {
            array,
            is_constant: false,
        }
    }

    pub(in crate::expr) fn constant(array: ArrayRef) -> Self {
        Self {
            array,
            is_constant: true,
        }
    }

    pub(in crate::expr) fn of_known(known: &Known) -> Self {
        Self::constant(Scalar::to_array(known.value.as_ref(), known.data_type))
    }

    /// Other values for the same rows.
    pub(in crate::expr) fn with(&self, array: ArrayRef) -> Self {
        Self {
            array,
            is_constant: self.is_constant,
        }
    }

    pub(in crate::expr) fn datum(&self) -> Box<dyn Datum> {
        match self.is_constant {
            false => Box::new(Arc::clone(&self.array)),
            true => Box::new(arrow_array::Scalar::new(Arc::clone(&self.array))),
        }
    }

    /// Sets the precision and scale of decimals.
    pub(in crate::expr) fn set_decimal(&mut self, data_type: PrimitiveType) {
        if let (PrimitiveType::Decimal { precision, scale }, Some(array)) =
            (data_type, self.array.as_primitive_opt::<Decimal128Type>())
        {
            let arrow = arrow_schema::DataType::Decimal128(precision, i8::try_from(scale).unwrap_or(38));
            self.array = Arc::new(array.clone().with_data_type(arrow));
        }
    }

    /// The position in the array of the value of a row.
    pub(in crate::expr) fn at(&self, row: usize) -> usize {
        if self.is_constant { 0 } else { row }
    }

    pub(in crate::expr) fn is_null(&self, row: usize) -> bool {
        self.array.is_null(self.at(row))
    }

    /// One value for each row.
    pub(in crate::expr) fn into_rows(self, rows: usize) -> Result<ArrayRef> {
        if !self.is_constant {
            return Ok(self.array);
        }
        let zeros = UInt32Array::from(vec![0; rows]);
        arrow_select::take::take(&self.array, &zeros, None)
            .map_err(|error| Error::internal(format!("a constant is not repeated: {error}")))
    }

    /// The value of a row, of a primitive type.
    pub(in crate::expr) fn scalar(&self, row: usize, data_type: PrimitiveType) -> Option<Scalar> {
        Scalar::of_row(&self.array, self.at(row), data_type)
    }

    /// The text of a row.
    pub(in crate::expr) fn text(&self, row: usize) -> Option<&str> {
        let at = self.at(row);
        let texts = self.array.as_string_opt::<i32>()?;
        (at < texts.len() && texts.is_valid(at)).then(|| texts.value(at))
    }

    /// The bytes of a string or binary value.
    pub(in crate::expr) fn bytes(&self, row: usize) -> Option<&[u8]> {
        let at = self.at(row);
        match self.array.as_binary_opt::<i32>() {
            Some(bytes) => (at < bytes.len() && bytes.is_valid(at)).then(|| bytes.value(at)),
            None => self.text(row).map(str::as_bytes),
        }
    }

    /// An integer, or the days of a date.
    pub(in crate::expr) fn int(&self, row: usize) -> Option<i64> {
        use arrow_array::types::{Date32Type, Int8Type, Int16Type, Int32Type, Int64Type};
        let at = self.at(row);
        if at >= self.array.len() || self.array.is_null(at) {
            return None;
        }
        let array = &self.array;
        None.or_else(|| Some(i64::from(array.as_primitive_opt::<Int32Type>()?.value(at))))
            .or_else(|| Some(array.as_primitive_opt::<Int64Type>()?.value(at)))
            .or_else(|| Some(i64::from(array.as_primitive_opt::<Date32Type>()?.value(at))))
            .or_else(|| Some(i64::from(array.as_primitive_opt::<Int16Type>()?.value(at))))
            .or_else(|| Some(i64::from(array.as_primitive_opt::<Int8Type>()?.value(at))))
    }

    /// The microseconds of a timestamp with or without a zone.
    pub(in crate::expr) fn micros(&self, row: usize) -> Option<i64> {
        use arrow_array::types::TimestampMicrosecondType;
        let at = self.at(row);
        let times = self.array.as_primitive_opt::<TimestampMicrosecondType>()?;
        (at < times.len() && times.is_valid(at)).then(|| times.value(at))
    }
}

/// The number of rows for which a result must be computed: one if all arguments are constant.
fn rows_of(arguments: &[&Values], rows: usize) -> (usize, bool) {
    let is_constant = arguments.iter().all(|values| values.is_constant);
    (if is_constant { 1 } else { rows }, is_constant)
}

/// Computes an array from arguments, row by row.
pub(in crate::expr) fn by_row<V, A>(
    arguments: &[&Values],
    rows: usize,
    value: impl FnMut(usize) -> Result<Option<V>, Failure>,
) -> Result<Values, Failure>
where
    A: Array + FromIterator<Option<V>> + 'static,
{
    let (rows, is_constant) = rows_of(arguments, rows);
    let array: A = (0..rows).map(value).collect::<Result<_, Failure>>()?;
    Ok(Values {
        array: Arc::new(array),
        is_constant,
    })
}

/// The same for values of any primitive type.
pub(in crate::expr) fn scalars(
    arguments: &[&Values],
    rows: usize,
    to: PrimitiveType,
    value: impl FnMut(usize) -> Result<Option<Scalar>, Failure>,
) -> Result<Values, Failure> {
    let (rows, is_constant) = rows_of(arguments, rows);
    let found = (0..rows).map(value).collect::<Result<Vec<_>, Failure>>()?;
    Ok(Values {
        array: Scalar::to_column(&found, to),
        is_constant,
    })
}

/// The primitive type of values; other types are not computed with.
pub(in crate::expr) fn primitive(data_type: &DataType) -> Result<PrimitiveType, Failure> {
    data_type.as_primitive().ok_or_else(|| {
        Failure::Unsupported(format!("computing with the type {data_type} is not implemented"))
    })
}
