//! Constants with their types.

use super::scalar::cast_or_missing;
use crate::expr::Scalar;
use crate::expr::cast::coercion::decimal_for;
use crate::expr::failure::{Failure, invalid};
use crate::expr::literal::integers::{integer, is_integral};
use crate::schema::PrimitiveType;

/// A constant; NULL also has a type. The precision of a literal is that of its own digits if it is
/// combined with a decimal.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::expr) struct Known {
    pub(in crate::expr) value: Option<Scalar>,
    pub(in crate::expr) data_type: PrimitiveType,
    /// Whether it is a literal and not computed.
    pub(in crate::expr) is_literal: bool,
}

impl Known {
    pub(in crate::expr) fn computed(value: Option<Scalar>, data_type: PrimitiveType) -> Self {
        Self {
            value,
            data_type,
            is_literal: false,
        }
    }

    /// Casts the constant to another type.
    pub(in crate::expr) fn cast(&self, to: PrimitiveType) -> Result<Self, Failure> {
        let value = self.value.as_ref().map(|value| cast_or_missing(value, to));
        Ok(Self::computed(value.transpose()?.flatten(), to))
    }

    /// Precision and scale of an exact number.
    pub(in crate::expr) fn digits(&self) -> Option<(u8, u8)> {
        match &self.value {
            Some(value) if self.is_literal && is_integral(self.data_type) => {
                let count = integer(value)?.unsigned_abs().to_string().len();
                Some((u8::try_from(count).ok()?, 0))
            }
            _ => decimal_for(self.data_type),
        }
    }
}

pub(in crate::expr) fn by_zero<T>() -> Result<T, Failure> {
    invalid("division by zero")
}
