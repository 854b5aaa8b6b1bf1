//! Changes of table properties: their checks, and what follows from them in the rest of the table's configuration.

mod consequences;
mod set;
mod values;

pub(crate) use consequences::follow;
pub(crate) use set::{add_feature, set, unset};
