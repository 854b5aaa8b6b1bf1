//! Schema evolution: derives one schema from another, without checking what else in the table depends on
//! a column.
//!
//! Protocol: *Schema Serialization Format*, *Type Widening*, *Default Columns*. Paths address the parts
//! of arrays and maps as `element`, `key` and `value`, and names are resolved as in Spark, ignoring case.

mod column_position;
mod describe;
mod find;
mod merge;
mod names;
mod nullability;
mod rename;
mod widen;

pub(crate) use column_position::insert;
pub use column_position::{Place, move_column};
pub use describe::{set_comment, set_default};
pub(crate) use find::{Found, fields_mut, find};
pub use merge::{Widening, merged};
pub(crate) use names::{ensure_names, ensure_new_field};
pub use nullability::drop_not_null;
pub(crate) use rename::rename;
pub(crate) use widen::{ensure_iceberg_has, widen};
