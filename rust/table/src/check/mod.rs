//! What is wrong with a table: its log, and where that is asked for its data files too.

mod data_files;

use std::sync::Arc;

use deltaic_log::TableLocation;
use deltaic_log::check::{Examination, OlderNames, Progress, check_log};
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::Result;

/// How far a check goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The log alone.
    Log,
    /// The log, and of each data file of the newest version that it is there, its size, its footer and its number of
    /// rows.
    Data,
}

/// Checks a table. What is wrong becomes findings; a place without a table, and a store that cannot be asked at all,
/// are errors. Nothing is written. Must be called inside a runtime.
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
