//! The partition values of removed files, which writers may omit.

use deltaic_protocol::column_mapping::name_in_log;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration, Version};

use super::commit::FileAction;
use super::live_paths::LivePaths;

/// Returns the names of the partition columns as file actions use them.
pub(super) fn partition_names(table: &TableConfiguration) -> Result<Vec<String>> {
    let schema = table.schema()?;
    let mode = table.column_mapping()?;
    let columns = table.metadata().partition_columns.iter();
    let in_log = columns.map(|name| match schema.field(name) {
        Some(field) => name_in_log(field, mode).to_owned(),
        None => name.clone(),
    });
    Ok(in_log.collect())
}

/// Whether a file that was removed with its rows lacks partition values.
pub(super) fn lacks_values(action: &FileAction, names: &[String]) -> bool {
    let has = |name: &String| action.file.partition_values.contains_key(name);
    !action.came && action.changes_data && !names.iter().all(has)
}

/// Sets the partition values of removed files for which the writer omitted all or only NULL values: they are
/// those of the live file. If the live file is unknown and the action has other values, missing ones are NULL.
///
/// # Errors
///
/// `VersionNotFound` if the values are neither in the action nor in the log.
pub(super) fn fill_values(
    files: &mut [FileAction],
    names: &[String],
    live: Option<&LivePaths>,
    version: Version,
) -> Result<()> {
    for action in files.iter_mut().filter(|action| lacks_values(action, names)) {
        match live.and_then(|live| live.values(&action.file.path)) {
            Some(values) => action.file.partition_values = values.clone(),
            None if action.has_values => {
                for name in names {
                    action.file.partition_values.entry(name.clone()).or_default();
                }
            }
            // Removing a file that was not live removes no rows.
            None if live.is_some() => {}
            None => {
                return Err(Error::new(
                    ErrorKind::VersionNotFound,
                    format!("the partition values of a file that version {version} removed are no longer in the log"),
                )
                .with("version", version)
                .hint("request changes from a later version"));
            }
        }
    }
    Ok(())
}
