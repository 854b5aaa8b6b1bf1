//! Refreshes a snapshot by reading only the commits after it.

use std::sync::Arc;

use deltaic_protocol::properties::log_retention_ms;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use object_store::ObjectStoreExt;

use super::agreement::Agreement;
use super::assemble::ReplayedState;
use super::checksum::read_checksum;
use super::request::Request;
use super::state::Snapshot;
use super::version_file::VersionFile;
use crate::decode::commits::read_commits;
use crate::listing::{Listing, LogFile};
use crate::reconcile::{NewerKeys, Survivors};
use crate::segment::{LogSegment, checksum_of, complete_checkpoints, newest_version};
use deltaic_storage::clock::{Observed, now_ms};

/// Prefix of the warning that a checkpoint was skipped.
const PASSED_OVER: &str = "a checkpoint was skipped";

/// Number of batches above which a refresh loads the snapshot again.
const MOST_BATCHES: usize = 4096;

impl Snapshot {
    /// Returns the newest version. If the log no longer continues from this version, because the table was recreated or
    /// too much was cleaned up, it is loaded from the start. A stale listing never returns an older version while this
    /// version's file still exists. Must be called inside a runtime.
    #[tracing::instrument(target = "deltaic::log", name = "refresh snapshot", level = "info", skip_all, fields(table = self.location.uri(), from = self.version().as_i64()))]
    pub async fn refresh(&self) -> Result<Self> {
        let listed = Observed::now();
        let newest = self.newest(listed).await;
        let is_behind = match &newest {
            Ok(newest) => newest.version() < self.version(),
            Err(error) => error.kind() == ErrorKind::TableNotFound,
        };
        if is_behind && matches!(self.version_file().await, Ok(VersionFile::Same)) {
            return Ok(self.clone());
        }
        newest.map_err(|error| match error.kind() {
            ErrorKind::TableNotFound => Error::new(
                ErrorKind::TableNotFound,
                format!(
                    "The table no longer exists: version {} was read before, but its log was deleted",
                    self.version()
                ),
            )
            .with("path", self.location.uri())
            .hint("create it again, or restore it from a backup"),
            _ => error,
        })
    }

    async fn newest(&self, listed: Observed) -> Result<Self> {
        let listing = Listing::from(&self.location, self.version()).await?;
        let reload = || Self::load(Arc::clone(&self.location), None, self.options);
        let Some(newest) = newest_version(&listing) else {
            return reload().await;
        };
        if !self.continues_in(&listing).await {
            return reload().await;
        }
        // Log files that this snapshot reads on demand may have been cleaned up.
        if self.may_be_cleaned_up(&listing) && !self.sources_stand().await {
            return reload().await;
        }
        if newest == self.version() {
            return Ok(Self {
                listed: Some(listed),
                ..self.clone()
            });
        }
        // Each refresh adds a small batch; after very many of them it is faster to load the log again.
        if self.adds.len() + self.removes.len() > MOST_BATCHES {
            return reload().await;
        }
        let Some(fresh) = commits_after(&listing, self.version(), newest)? else {
            return reload().await;
        };
        let max_line_bytes = self.options.max_line_bytes;
        let checksum = checksum_of(&listing, newest);
        let (commits, hint) = futures::join!(
            read_commits(&self.location, &fresh, max_line_bytes),
            read_checksum(&self.location, checksum.as_deref()),
        );
        // If a commit is damaged, a later checkpoint may contain its actions, so load the table completely.
        let damaged = |error: &Error| error.kind() == ErrorKind::CorruptLog;
        let commits = match commits {
            Err(error) if damaged(&error) => return reload().await,
            commits => commits?,
        };
        let reconciled =
            NewerKeys::reconcile(&commits.adds, &commits.removes).and_then(|(keys, mut adds, removes)| {
                for older in self.adds.iter() {
                    adds.push(keys.probe_adds(older)?);
                }
                Ok((keys, adds, removes))
            });
        let (keys, adds, mut removes) = match reconciled {
            Err(error) if damaged(&error) => return reload().await,
            reconciled => reconciled?,
        };
        removes.extend(self.removes.iter().map(|older| keys.probe(older)));
        let rise = |last: i64, file: &Arc<LogFile>| file.modified_ms.max(last.saturating_add(1));
        let file_time_ms = self.file_time_ms.map(|last| fresh.iter().fold(last, rise));
        let segment = LogSegment {
            version: newest,
            checkpoint: self.segment.checkpoint.clone(),
            commits: self.segment.commits.iter().cloned().chain(fresh).collect(),
            compactions: Vec::new(),
            checksum,
        };
        let known = ReplayedState {
            segment,
            checkpoint: self.checkpoint.clone(),
            state: self.state.with_newer(commits.tables),
            adds: drop_the_dead(adds),
            removes: drop_the_dead(removes),
            newest_commit_info: commits.newest_commit_info,
            file_time_ms,
            agreement: self.agreement,
        };
        let request = Request {
            location: Arc::clone(&self.location),
            version: None,
            options: self.options,
            tail: self.tail,
            listed: Some(listed),
        };
        let mut snapshot = Self::try_new(&request, known)?;
        // Checkpoints skipped for the older part are still skipped; other warnings applied to the older version only.
        let mut warnings: Vec<String> = self
            .warnings
            .iter()
            .filter(|warning| warning.starts_with(PASSED_OVER))
            .cloned()
            .collect();
        warnings.extend(snapshot.warnings.iter().cloned());
        match hint {
            Ok(Some(checksum)) => {
                let disagreements = snapshot.disagreements(&checksum)?;
                snapshot.agreement = Agreement::found(&disagreements);
                warnings.extend(disagreements);
            }
            Ok(None) => {}
            Err(why) => warnings.push(format!("the version checksum was skipped: {why}")),
        }
        snapshot.warnings = Arc::new(warnings);
        Ok(snapshot)
    }

    /// Whether a cleanup may have deleted files that this snapshot was made from: one of them has expired by the
    /// table's rules, or a newer checkpoint exists, before which another tool may delete by its own rules.
    fn may_be_cleaned_up(&self, listing: &Listing) -> bool {
        let own = self
            .segment
            .checkpoint
            .as_ref()
            .map(|checkpoint| checkpoint.version);
        let mut others = complete_checkpoints(listing, None).into_iter();
        if others.any(|checkpoint| Some(checkpoint.version) > own) {
            return true;
        }
        let kept_ms = log_retention_ms(self.metadata()).unwrap_or(0);
        let expired_ms = now_ms().saturating_sub(kept_ms);
        self.oldest_sources().any(|file| file.modified_ms < expired_ms)
    }

    /// The files that a cleanup deletes first: those of the checkpoint, and the first commit after it.
    fn oldest_sources(&self) -> impl Iterator<Item = &Arc<LogFile>> {
        let checkpoint = self.segment.checkpoint.iter();
        checkpoint
            .flat_map(|checkpoint| &checkpoint.files)
            .take(1)
            .chain(self.segment.commits.first())
    }

    /// Whether the files that a cleanup deletes first still exist. A store error counts as existing.
    async fn sources_stand(&self) -> bool {
        let checks = self.oldest_sources().map(|file| async move {
            let path = self.location.below(&file.relative())?;
            Ok::<_, Error>(match self.location.store().head(&path).await {
                Ok(found) => file.is_still(&found),
                Err(object_store::Error::NotFound { .. }) => false,
                Err(_) => true,
            })
        });
        let checks = futures::future::join_all(checks).await;
        checks.into_iter().all(|exists| exists.unwrap_or(true))
    }

    /// Whether a listing from this version on shows the same table: a file that this snapshot was made from still
    /// exists unchanged.
    async fn continues_in(&self, listing: &Listing) -> bool {
        if self.is_shown_in(listing) {
            return true;
        }
        let mut made = self.made_of();
        // A different file of the same name means that the table was replaced.
        let replaced = |own: &Arc<LogFile>| listing.files.iter().any(|file| file.path == own.path);
        if made.any(replaced) {
            return false;
        }
        // It was cleaned up. Older files can only be compared with a listing of the whole log.
        match Listing::whole(&self.location).await {
            Ok(whole) => {
                let checkpoint = self.segment.checkpoint.iter();
                let checkpoint = checkpoint.flat_map(|checkpoint| &checkpoint.files);
                let all = self.segment.commits.iter().chain(checkpoint);
                let mut all = all.filter(|own| at_path(&whole.files, own).next().is_some());
                let mut any = false;
                all.all(|own| {
                    any = true;
                    at_path(&whole.files, own).any(|file| own.is_same_writing(file))
                }) && any
            }
            Err(_) => false,
        }
    }
}

/// The files of a listing, which is sorted by path, that have the same path as another file.
fn at_path<'a>(files: &'a [Arc<LogFile>], other: &'a LogFile) -> impl Iterator<Item = &'a Arc<LogFile>> {
    let first = files.partition_point(|file| file.path < other.path);
    let rest = files.get(first..).unwrap_or_default();
    rest.iter().take_while(|file| file.path == other.path)
}

/// The commits after a version up to the newest; `None` if one is missing.
fn commits_after(listing: &Listing, version: Version, newest: Version) -> Result<Option<Vec<Arc<LogFile>>>> {
    let mut next = version.next()?;
    let mut fresh: Vec<Arc<LogFile>> = Vec::new();
    for file in listing.commits() {
        if file.path.version == next {
            fresh.push(Arc::clone(file));
            if next == newest {
                return Ok(Some(fresh));
            }
            next = next.next()?;
        }
    }
    Ok(None)
}

/// Drops batches without live rows.
pub(super) fn drop_the_dead(mut survivors: Vec<Survivors>) -> Vec<Survivors> {
    survivors.retain(|survivors| survivors.live.count_set_bits() > 0);
    survivors
}
