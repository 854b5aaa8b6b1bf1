//! Constants with their types.

use super::Scalar;
use super::coercion::decimal_for;
use super::convert::cast_or_missing;
use super::failure::{Failure, invalid};
use super::integers::integer;
use super::integers::is_integral;
use crate::schema::PrimitiveType;

/// A constant; NULL also has a type. The precision of a literal is that of its own digits if it is
/// combined with a decimal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) value: Option<Scalar>,
    pub(super) data_type: PrimitiveType,
    /// Whether it is a literal and not computed.
    pub(super) is_literal: bool,
}

impl Known {
    pub(super) fn computed(value: Option<Scalar>, data_type: PrimitiveType) -> Self {
        Self {
            value,
            data_type,
            is_literal: false,
        }
    }

    /// Casts the constant to another type.
    pub(super) fn cast(&self, to: PrimitiveType) -> Result<Self, Failure> {
        let value = self.value.as_ref().map(|value| cast_or_missing(value, to));
        Ok(Self::computed(value.transpose()?.flatten(), to))
    }

    /// Precision and scale of an exact number.
    pub(super) fn digits(&self) -> Option<(u8, u8)> {
        match &self.value {
            Some(value) if self.is_literal && is_integral(self.data_type) => {
                let count = integer(value)?.unsigned_abs().to_string().len();
                Some((u8::try_from(count).ok()?, 0))
            }
            _ => decimal_for(self.data_type),
        }
    }
}

pub(super) fn by_zero<T>() -> Result<T, Failure> {
    invalid("division by zero")
}
