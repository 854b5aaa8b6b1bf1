//! From the store to a snapshot.

use std::sync::Arc;

use deltaic_protocol::actions::Metadata;
use deltaic_protocol::actions::columns::Statistics;
use deltaic_protocol::features::ensure_readable;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use futures::{StreamExt, TryStreamExt};

use super::Snapshot;
use crate::decode::Actions;
use crate::decode::checkpoint::read_checkpoint;
use crate::decode::commit::{MAX_LINE_BYTES, decode_commit};
use crate::last_checkpoint::{Hint, read_last_checkpoint};
use crate::listing::{Listing, LogFile};
use crate::location::TableLocation;
use crate::reconcile::reconcile;
use crate::segment::{
    LogSegment, complete_checkpoints, newest_version, not_a_table, version_not_found, version_range,
};
use crate::store_error::store_error;

/// How many commits are fetched at once.
const COMMITS_IN_FLIGHT: usize = 32;

/// What a user may change about opening a table.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// How long a line of a commit may be, in bytes.
    pub max_line_bytes: usize,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            max_line_bytes: MAX_LINE_BYTES,
        }
    }
}

impl Snapshot {
    /// Opens the newest version, or the one that is asked for.
    pub async fn load(
        location: Arc<TableLocation>,
        version: Option<Version>,
        options: LoadOptions,
    ) -> Result<Self> {
        let mut warnings = Vec::new();
        if version.is_none() {
            match read_last_checkpoint(&location).await {
                Hint::Absent => {}
                Hint::Unusable(why) => warnings.push(format!("_last_checkpoint was passed over: {why}")),
                Hint::Version(hint) => {
                    let listing = Listing::from(&location, hint).await?;
                    // Whatever the hint leads to must prove itself; if it does not, the log itself is asked.
                    let leads = complete_checkpoints(&listing, None)
                        .iter()
                        .any(|found| found.version == hint);
                    if leads
                        && let Ok(snapshot) =
                            from_listing(&location, &listing, None, options, Vec::new()).await
                    {
                        return Ok(snapshot);
                    }
                    if !leads {
                        let why = format!("there is no complete checkpoint of version {hint}");
                        warnings.push(format!("_last_checkpoint was passed over: {why}"));
                    }
                }
            }
        }
        let listing = Listing::whole(&location).await?;
        from_listing(&location, &listing, version, options, warnings).await
    }
}

/// Whether there is a table: a log with a commit or a checkpoint.
pub async fn exists(location: &TableLocation) -> Result<bool> {
    Ok(newest_version(&Listing::whole(location).await?).is_some())
}

async fn from_listing(
    location: &Arc<TableLocation>,
    listing: &Listing,
    version: Option<Version>,
    options: LoadOptions,
    mut warnings: Vec<String>,
) -> Result<Snapshot> {
    let Some(newest) = newest_version(listing) else {
        return Err(not_a_table(listing, location.uri()));
    };
    if let Some(asked) = version
        && version_range(listing).is_none_or(|(oldest, newest)| asked < oldest || asked > newest)
    {
        return Err(version_not_found(listing, asked).with("table", location.uri()));
    }
    let version = version.unwrap_or(newest);
    let mut first_error = None;
    let candidates = complete_checkpoints(listing, Some(version))
        .into_iter()
        .map(Some)
        .chain([None]);
    for checkpoint in candidates {
        let segment = match LogSegment::try_new(listing, checkpoint, version) {
            Ok(segment) => segment,
            Err(error) => {
                first_error.get_or_insert(error);
                continue;
            }
        };
        let actions = match &segment.checkpoint {
            None => None,
            Some(files) => {
                match read_checkpoint(location, files, Statistics::Skipped, options.max_line_bytes).await {
                    Ok(actions) => Some(Arc::new(actions)),
                    Err(error) => {
                        warnings.push(format!("a checkpoint was passed over: {error}"));
                        first_error.get_or_insert(error);
                        continue;
                    }
                }
            }
        };
        let commits = read_commits(location, &segment.commits, Statistics::Skipped, options).await?;
        let from_checkpoint = actions.is_some();
        let opened = Snapshot::assemble(
            Arc::clone(location),
            options,
            segment,
            actions,
            commits,
            warnings.clone(),
        );
        match opened {
            // What a checkpoint says may be what is wrong; the commits before it say it too, if they are still there.
            Err(error) if from_checkpoint && error.kind() == ErrorKind::CorruptLog => {
                warnings.push(format!("a checkpoint was passed over: {error}"));
                first_error.get_or_insert(error);
            }
            opened => return opened,
        }
    }
    Err(first_error.unwrap_or_else(|| not_a_table(listing, location.uri())))
}

/// Reads commits, newest first.
pub(super) async fn read_commits(
    location: &Arc<TableLocation>,
    files: &[LogFile],
    statistics: Statistics,
    options: LoadOptions,
) -> Result<Vec<(Version, Arc<Actions>)>> {
    let reads: Vec<_> = files
        .iter()
        .rev()
        .map(|file| {
            let (location, version, relative) = (Arc::clone(location), file.path.version, file.relative());
            async move {
                let bytes = location
                    .read(&relative)
                    .await
                    .map_err(|error| unreadable(&error, &relative, version))?;
                decode_commit(&bytes, version, statistics, options.max_line_bytes)
                    .map(|actions| (version, Arc::new(actions)))
            }
        })
        .collect();
    futures::stream::iter(reads)
        .buffered(COMMITS_IN_FLIGHT)
        .try_collect()
        .await
}

fn unreadable(error: &object_store::Error, relative: &str, version: Version) -> Error {
    match error {
        object_store::Error::NotFound { .. } => {
            Error::new(ErrorKind::CorruptLog, "the commit was listed but is not there")
                .with("path", relative)
                .with("version", version)
                .hint("the log may have been cleaned up meanwhile: open the table again")
        }
        other => store_error(other, relative).with("version", version),
    }
}

impl Snapshot {
    /// Reconciles what was read, and lets only a table through that is understood.
    pub(super) fn assemble(
        location: Arc<TableLocation>,
        options: LoadOptions,
        segment: LogSegment,
        checkpoint: Option<Arc<Actions>>,
        commits_newest_first: Vec<(Version, Arc<Actions>)>,
        warnings: Vec<String>,
    ) -> Result<Self> {
        let version = segment.version;
        let reconciled = reconcile(&commits_newest_first, checkpoint.as_deref())?;
        let absent = |what: &str| {
            Error::new(ErrorKind::CorruptLog, format!("the log holds no {what} action"))
                .with("table", location.uri())
                .with("version", version)
                .hint("the first commit of a table must hold one: restore it from a backup")
        };
        let protocol = reconciled.protocol.ok_or_else(|| absent("protocol"))?;
        let metadata: Metadata = reconciled.metadata.ok_or_else(|| absent("metaData"))?;
        let located = |error: Error| {
            error
                .with("table", location.uri())
                .with("version", version)
                .or_hint(
                    "the metadata are damaged: restore the commit that holds them from a backup of the table",
                )
        };
        // A protocol that is not understood may change what the rest means, so it is judged first.
        let schema = match metadata.schema() {
            Ok(schema) => schema,
            Err(error) => {
                ensure_readable(&protocol, &metadata, &Default::default()).map_err(located)?;
                return Err(located(error));
            }
        };
        ensure_readable(&protocol, &metadata, &schema).map_err(located)?;
        Ok(Self {
            location,
            options,
            segment: Arc::new(segment),
            checkpoint,
            commits_newest_first: Arc::new(commits_newest_first),
            protocol: Arc::new(protocol),
            metadata: Arc::new(metadata),
            schema: Arc::new(schema),
            adds: Arc::new(reconciled.adds),
            tombstones: Arc::new(reconciled.tombstones),
            txns: Arc::new(reconciled.txns),
            domains: Arc::new(reconciled.domains),
            warnings: Arc::new(warnings),
        })
    }
}
