//! Creates a table by its first commit.

use std::sync::Arc;

use deltaic_protocol::{Error, ErrorKind, Result};

use super::new_table::IfExists;
use super::new_table::NewTable;
use super::new_table::configuration_of;
use super::new_table::describe;
use super::replace::replace;
use super::{CommitOptions, Committed, Operation, Transaction};
use crate::snapshot::{LoadOptions, Snapshot};
use deltaic_storage::clock::now_ms;
use deltaic_storage::location::TableLocation;

/// Creates a table; returns `None` if one exists and [`IfExists::Ignore`] is set.
///
/// The table gets the lowest protocol that supports its definition, and the actions this implies: see
/// [`created`](deltaic_protocol::change::created). Does not check whether deltaic can write rows to the table.
///
/// Protocol: *Change Metadata*, *Protocol Evolution*: the first version contains both actions.
pub async fn create(
    location: &Arc<TableLocation>,
    table: NewTable,
    options: &CommitOptions,
) -> Result<Option<Committed>> {
    let configuration = configuration_of(&table, now_ms())?;
    let mut transaction = Transaction::create(location, &configuration, Operation::CreateTable)?;
    transaction.details = describe(&table, configuration.metadata());
    transaction.options = options.clone();
    match transaction.commit().await {
        Err(error) if error.kind() == ErrorKind::TableExists => {
            exists(location, &table, options, error).await
        }
        committed => committed.map(Some),
    }
}

/// Applies `if_exists` to a table that already exists.
async fn exists(
    location: &Arc<TableLocation>,
    table: &NewTable,
    options: &CommitOptions,
    error: Error,
) -> Result<Option<Committed>> {
    match table.if_exists {
        IfExists::Ignore => Ok(None),
        IfExists::Replace => replace(location, table, options).await.map(Some),
        IfExists::Error => match Snapshot::load(Arc::clone(location), None, LoadOptions::default()).await {
            Err(damage) if damage.kind() == ErrorKind::CorruptLog => {
                Err(damage.with("table", location.uri()))
            }
            _ => Err(error),
        },
    }
}
