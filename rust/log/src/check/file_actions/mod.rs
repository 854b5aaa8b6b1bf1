//! Checks of file actions, wherever in the log they are: their values, the files that they name, and their agreement
//! with each other.

pub(super) mod file_action;
pub(super) mod file_requirements;
pub(super) mod file_table;
pub(super) mod fingerprint;
pub(super) mod places;
pub(super) mod row_ids;
pub(super) mod statistics;
