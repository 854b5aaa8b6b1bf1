//! Schema evolution: one schema made of another. What else in a table hangs on a column is not asked here.
//!
//! Protocol: *Schema Serialization Format*, *Type Widening*, *Default Columns*. A path goes through arrays and maps by
//! the words `element`, `key` and `value`, and names are looked up as Spark does, ignoring case.

mod describe;
mod find;
mod merge;
mod names;
mod nullability;
mod place;
mod rename;
mod widen;

pub use describe::{set_comment, set_default};
pub(crate) use find::{Found, fields_mut, find};
pub use merge::{Widening, merged};
pub(crate) use names::{ensure_names, ensure_new_field};
pub use nullability::drop_not_null;
pub(crate) use place::insert;
pub use place::{Place, move_column};
pub(crate) use rename::rename;
pub(crate) use widen::{ensure_iceberg_has, widen};
