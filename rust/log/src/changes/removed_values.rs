//! The partition values of files that went, of which writers keep as many as they like.

use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
use deltaic_protocol::{Error, ErrorKind, Result, Version};

use super::TableForm;
use super::commit::FileAction;
use super::live_paths::LivePaths;

/// The names by which files of a form know their partition columns.
pub(super) fn partition_names(form: &TableForm) -> Result<Vec<String>> {
    let schema = form.metadata.schema()?;
    let mode = ColumnMappingMode::of(&form.protocol, &form.metadata)?;
    let columns = form.metadata.partition_columns.iter();
    let in_log = columns.map(|name| match schema.field(name) {
        Some(field) => name_in_log(field, mode).to_owned(),
        None => name.clone(),
    });
    Ok(in_log.collect())
}

/// Whether a file that went with rows lacks partition values.
pub(super) fn lacks_values(action: &FileAction, names: &[String]) -> bool {
    let has = |name: &String| action.file.partition_values.contains_key(name);
    !action.came && action.changes_data && !names.iter().all(has)
}

/// Gives files that went their partition values where a writer kept none, or left out those that are NULL: they are
/// those of the file that is live. Where what was live was cleaned up, what was left out is NULL.
///
/// Errors: `VersionNotFound` where neither tells.
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
            // What was never there took no rows away.
            None if live.is_some() => {}
            None => {
                return Err(Error::new(
                    ErrorKind::VersionNotFound,
                    format!("the partition of a file that version {version} removed is no longer in the log"),
                )
                .with("version", version)
                .hint("ask for changes from a later version"));
            }
        }
    }
    Ok(())
}
