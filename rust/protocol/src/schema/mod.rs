//! The schema of a table.
//!
//! Protocol: *Schema Serialization Format*.

mod arrow;
mod arrow_type_name;
mod column_metadata;
mod column_name;
mod declared_type;
mod json;
mod sql_type;
mod tree;
pub(crate) mod type_changes;
mod types;

pub use arrow::{VARIANT_EXTENSION, number_from_arrow, schema_from_arrow};
pub use arrow_type_name::arrow_type_name;
pub use column_metadata::Identity;
pub use column_name::ColumnName;
pub(crate) use column_name::InExpression;
pub use declared_type::{DeclaredLength, DeclaredType};
pub use type_changes::{TypeChange, is_widening};
pub use types::{ArrayType, DataType, MapType, PrimitiveType, StructField, StructType};
