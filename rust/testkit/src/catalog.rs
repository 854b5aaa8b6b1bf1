//! A catalog that manages the commits of one table: proposals are staged in the log folder, the catalog ratifies one
//! per version (in memory, under a lock) and publishes them in order.
//!
//! Protocol: *Commit Protocol*, *Publishing Commits* of catalog-managed tables.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use deltaic_log::committer::{BoxedFuture, Committer, Outcome};
use deltaic_protocol::log_path::{LOG_FOLDER, LogPath, STAGED_COMMITS};
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_storage::TableLocation;
use deltaic_storage::clock::new_id;
use deltaic_storage::store_error;
use object_store::{ObjectStore, PutMode, PutOptions};

use crate::stores::fault::Fault;

/// When a ratified commit is published to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publishing {
    /// As soon as it is ratified.
    AtOnce,
    /// When [`Catalog::publish`] is called.
    Later,
}

/// The catalog of one table and its client. Clones share the catalog.
#[derive(Clone, Debug)]
pub struct Catalog {
    table: Arc<TableLocation>,
    publishing: Publishing,
    state: Arc<Mutex<State>>,
    /// Held while publishing, one version after the other.
    publisher: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct State {
    /// Paths of the ratified commits, by version.
    ratified: Vec<String>,
    published: usize,
    faults: Vec<(usize, Fault)>,
}

impl Catalog {
    /// A catalog that has just started to manage a table with this number of versions.
    #[must_use]
    pub fn over(table: &Arc<TableLocation>, versions: i64, publishing: Publishing) -> Self {
        let versions = (0..versions).filter_map(|number| Version::try_new(number).ok());
        let ratified: Vec<String> = versions.map(LogPath::commit).collect();
        let published = ratified.len();
        let state = State {
            ratified,
            published,
            faults: Vec::new(),
        };
        Self {
            table: Arc::clone(table),
            publishing,
            state: Arc::new(Mutex::new(state)),
            publisher: Arc::default(),
        }
    }

    /// Sets the faults that the next requests to ratify this version meet, in order.
    pub fn meets(&self, version: usize, faults: &[Fault]) {
        let mut state = self.state();
        state.faults.extend(faults.iter().map(|fault| (version, *fault)));
    }

    /// Paths of the ratified commits, by version.
    #[must_use]
    pub fn ratified(&self) -> Vec<String> {
        self.state().ratified.clone()
    }

    /// Publishes the ratified commits in order of version.
    ///
    /// # Errors
    ///
    /// `StorageError` if the store fails; ratified commits remain ratified.
    pub async fn publish(&self) -> Result<()> {
        let _one_at_a_time = self.publisher.lock().await;
        loop {
            let next = {
                let state = self.state();
                let staged = state.ratified.get(state.published).cloned();
                staged.map(|staged| (state.published, staged))
            };
            let Some((number, staged)) = next else {
                return Ok(());
            };
            let version = Version::try_new(i64::try_from(number).unwrap_or(i64::MAX))?;
            let bytes = self.table.read(&staged).await;
            let bytes = bytes.map_err(|error| store_error(&error, &staged))?;
            match self.put(&LogPath::commit(version), bytes).await {
                // Concurrent publishers write the same commit.
                Ok(()) | Err(object_store::Error::AlreadyExists { .. }) => {
                    self.state().published = number + 1
                }
                Err(error) => return Err(store_error(&error, &LogPath::commit(version))),
            }
        }
    }

    async fn put(&self, relative: &str, bytes: Bytes) -> Result<(), object_store::Error> {
        let path = self.table.below(relative);
        let path = path.map_err(|error| object_store::Error::Generic {
            store: "catalog",
            source: Box::new(error),
        })?;
        let options = PutOptions {
            mode: PutMode::Create,
            ..PutOptions::default()
        };
        let put = self.table.store().put_opts(&path, bytes.into(), options);
        put.await.map(|_| ())
    }

    /// Ratifies a staged commit: each version once, and only after the previous version.
    fn ratify(&self, version: Version, staged: &str) -> Result<Outcome> {
        let mut state = self.state();
        let asked = usize::try_from(version.as_i64()).unwrap_or(usize::MAX);
        let met = state.faults.iter().position(|(meant, _)| *meant == asked);
        let fault = met.map(|place| state.faults.remove(place).1);
        if fault == Some(Fault::RequestLost) {
            return Ok(Outcome::Unknown(version));
        }
        let next = i64::try_from(state.ratified.len()).unwrap_or(i64::MAX);
        let outcome = match version.as_i64().cmp(&next) {
            std::cmp::Ordering::Less => Outcome::Lost(version),
            std::cmp::Ordering::Equal => {
                state.ratified.push(staged.to_owned());
                Outcome::Committed(version)
            }
            std::cmp::Ordering::Greater => {
                let why = format!("the catalog has ratified {next} versions and only accepts the next one");
                return Err(Error::new(ErrorKind::StorageError, why)
                    .with("version", version)
                    .hint("propose the version after the newest one"));
            }
        };
        Ok(if fault == Some(Fault::AnswerLost) {
            Outcome::Unknown(version)
        } else {
            outcome
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn stage_and_ratify(&self, version: Version, commit: Vec<u8>) -> Result<Outcome> {
        // Each attempt has its own file: a staged file is never reused.
        let stem = version.file_stem();
        let staged = format!("{LOG_FOLDER}/{STAGED_COMMITS}/{stem}.{}.json", new_id());
        let put = self.put(&staged, commit.into()).await;
        put.map_err(|error| store_error(&error, &staged).with("version", version))?;
        let outcome = self.ratify(version, &staged)?;
        if self.publishing == Publishing::AtOnce {
            // The commit is ratified even if publishing fails; the next publisher retries.
            let _ = self.publish().await;
        }
        Ok(outcome)
    }

    async fn ratified_commit(&self, version: Version) -> Result<Option<Bytes>> {
        let place = usize::try_from(version.as_i64()).unwrap_or(usize::MAX);
        let staged = self.state().ratified.get(place).cloned();
        let Some(staged) = staged else {
            return Ok(None);
        };
        let bytes = self.table.read(&staged).await;
        bytes
            .map(Some)
            .map_err(|error| store_error(&error, &staged).with("version", version))
    }
}

impl Committer for Catalog {
    fn prepare(&self) -> BoxedFuture<'_, Option<String>> {
        self.table.prepare()
    }

    fn propose(&self, version: Version, commit: Vec<u8>) -> BoxedFuture<'_, Outcome> {
        Box::pin(self.stage_and_ratify(version, commit))
    }

    fn read_commit(&self, version: Version) -> BoxedFuture<'_, Option<Bytes>> {
        Box::pin(self.ratified_commit(version))
    }

    fn is_gapless(&self) -> bool {
        true
    }
}
