//! Creates a table by its first commit.

use std::sync::Arc;

use deltaic_protocol::{Error, ErrorKind, Result};

use super::definition::Definition;
use super::new_contents::NewContents;
use super::new_table::IfExists;
use super::new_table::NewTable;
use super::replace::replace;
use crate::snapshot::{LoadOptions, Snapshot};
use crate::transaction::{CommitOptions, Committed, StagedFiles, Transaction, already_done};
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
    create_as(location, &table, options).await
}

/// Creates a table with files, in one commit; returns `None` if one exists and [`IfExists::Ignore`] is set, and a skipped
/// commit if one exists that records the application transaction of `options`.
///
/// # Errors
///
/// `TableExists`; `InvalidArgument` with the `path` of a file that needs row ids and has no `numRecords`; errors of a
/// commit.
pub async fn create_with_files(
    location: &Arc<TableLocation>,
    contents: &NewContents,
    options: &CommitOptions,
) -> Result<Option<Committed>> {
    create_as(location, contents, options).await
}

/// The same with files that were written for the commit: they are deleted unless a version may reference them.
///
/// # Errors
///
/// Those of [`create_with_files`].
pub async fn create_with_written_files(
    location: &Arc<TableLocation>,
    contents: &NewContents,
    files: &StagedFiles,
    options: &CommitOptions,
) -> Result<Option<Committed>> {
    files.begin_commit();
    let created = match create_as(location, contents, options).await {
        Ok(Some(created)) => Ok(created),
        Ok(None) => {
            files.end_commit();
            files.delete().await;
            return Ok(None);
        }
        Err(error) => Err(error),
    };
    files.settle(&created).await;
    created.map(Some)
}

async fn create_as(
    location: &Arc<TableLocation>,
    table: &impl Definition,
    options: &CommitOptions,
) -> Result<Option<Committed>> {
    let configuration = table.configuration()?;
    let mut transaction = Transaction::create(location, &configuration, table.operation(false))?;
    transaction.details = table.details(configuration.metadata(), &[]);
    transaction.options = options.clone();
    transaction.proposal.adds = table.adds().to_vec();
    match transaction.commit().await {
        Err(error) if error.kind() == ErrorKind::TableExists => exists(location, table, options, error).await,
        committed => committed.map(Some),
    }
}

/// Applies `if_exists` to a table that already exists.
async fn exists(
    location: &Arc<TableLocation>,
    table: &impl Definition,
    options: &CommitOptions,
    error: Error,
) -> Result<Option<Committed>> {
    match table.if_exists() {
        IfExists::Ignore => Ok(None),
        IfExists::Replace => replace(location, table, options).await.map(Some),
        IfExists::Error => match Snapshot::load(Arc::clone(location), None, LoadOptions::default()).await {
            Err(damage) if damage.kind() == ErrorKind::CorruptLog => {
                Err(damage.with("table", location.uri()))
            }
            Err(_) => Err(error),
            Ok(snapshot) => {
                let app = options.app_transaction.as_ref();
                let done = app.and_then(|app| already_done(&snapshot, app));
                done.map_or(Err(error), |done| Ok(Some(done)))
            }
        },
    }
}
