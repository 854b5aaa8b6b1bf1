//! Where the table is, and what may befall whoever works on it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use deltaic_log::TableLocation;
use deltaic_log::store_error::store_error;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Result, Version};
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::hostile::mutation::Chance;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::scripted_store::ScriptedStore;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde_json::Value;
use tempfile::TempDir;

/// On what the tables lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Medium {
    Memory,
    Disk,
}

/// A table's place, its store scripted.
pub(crate) struct Place {
    pub(crate) location: Arc<TableLocation>,
    scripted: ScriptedStore,
    _folder: Option<TempDir>,
}

/// What befalls an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mishap {
    /// Nothing.
    None,
    /// Some of its requests meet a fault: the first of them, and how many.
    Fault(Fault, usize, usize),
    /// The answer to a request is lost, and nothing arrives any more.
    Crash(usize),
    /// It is let go of in the middle of a request.
    CutOff(u32),
}

/// What became of an operation: none where it was cut off, and whether anything befell it.
pub(crate) struct Ended<T> {
    pub(crate) said: Option<T>,
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
    /// Nothing, mostly.
    pub(crate) fn by(chance: &mut Chance) -> Self {
        // Most operations make few requests, and the first ones matter most.
        let most = 1 + chance.below(10);
        let first = chance.below(most);
        match chance.below(20) {
            0 => Self::CutOff(u32::try_from(first).unwrap_or(0)),
            1 => Self::Fault(
                FAULTS[chance.below(FAULTS.len())],
                first,
                [1, 2, 1000][chance.below(3)],
            ),
            2 => Self::Crash(first),
            3 => Self::Fault(Fault::AnswerLost, first, 1),
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
                    _folder: None,
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
                let scripted = below.expect("a table has a store");
                Ok(Self {
                    location: Arc::new(location),
                    scripted,
                    _folder: Some(folder),
                })
            }
        }
    }

    /// Lets an operation run, and a mishap befall it.
    pub(crate) async fn run<T>(&self, mishap: Mishap, work: impl Future<Output = T>) -> Ended<T> {
        let before = self.scripted.faults_met();
        let said = match mishap {
            Mishap::None => Some(work.await),
            Mishap::Fault(fault, first, count) => {
                let rule = Rule::new(fault).requests(first..first + count);
                // A file that is to be deleted and is said not to be there is gone: no store lies about that.
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
        let was_met = said.is_none() || self.scripted.faults_met() > before;
        Ended { said, was_met }
    }

    /// What a version's commit says about itself; none where there is no such commit.
    pub(crate) async fn info_of(&self, version: usize) -> Result<Option<Value>> {
        let path = LogPath::commit(to_version(version));
        let bytes = match self.location.read(&path).await {
            Ok(bytes) => bytes,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(store_error(&error, &path)),
        };
        let text = String::from_utf8_lossy(&bytes);
        let first = text.lines().next().unwrap_or_default();
        let action: Value = serde_json::from_str(first).unwrap_or_default();
        Ok(Some(action["commitInfo"].clone()))
    }

    /// Puts a commit as another client does.
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
