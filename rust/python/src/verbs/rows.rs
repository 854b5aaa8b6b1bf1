//! Appends, overwrites, deletions and updates.

use deltaic_table::operations::{Delete, Replaced, Update};

use crate::calls::error::CallResult;
use crate::predicate::{assignments, parsed};

/// The rows that an overwrite replaces.
pub(crate) fn replaced(predicate: Option<&str>, partitions: &str) -> CallResult<Replaced> {
    Ok(Replaced::try_new(parsed(predicate)?, partitions)?)
}

pub(crate) fn delete(predicate: Option<&str>) -> CallResult<Delete> {
    Ok(Delete {
        predicate: parsed(predicate)?,
    })
}

pub(crate) fn update(values: Vec<(String, String)>, predicate: Option<&str>) -> CallResult<Update> {
    Ok(Update {
        assignments: assignments(values)?,
        predicate: parsed(predicate)?,
    })
}
