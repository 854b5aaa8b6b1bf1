//! Table features: what a table requires of its readers and writers, and what deltaic supports.
//!
//! Protocol: *Table Features*, *Protocol Evolution*, *Valid Feature Names in Table Features*.

mod contradictions;
mod drop;
mod drop_rule;
mod maintenance;
mod page;
mod removal;
mod row;
mod support;
mod table;
#[cfg(test)]
mod tests;
mod upgrade;
mod use_in_table;

pub use contradictions::{Contradiction, contradictions};
pub use drop::{Traces, drop_feature};
pub use drop_rule::FileUse;
pub use maintenance::{Maintenance, ensure_maintainable};
pub use page::features_page;
pub use removal::{ensure_removable, ensure_vectors_writable};
pub use row::{CompatibleIf, Feature, Kind, Support, Verb, VerbSupport};
pub use support::{
    CatalogTail, ensure_appendable, ensure_changeable, ensure_checkpointable, ensure_openable,
    ensure_readable, supports_for_writers,
};
pub use table::{FEATURES, feature};
pub(crate) use upgrade::names_in;
pub use upgrade::{needed_features, upgraded, with_features};
