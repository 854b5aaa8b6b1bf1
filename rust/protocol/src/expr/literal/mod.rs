//! Values of primitive types: their order, lists of them, patterns, and their texts.

pub(in crate::expr) mod decimal_text;
pub(in crate::expr) mod integers;
pub(in crate::expr) mod like;
pub(in crate::expr) mod order;
mod scalar;
pub(in crate::expr) mod sql_text;
pub(in crate::expr) mod value_set;

pub use like::LikePattern;
pub use scalar::Scalar;
pub use value_set::ValueSet;
