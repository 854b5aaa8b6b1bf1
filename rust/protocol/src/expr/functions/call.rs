//! A call of a function of values.

use arrow_array::{Array, StringArray};

use crate::expr::failure::{Failure, invalid};
use crate::expr::kernels::{Values, by_row, primitive};
use crate::schema::{DataType, PrimitiveType};

/// The arguments of a call, which have the types of the signature, and the type of its results.
pub(in crate::expr) struct Call<'a> {
    pub(in crate::expr) values: &'a [Values],
    pub(in crate::expr) types: &'a [&'a DataType],
    pub(in crate::expr) data_type: &'a DataType,
    pub(in crate::expr) rows: usize,
}

impl<'a> Call<'a> {
    /// The arguments of a function that has a fixed number of them.
    pub(super) fn arguments<const N: usize>(&self) -> Result<&'a [Values; N], Failure> {
        self.values.try_into().or_else(|_| wrong_number())
    }

    /// The primitive type of an argument.
    pub(super) fn type_of(&self, index: usize) -> Result<PrimitiveType, Failure> {
        match self.types.get(index) {
            Some(data_type) => primitive(data_type),
            None => wrong_number(),
        }
    }

    /// The primitive type of the results.
    pub(super) fn to(&self) -> PrimitiveType {
        self.data_type.as_primitive().unwrap_or(PrimitiveType::Void)
    }

    /// Whether the results are binary values.
    pub(super) fn is_binary(&self) -> bool {
        self.to() == PrimitiveType::Binary
    }

    /// Computes the results row by row.
    pub(super) fn by_row<V, A>(
        &self,
        value: impl FnMut(usize) -> Result<Option<V>, Failure>,
    ) -> Result<Values, Failure>
    where
        A: Array + FromIterator<Option<V>> + 'static,
    {
        let all: Vec<&Values> = self.values.iter().collect();
        by_row::<V, A>(&all, self.rows, value)
    }

    /// Computes strings row by row.
    pub(super) fn texts(
        &self,
        value: impl FnMut(usize) -> Result<Option<String>, Failure>,
    ) -> Result<Values, Failure> {
        self.by_row::<String, StringArray>(value)
    }
}

/// The parser accepts only the numbers of arguments that a row has.
pub(super) fn wrong_number<T>() -> Result<T, Failure> {
    invalid("a function has another number of arguments")
}
