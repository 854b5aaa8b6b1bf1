//! The schema of a table.
//!
//! Protocol: *Schema Serialization Format*.

mod arrow;
mod column_name;
mod json;
mod tree;
mod types;

pub use arrow::schema_from_arrow;
pub use column_name::ColumnName;
pub use types::{ArrayType, DataType, MapType, PrimitiveType, StructField, StructType};
