//! Checks a table: its log, and its data files on request.

mod data_files;

use std::sync::Arc;

use deltaic_log::check::{Examination, OlderNames, Progress, check_log};
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::Result;
use deltaic_storage::TableLocation;

/// The depth of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Only the log.
    Log,
    /// The log, and for each data file of the latest version its existence, size, footer and number of rows.
    Data,
}

/// Checks a table. Problems of the table are returned as findings; a path without a table and a store that cannot be
/// reached are errors. Nothing is written. Must be called inside a runtime.
pub async fn check(
    location: &Arc<TableLocation>,
    options: LoadOptions,
    depth: Depth,
    progress: &Progress,
) -> Result<Examination> {
    let older_names = match depth {
        Depth::Log => OlderNames::Dropped,
        Depth::Data => OlderNames::Kept,
    };
    let mut examination = check_log(location, options, older_names, progress).await?;
    if depth == Depth::Data {
        data_files::examine(location, &mut examination, progress).await;
    }
    Ok(examination)
}
