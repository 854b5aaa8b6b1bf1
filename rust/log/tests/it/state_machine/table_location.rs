//! The location of the table, and the mishaps of operations on it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use deltaic_log::committer::{Committer, FileSystem};
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Result, Version};
use deltaic_storage::TableLocation;
use deltaic_storage::store_error;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::hold::{Hold, HoldPoint};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::scripted_store::ScriptedStore;
use deltaic_testkit::store_clock::StoreClock;
use deltaic_testkit::untrusted::mutation::Chance;
use futures::future::{Either, select};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde_json::Value;
use tempfile::TempDir;

use super::disk::{CrashingDisk, STEPS};

/// The storage of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Medium {
    Memory,
    Disk,
}

/// A table's location, on a scripted store.
pub(crate) struct Place {
    pub(crate) location: Arc<TableLocation>,
    scripted: ScriptedStore,
    disk: Option<OnDisk>,
}

/// A table's folder, and its committer over files that may crash.
struct OnDisk {
    files: Arc<CrashingDisk>,
    committer: FileSystem,
    _folder: TempDir,
}

/// What happens to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mishap {
    /// No mishap.
    None,
    /// Some of its requests meet a fault: the first of them, and how many.
    Fault(Fault, usize, usize),
    /// The response to a request is lost, and no further request is executed.
    Crash(usize),
    /// It is dropped in the middle of a request.
    CutOff(u32),
    /// On a disk: a crash between two steps of the commit.
    DiskCrash(usize),
}

/// The state of an operation that was to be stalled.
pub(crate) enum Held<T> {
    /// It ended before.
    Ended(T),
    /// It waits until the hold is dropped.
    Waits(Hold),
}

/// The result of an operation, `None` if it was cut off, and whether it met a mishap.
pub(crate) struct Ended<T> {
    pub(crate) outcome: Option<T>,
    pub(crate) was_met: bool,
}

const FAULTS: [Fault; 8] = [
    Fault::RequestLost,
    Fault::AnswerLost,
    Fault::ServerError,
    Fault::Throttled,
    Fault::PermissionDenied,
    Fault::NotFound,
    Fault::Truncated,
    Fault::Reset,
];

const LATENCY: Duration = Duration::from_secs(1);

impl Mishap {
    /// A random mishap, mostly none.
    pub(crate) fn by(chance: &mut Chance) -> Self {
        // Most operations make few requests, and the first ones matter most.
        let most = 1 + chance.below(10);
        let first = chance.below(most);
        match chance.below(21) {
            0 => Self::CutOff(u32::try_from(first).unwrap_or(0)),
            1 => Self::Fault(
                FAULTS[chance.below(FAULTS.len())],
                first,
                [1, 2, 1000][chance.below(3)],
            ),
            2 => Self::Crash(first),
            3 => Self::Fault(Fault::AnswerLost, first, 1),
            4 => Self::DiskCrash(chance.below(STEPS + 1)),
            _ => Self::None,
        }
    }
}

impl Place {
    pub(crate) fn on(medium: Medium) -> Result<Self> {
        match medium {
            Medium::Memory => {
                let scripted = ScriptedStore::default();
                let store: Arc<dyn ObjectStore> = Arc::new(scripted.clone());
                let location =
                    TableLocation::on_store("memory://machine/".to_owned(), store, Path::from("t"));
                Ok(Self {
                    location: Arc::new(location),
                    scripted,
                    disk: None,
                })
            }
            Medium::Disk => {
                let folder = tempfile::tempdir().expect("a folder can be made");
                let mut below = None;
                let location = TableLocation::parse(&folder.path().to_string_lossy(), Vec::new())?;
                let location = location.through(|store| {
                    let scripted = ScriptedStore::over(store);
                    below = Some(scripted.clone());
                    Arc::new(scripted)
                });
                let scripted: ScriptedStore = below.expect("a table has a store");
                let files = Arc::new(CrashingDisk::over(scripted.clone()));
                let committer = FileSystem::over(&location, Arc::clone(&files) as _);
                Ok(Self {
                    location: Arc::new(location),
                    scripted,
                    disk: Some(OnDisk {
                        files,
                        committer: committer.expect("the table is on a disk"),
                        _folder: folder,
                    }),
                })
            }
        }
    }

    /// The clock that stamps written files.
    pub(crate) fn clock(&self) -> &StoreClock {
        self.scripted.clock()
    }

    /// The committer of the table.
    pub(crate) fn committer(&self) -> Box<dyn Committer> {
        match &self.disk {
            Some(disk) => Box::new(disk.committer.clone()),
            None => Box::new(TableLocation::clone(&self.location)),
        }
    }

    /// Runs an operation until one of its requests, counted from 0, is stalled.
    pub(crate) async fn until_held<T, F: Future<Output = T> + Unpin>(
        &self,
        work: &mut F,
        request: usize,
        point: HoldPoint,
    ) -> Held<T> {
        let mut hold = self.scripted.hold(request, point);
        let ended = {
            let reached = std::pin::pin!(hold.reached());
            match select(&mut *work, reached).await {
                Either::Left((ended, _)) => Some(ended),
                Either::Right(_) => None,
            }
        };
        self.scripted.forget();
        match ended {
            Some(ended) => Held::Ended(ended),
            None => Held::Waits(hold),
        }
    }

    /// Runs an operation with a mishap.
    pub(crate) async fn run<T>(&self, mishap: Mishap, work: impl Future<Output = T>) -> Ended<T> {
        let before = self.scripted.faults_met();
        let outcome = match mishap {
            Mishap::None => Some(work.await),
            Mishap::Fault(fault, first, count) => {
                let rule = Rule::new(fault).requests(first..first + count);
                // A file to be deleted that the store reports as missing is treated as deleted: no store reports that
                // wrongly.
                let reads = [RequestKind::Get, RequestKind::Head];
                self.scripted.fail(match fault {
                    Fault::NotFound => rule.of(&reads),
                    _ => rule,
                });
                Some(work.await)
            }
            Mishap::Crash(last) => {
                self.scripted
                    .fail(Rule::new(Fault::AnswerLost).requests(last..last + 1));
                self.scripted
                    .fail(Rule::new(Fault::RequestLost).requests(last + 1..usize::MAX));
                Some(work.await)
            }
            Mishap::DiskCrash(steps) => {
                if let Some(disk) = &self.disk {
                    disk.files.crash_after(steps);
                }
                Some(work.await)
            }
            Mishap::CutOff(request) => {
                self.scripted.set_latency(LATENCY);
                tokio::time::timeout(LATENCY * request + LATENCY / 2, work)
                    .await
                    .ok()
            }
        };
        self.scripted.heal();
        self.scripted.set_latency(Duration::ZERO);
        self.scripted.forget();
        let has_crashed = self.disk.as_ref().is_some_and(|disk| disk.files.take_crash());
        let was_met = outcome.is_none() || has_crashed || self.scripted.faults_met() > before;
        Ended { outcome, was_met }
    }

    /// The `commitInfo` of a version; `None` if there is no such commit.
    pub(crate) async fn info_of(&self, version: usize) -> Result<Option<Value>> {
        let actions = self.actions_of(version).await?;
        Ok(actions.and_then(|actions| Some(actions.first()?["commitInfo"].clone())))
    }

    /// The time of removal of a version's removed files, in milliseconds since the epoch; `None` if it removed none.
    pub(crate) async fn removed_ms(&self, version: usize) -> Result<Option<i64>> {
        let actions = self.actions_of(version).await?.unwrap_or_default();
        let mut removed = actions.iter().map(|action| &action["remove"]);
        Ok(removed.find_map(|remove| remove["deletionTimestamp"].as_i64()))
    }

    async fn actions_of(&self, version: usize) -> Result<Option<Vec<Value>>> {
        let path = LogPath::commit(to_version(version));
        let bytes = match self.location.read(&path).await {
            Ok(bytes) => bytes,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(store_error(&error, &path)),
        };
        let text = String::from_utf8_lossy(&bytes);
        let actions = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_default());
        Ok(Some(actions.collect()))
    }

    /// When the store wrote a version's commit, in milliseconds since the epoch.
    pub(crate) async fn modified_ms(&self, version: usize) -> Result<i64> {
        let path = LogPath::commit(to_version(version));
        let found = self.location.store().head(&self.location.below(&path)?).await;
        let found = found.map_err(|error| store_error(&error, &path))?;
        Ok(found.last_modified.timestamp_millis())
    }

    /// Puts a commit like another client.
    pub(crate) async fn put_commit(&self, version: usize, lines: &[Value]) -> Result<()> {
        let path = LogPath::commit(to_version(version));
        let text: String = lines.iter().map(|line| line.to_string() + "\n").collect();
        let put = self
            .location
            .store()
            .put(&self.location.below(&path)?, text.into())
            .await;
        put.map(|_| ()).map_err(|error| store_error(&error, &path))
    }
}

pub(crate) fn to_version(number: usize) -> Version {
    Version::try_new(i64::try_from(number).unwrap_or(i64::MAX)).expect("a version")
}
