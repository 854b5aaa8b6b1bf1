//! What a table is created or replaced with.

use deltaic_protocol::actions::{Add, Metadata};
use deltaic_protocol::{Result, TableConfiguration};
use deltaic_storage::clock::now_ms;

use super::new_table::{configuration_of, describe};
use crate::transaction::{IfExists, NewTable, Operation, OperationDetails};

/// The contents of a table that is created, or that replaces another.
pub(super) trait Definition: Send + Sync {
    /// The configuration of the new table.
    fn configuration(&self) -> Result<TableConfiguration>;

    /// Its files.
    fn adds(&self) -> &[Add];

    /// The operation of the commit.
    fn operation(&self, replaces: bool) -> Operation;

    /// Parameters and metrics of the commit, for the committed metadata and the removed files.
    fn details(&self, metadata: &Metadata, removed: &[&Add]) -> OperationDetails;

    /// What to do if a table already exists.
    fn if_exists(&self) -> IfExists;
}

impl Definition for NewTable {
    fn configuration(&self) -> Result<TableConfiguration> {
        configuration_of(self, now_ms())
    }

    fn adds(&self) -> &[Add] {
        &[]
    }

    fn operation(&self, replaces: bool) -> Operation {
        match replaces {
            true => Operation::CreateOrReplaceTable,
            false => Operation::CreateTable,
        }
    }

    fn details(&self, metadata: &Metadata, _: &[&Add]) -> OperationDetails {
        describe(self, metadata)
    }

    fn if_exists(&self) -> IfExists {
        self.if_exists
    }
}
