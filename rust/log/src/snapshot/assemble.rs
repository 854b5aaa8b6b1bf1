//! Builds a snapshot from a listing: selects, reads, reconciles and validates the files of a version.

use std::sync::Arc;

use deltaic_protocol::features::{self, ensure_openable};
use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration, Version};
use tracing::Span;

use super::agreement::Agreement;
use super::checksum::read_checksum;
use super::deletion_vectors::ensure_vectors_are_allowed;
use super::request::Request;
use super::state::Snapshot;
use crate::decode::checkpoint::Checkpoint;
use crate::decode::commits::{CommitActions, read_commits};
use crate::file_times::adjusted_file_times;
use crate::listing::Listing;
use crate::reconcile::{NewerKeys, Survivors, TableState};
use crate::segment::{
    Compactions, LogSegment, complete_checkpoints, newest_version, not_a_table, version_not_found,
    version_range,
};

/// The part of the log that a listing covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    Whole,
    FromHint,
}

#[tracing::instrument(target = "deltaic::log", name = "replay log", level = "debug", skip_all, fields(version = tracing::field::Empty, checkpoint = tracing::field::Empty, commits = tracing::field::Empty))]
pub(super) async fn from_listing(
    request: &Request,
    listing: &Listing,
    reach: Coverage,
    mut warnings: Vec<String>,
) -> Result<Snapshot> {
    let uri = request.location.uri();
    let Some(newest) = newest_version(listing) else {
        return Err(not_a_table(listing, uri));
    };
    if let Some(asked) = request.version
        && version_range(listing).is_none_or(|(oldest, newest)| asked < oldest || asked > newest)
    {
        return Err(version_not_found(listing, asked).with("table", uri));
    }
    let version = request.version.unwrap_or(newest);
    let file_time_ms = match reach {
        Coverage::Whole => adjusted_file_times(listing, &InCommitTimestamps::Disabled)
            .get(&version)
            .copied(),
        Coverage::FromHint => None,
    };
    let reachable_from = reachable_from(listing, version);
    let mut first_error = None;
    let mut contradicted = 0usize;
    let candidates = complete_checkpoints(listing, Some(version))
        .into_iter()
        .map(Some)
        .chain([None]);
    for checkpoint in candidates {
        if contradicted == MOST_CONTRADICTED && checkpoint.is_some() {
            continue;
        }
        // The newest checkpoint is usually valid, and its commits are fetched in parallel. After a broken one, each
        // further checkpoint is read before its commits: there may be thousands of both.
        let mut proven = None;
        if let (Some(_), Some(files)) = (&first_error, &checkpoint) {
            if files.version < reachable_from {
                continue;
            }
            match Checkpoint::read(&request.location, files, request.options.max_line_bytes).await {
                Ok(read) => proven = Some(Arc::new(read)),
                Err(error) => {
                    warnings.push(format!("a checkpoint was skipped: {error}"));
                    continue;
                }
            }
        }
        let segment = match LogSegment::try_new(listing, checkpoint, version) {
            Ok(segment) => segment,
            Err(error) => {
                first_error.get_or_insert(error);
                continue;
            }
        };
        let has_checkpoint = segment.checkpoint.is_some();
        let span = Span::current();
        span.record("version", version.as_i64());
        span.record("commits", segment.commits.len());
        if let Some(checkpoint) = &segment.checkpoint {
            span.record("checkpoint", checkpoint.version.as_i64());
        }
        match from_segment(request, segment, file_time_ms, proven, &mut warnings).await {
            Ok(snapshot) => return Ok(snapshot),
            Err(Failed::Checkpoint(error)) => {
                warnings.push(format!("a checkpoint was skipped: {error}"));
                first_error.get_or_insert(error);
            }
            // The checkpoint may be wrong; the commits before it contain the same actions, if they still exist.
            Err(Failed::Reconciling(error)) if has_checkpoint && error.kind() == ErrorKind::CorruptLog => {
                warnings.push(format!("a checkpoint was skipped: {error}"));
                first_error.get_or_insert(error);
                contradicted += 1;
            }
            Err(Failed::Reconciling(error) | Failed::Commits(error)) => return Err(error),
        }
    }
    Err(first_error.unwrap_or_else(|| not_a_table(listing, uri)))
}

/// Builds a snapshot from a segment and its checkpoint, which was read.
pub(super) async fn from_checkpoint(
    request: &Request,
    segment: LogSegment,
    checkpoint: Arc<Checkpoint>,
) -> Result<Snapshot> {
    let snapshot = from_segment(request, segment, None, Some(checkpoint), &mut Vec::new()).await;
    snapshot.map_err(|failed| match failed {
        Failed::Checkpoint(error) | Failed::Commits(error) | Failed::Reconciling(error) => error,
    })
}

/// Number of checkpoints contradicted by later commits that are tried before only the commits are used. Each attempt
/// reads all its commits.
const MOST_CONTRADICTED: usize = 4;

/// The oldest version after which all commits up to `version` exist.
fn reachable_from(listing: &Listing, version: Version) -> Version {
    let commits = listing.commits().rev().map(|file| file.path.version);
    let mut oldest = version;
    for commit in commits.skip_while(|commit| *commit > version) {
        if commit != oldest {
            break;
        }
        match Version::try_new(commit.as_i64().saturating_sub(1)) {
            Ok(before) => oldest = before,
            Err(_) => return Version::ZERO,
        }
    }
    oldest
}

/// The step that failed. Some failures can be avoided with another checkpoint.
enum Failed {
    Checkpoint(Error),
    Commits(Error),
    Reconciling(Error),
}

async fn from_segment(
    request: &Request,
    segment: LogSegment,
    file_time_ms: Option<i64>,
    proven: Option<Arc<Checkpoint>>,
    warnings: &mut Vec<String>,
) -> std::result::Result<Snapshot, Failed> {
    let location = &request.location;
    let max_line_bytes = request.options.max_line_bytes;
    let lines = segment.lines(Compactions::Used);
    let has_compactions = lines.iter().any(|file| file.path.version != file.last_version());
    let checkpoint = async {
        match (proven, &segment.checkpoint) {
            (Some(proven), _) => Ok(Some(proven)),
            (None, Some(files)) => Checkpoint::read(location, files, max_line_bytes)
                .await
                .map(|read| Some(Arc::new(read))),
            (None, None) => Ok(None),
        }
    };
    let commits = read_commits(location, &lines, max_line_bytes);
    let checksum = read_checksum(location, segment.checksum.as_deref());
    let (checkpoint, commits, checksum) = futures::join!(checkpoint, commits, checksum);
    let checkpoint = checkpoint.map_err(Failed::Checkpoint)?;
    let assemble = |commits: CommitActions| {
        let (segment, checkpoint) = (segment.clone(), checkpoint.clone());
        let mut snapshot = Snapshot::assemble(request, segment, checkpoint, commits, file_time_ms)?;
        let reported = match &checksum {
            Ok(Some(checksum)) => {
                let disagreements = snapshot.disagreements(checksum)?;
                snapshot.agreement = Agreement::found(&disagreements);
                disagreements
            }
            Ok(None) => Vec::new(),
            Err(why) => vec![format!("the version checksum was skipped: {why}")],
        };
        let agrees = reported.is_empty();
        Arc::make_mut(&mut snapshot.warnings).extend(reported);
        Ok((snapshot, agrees))
    };
    let mut snapshot = 'assembled: {
        if !has_compactions {
            break 'assembled assemble(commits.map_err(Failed::Commits)?)
                .map_err(Failed::Reconciling)?
                .0;
        }
        // Compaction files are optional, and some writers got them wrong: on any inconsistency, the commits are read
        // instead. Metadata with two ids come from a replaced table or another table's compaction file; only the
        // commits can distinguish them.
        let is_of_one_table = |commits: &CommitActions| is_of_one_table(checkpoint.as_deref(), commits);
        match commits {
            Ok(commits) if !is_of_one_table(&commits) => {}
            commits => match commits.and_then(assemble) {
                Ok((snapshot, true)) => break 'assembled snapshot,
                Ok((_, false)) => warnings.push(
                    "compaction files were skipped: with them, the table disagrees with its version checksum"
                        .to_owned(),
                ),
                // An unreadable compaction file is ignored; if the store itself fails, reading the commits reports it.
                Err(error) if matches!(error.kind(), ErrorKind::CorruptLog | ErrorKind::StorageError) => {
                    warnings.push(format!("compaction files were skipped: {error}"));
                }
                Err(error) => return Err(Failed::Commits(error)),
            },
        }
        let commits = read_commits(location, &segment.lines(Compactions::Ignored), max_line_bytes).await;
        assemble(commits.map_err(Failed::Commits)?)
            .map_err(Failed::Reconciling)?
            .0
    };
    Arc::make_mut(&mut snapshot.warnings).splice(0..0, warnings.iter().cloned());
    Ok(snapshot)
}

/// Whether all metadata actions have one id.
fn is_of_one_table(checkpoint: Option<&Checkpoint>, commits: &CommitActions) -> bool {
    let of_checkpoint = checkpoint.map(|checkpoint| &checkpoint.table);
    let tables = of_checkpoint
        .into_iter()
        .chain(commits.tables.iter().map(|(_, table)| table));
    let mut ids = tables.filter_map(|table| table.metadata.as_ref().map(|metadata| &metadata.id));
    let first = ids.next();
    ids.all(|id| Some(id) == first)
}

impl Snapshot {
    /// Reconciles the actions that were read, and rejects unsupported tables.
    fn assemble(
        request: &Request,
        segment: LogSegment,
        checkpoint: Option<Arc<Checkpoint>>,
        commits: CommitActions,
        file_time_ms: Option<i64>,
    ) -> Result<Self> {
        let (keys, mut adds, removes) = NewerKeys::reconcile(&commits.adds, &commits.removes)?;
        let mut state = TableState::default();
        if let Some(checkpoint) = &checkpoint {
            state = state.with_newer(vec![(segment.version, checkpoint.table.clone())]);
            checkpoint.ensure_paths_once()?;
            for files in &checkpoint.adds {
                adds.push(keys.probe_adds(&Survivors::all(Arc::clone(files)))?);
            }
        }
        let known = ReplayedState {
            segment,
            checkpoint,
            state: state.with_newer(commits.tables),
            adds,
            removes,
            newest_commit_info: commits.newest_commit_info,
            file_time_ms,
            agreement: Agreement::Unasked,
        };
        Self::try_new(request, known)
    }

    /// Builds a snapshot from reconciled actions, and rejects unsupported tables.
    pub(super) fn try_new(request: &Request, known: ReplayedState) -> Result<Self> {
        let (location, version) = (&request.location, known.segment.version);
        let absent = |what: &str| {
            Error::new(
                ErrorKind::CorruptLog,
                format!("the log contains no {what} action"),
            )
            .with("table", location.uri())
            .with("version", version)
            .hint("the first commit of a table must contain one: restore it from a backup")
        };
        let protocol = known.state.protocol.clone().ok_or_else(|| absent("protocol"))?;
        let metadata = known.state.metadata.clone().ok_or_else(|| absent("metaData"))?;
        let located = |error: Error| {
            error
                .with("table", location.uri())
                .with("version", version)
                .or_hint(
                    "the metadata is damaged: restore the commit that contains it from a backup of the table",
                )
        };
        // An unsupported protocol may change the meaning of the rest, so it is checked first.
        let configuration =
            TableConfiguration::new(protocol, metadata).with_domains(known.state.domains.values().cloned());
        ensure_openable(&configuration, request.tail).map_err(located)?;
        let schema = configuration.schema().map_err(located)?;
        ensure_vectors_are_allowed(configuration.protocol(), &known.adds).map_err(located)?;
        let column_mapping = configuration.column_mapping().map_err(located)?;
        let contradictions = features::contradictions(configuration.protocol());
        Ok(Self {
            location: Arc::clone(location),
            options: request.options,
            tail: request.tail,
            segment: Arc::new(known.segment),
            checkpoint: known.checkpoint,
            state: known.state,
            configuration,
            schema,
            column_mapping,
            adds: Arc::new(known.adds),
            removes: Arc::new(known.removes),
            newest_commit_info: known.newest_commit_info.map(Arc::from),
            file_time_ms: known.file_time_ms,
            listed: request.listed,
            agreement: known.agreement,
            warnings: Arc::new(
                contradictions
                    .iter()
                    .map(|contradiction| format!("the table's protocol contradicts itself: {contradiction}"))
                    .collect(),
            ),
        })
    }
}

/// The reconciled parts of a snapshot, before validation.
pub(super) struct ReplayedState {
    pub(super) segment: LogSegment,
    pub(super) checkpoint: Option<Arc<Checkpoint>>,
    pub(super) state: TableState,
    pub(super) adds: Vec<Survivors>,
    pub(super) removes: Vec<Survivors>,
    pub(super) newest_commit_info: Option<String>,
    /// The adjusted modification time of the version's commit file; `None` if the listing does not reach far enough.
    pub(super) file_time_ms: Option<i64>,
    /// Result of comparing the version that it was derived from with a checksum.
    pub(super) agreement: Agreement,
}
