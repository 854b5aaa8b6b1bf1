//! Checks the promises that a table makes about its rows.

pub(super) mod conditions;
pub(super) mod declared_length;
pub(super) mod empty_text;
pub(super) mod not_null;
