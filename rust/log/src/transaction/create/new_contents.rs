//! A table that is created, or replaced, together with its files.

use deltaic_protocol::actions::{Add, Metadata};
use deltaic_protocol::{Result, TableConfiguration};

use super::definition::Definition;
use crate::transaction::{IfExists, Operation, OperationDetails};

/// The configuration of a table and its first files.
#[derive(Clone, Debug)]
pub struct NewContents {
    /// The configuration of the new table.
    pub configuration: TableConfiguration,
    /// The files. Row ids are assigned if the table has them.
    pub adds: Vec<Add>,
    /// The operation of the commit.
    pub operation: Operation,
    /// Parameters and metrics of the commit. If it replaces a table, the metrics `numRemovedFiles` and
    /// `removedFilesSize`, if there, become those of the files that it removes.
    pub details: OperationDetails,
    /// What to do if a table already exists.
    pub if_exists: IfExists,
}

impl Definition for NewContents {
    fn configuration(&self) -> Result<TableConfiguration> {
        Ok(self.configuration.clone())
    }

    fn adds(&self) -> &[Add] {
        &self.adds
    }

    fn operation(&self, _: bool) -> Operation {
        self.operation
    }

    fn details(&self, _: &Metadata, removed: &[&Add]) -> OperationDetails {
        let mut details = self.details.clone();
        for (name, value) in &mut details.metrics {
            match *name {
                "numRemovedFiles" => *value = i64::try_from(removed.len()).unwrap_or(i64::MAX),
                "removedFilesSize" => {
                    *value = removed.iter().map(|add| add.size).fold(0, i64::saturating_add);
                }
                _ => {}
            }
        }
        details
    }

    fn if_exists(&self) -> IfExists {
        self.if_exists
    }
}
