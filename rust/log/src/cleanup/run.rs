//! A cleanup from its beginning to its end.

use deltaic_protocol::features::{Maintenance, ensure_maintainable};
use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::log_path::{LAST_CHECKPOINT, LOG_FOLDER};
use deltaic_protocol::{Error, ErrorKind, Result, Version};

use super::cutoff::{Cutoff, SHORT_RETENTION_MS, cutoff_ms, left_behind_ms};
use super::delete::delete_all;
use super::leftovers::{left_behind, stale_proposals};
use super::plan::{CleanupPlan, Deletion, Kept, Known, plan};
use super::protected::all_are_understood;
use super::rules::CleanupRules;
use super::sidecars::unreferenced;
use super::store_time::store_time_ms;
use crate::checksum::ensure_counted;
use crate::decode::checkpoint::Checkpoint;
use crate::last_checkpoint::{Hint, read_last_checkpoint};
use crate::listing::{Listing, list_folder};
use crate::location::TableLocation;
use crate::segment::CheckpointFiles;
use crate::snapshot::Snapshot;
use crate::store_error::{is_not_a_folder, store_error};
use crate::time_travel::newest_not_after;

/// How many checkpoints that cannot be read are stepped over in the search for one that can.
const MOST_UNREADABLE: usize = 8;

/// What a cleanup did.
#[derive(Clone, Debug)]
pub struct CleanedUp {
    /// What was planned, and why.
    pub plan: CleanupPlan,
    /// What was deleted, in order.
    pub deleted: Vec<Deletion>,
    /// What was left although it may have expired, for people.
    pub passed_over: Vec<String>,
}

/// What a cleanup would do now, and nothing is done. `now_ms` is the time in milliseconds since the epoch.
///
/// # Errors
///
/// As of [`clean_up`].
pub async fn plan_cleanup(snapshot: &Snapshot, now_ms: i64) -> Result<CleanupPlan> {
    let planned = async {
        let (snapshot, mut plan) = plan_of_log(snapshot, now_ms).await?;
        let (beside, _) = beside_the_log(&snapshot, &plan, now_ms).await?;
        plan.waves.extend(beside);
        Ok(plan)
    };
    planned
        .await
        .map_err(|error: Error| error.with("table", snapshot.location().uri()))
}

/// [`clean_up`] at the store's time.
///
/// # Errors
///
/// As of [`clean_up`].
pub async fn clean_up_now(snapshot: &Snapshot) -> Result<CleanedUp> {
    let location = snapshot.location();
    let located = |error: Error| error.with("table", location.uri());
    judge(snapshot).map_err(located)?;
    let now_ms = store_time_ms(location).await.map_err(located)?;
    clean_up(snapshot, now_ms).await
}

/// Deletes what has expired of a table's log: commits, version checksums, checkpoints and compaction files before the
/// newest checkpoint that is old enough, then sidecars that no checkpoint names and what stopped writers left behind.
/// `now_ms` is the time in milliseconds since the epoch by the store's clock, which stamps the files: by a clock that is
/// ahead of it, commits expire that writers still follow.
///
/// The checkpoint that stays is read in full first. Must be called inside a runtime.
///
/// # Errors
///
/// `UnsupportedFeature` for a table that its catalog manages, or that has a feature that is not known; `CorruptLog` for a
/// damaged log, of which nothing is deleted, and for a property without a valid value; `StorageError`. Whatever was
/// deleted before an error, the table is as readable as after a whole cleanup.
pub async fn clean_up(snapshot: &Snapshot, now_ms: i64) -> Result<CleanedUp> {
    let cleaned = async {
        let (snapshot, plan) = plan_of_log(snapshot, now_ms).await?;
        let location = snapshot.location();
        let mut deleted = Vec::new();
        for wave in &plan.waves {
            delete_all(location, wave).await?;
            deleted.extend(wave.iter().cloned());
        }
        let (beside, passed_over) = beside_the_log(&snapshot, &plan, now_ms).await?;
        for wave in beside {
            delete_all(location, &wave).await?;
            deleted.extend(wave);
        }
        Ok(CleanedUp {
            plan,
            deleted,
            passed_over,
        })
    };
    cleaned
        .await
        .map_err(|error: Error| error.with("table", snapshot.location().uri()))
}

fn judge(snapshot: &Snapshot) -> Result<()> {
    let judged = ensure_maintainable(
        snapshot.protocol(),
        snapshot.metadata(),
        snapshot.schema(),
        Maintenance::MetadataCleanup,
    );
    judged.map_err(|error| error.with("version", snapshot.version()))
}

/// The plan of what goes of the log itself, by the newest version's rules, its checkpoint proved.
async fn plan_of_log(snapshot: &Snapshot, now_ms: i64) -> Result<(Snapshot, CleanupPlan)> {
    judge(snapshot)?;
    // Another writer may have changed the rules since.
    let snapshot = snapshot.refresh().await?;
    judge(&snapshot)?;
    let location = snapshot.location();
    let mut rules = CleanupRules::of(snapshot.protocol(), snapshot.metadata())?;
    let listing = Listing::whole(location).await?;
    let timestamp_ms = cutoff_ms(now_ms, rules.log_retention_ms);
    let times = InCommitTimestamps::of(snapshot.protocol(), snapshot.metadata())?;
    let mut commit = newest_not_after(location, &listing, &times, timestamp_ms).await?;
    // An in-commit timestamp is of its writer's clock. If that is far behind the store's, a new commit expires at once.
    if rules.log_retention_ms >= SHORT_RETENTION_MS
        && let Some(new) = first_written_lately(&listing, now_ms)
    {
        commit = commit.min(Some(new));
    }
    let cutoff = Cutoff { timestamp_ms, commit };
    let hint = match read_last_checkpoint(location).await {
        Hint::Version(version) => Some(version),
        Hint::Absent | Hint::Unusable(_) => None,
        // The checkpoint that it names would go, and readers would be led to nothing.
        Hint::Unread(why) => {
            let path = format!("{LOG_FOLDER}/{LAST_CHECKPOINT}");
            let message = format!("where readers are led to start cannot be asked: {why}");
            return Err(Error::new(ErrorKind::StorageError, message)
                .with("path", path)
                .hint("nothing was deleted; clean up again when the store answers"));
        }
    };
    let mut unreadable: Vec<CheckpointFiles> = Vec::new();
    loop {
        let known = Known {
            hint,
            unreadable: &unreadable,
        };
        let mut planned = plan(&listing, cutoff, &rules, known)?;
        if let (Some(Kept::Protected(_)), Some(up_to)) = (planned.kept, cutoff.commit)
            && all_are_understood(&snapshot, &listing, up_to).await?
        {
            rules.protected_before = None;
            planned = plan(&listing, cutoff, &rules, known)?;
        }
        let Some(checkpoint) = &planned.checkpoint else {
            return Ok((snapshot, planned));
        };
        match prove(&snapshot, checkpoint).await {
            Ok(()) => {
                let stale = staged_before(location, checkpoint.version).await?;
                if !stale.is_empty() {
                    planned.waves.insert(0, stale);
                }
                return Ok((snapshot, planned));
            }
            Err(error) if error.kind() == ErrorKind::StorageError => return Err(error),
            Err(_) if unreadable.len() < MOST_UNREADABLE => unreadable.push(checkpoint.clone()),
            Err(_) => {
                let uncut = CleanupPlan {
                    cutoff,
                    checkpoint: None,
                    kept: Some(Kept::NoCheckpoint),
                    waves: Vec::new(),
                };
                return Ok((snapshot, uncut));
            }
        }
    }
}

/// The first commit that the store wrote within the last hour, by its own clock.
fn first_written_lately(listing: &Listing, now_ms: i64) -> Option<Version> {
    let mut commits = listing.commits();
    let new = commits.find(|file| file.modified_ms.abs_diff(now_ms) < SHORT_RETENTION_MS.unsigned_abs());
    new.map(|file| file.path.version)
}

/// The staged proposals of versions before a checkpoint. They go before any commit: a writer that stalls before it gives its
/// proposal the version's name must not find the name free. Listed after the checkpoint was written: a proposal that is staged
/// later is for a later version, or its writer finds the gap.
async fn staged_before(location: &TableLocation, checkpoint: Version) -> Result<Vec<Deletion>> {
    if location.file_system().is_none() {
        return Ok(Vec::new());
    }
    match list_folder(location, &location.below(LOG_FOLDER)?).await {
        Ok(listed) => Ok(stale_proposals(&listed.objects, checkpoint)),
        Err(error) if is_not_a_folder(&error) => Ok(Vec::new()),
        Err(error) => Err(store_error(&error, LOG_FOLDER)),
    }
}

/// Proves that a checkpoint stands for the commits before it: it is read whole, its sidecars and tombstones too, and its
/// version's checksum, where there is one, counts as many files.
async fn prove(snapshot: &Snapshot, checkpoint: &CheckpointFiles) -> Result<()> {
    let read = Checkpoint::read(snapshot.location(), checkpoint, snapshot.max_line_bytes()).await?;
    read.ensure_paths_once()?;
    ensure_counted(snapshot.location(), &read).await?;
    read.read_tombstones().await.map(|_| ())
}

/// The sidecars that nobody names and what was left behind, and what was passed over on the way.
async fn beside_the_log(
    snapshot: &Snapshot,
    plan: &CleanupPlan,
    now_ms: i64,
) -> Result<(Vec<Vec<Deletion>>, Vec<String>)> {
    let mut passed_over = Vec::new();
    if plan.kept == Some(Kept::Disabled) {
        return Ok((Vec::new(), passed_over));
    }
    let location = snapshot.location();
    let before_ms = left_behind_ms(now_ms);
    let kept_from = plan.oldest_kept().unwrap_or(Version::ZERO);
    let sidecars = unreferenced(location, kept_from, before_ms, snapshot.max_line_bytes()).await;
    let sidecars = sidecars.unwrap_or_else(|error| {
        passed_over.push(format!("sidecars were left alone: {error}"));
        Vec::new()
    });
    let folder = location.below(LOG_FOLDER)?;
    let leftovers = match list_folder(location, &folder).await {
        Ok(listed) => {
            let name =
                |deletion: &'_ Deletion| deletion.path.rsplit('/').next().unwrap_or_default().to_owned();
            let gone: Vec<String> = plan.deletions().map(name).collect();
            let gone = gone.iter().map(String::as_str).collect();
            left_behind(&listed.objects, &gone, before_ms)
        }
        Err(error) if is_not_a_folder(&error) => Vec::new(),
        Err(error) => return Err(store_error(&error, LOG_FOLDER)),
    };
    let mut waves = vec![sidecars, leftovers];
    waves.retain(|wave| !wave.is_empty());
    Ok((waves, passed_over))
}
