//! The most recently used stores of this process: tables and tasks on one store share its connections.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, TryLockError};

use deltaic_protocol::Result;
use object_store::ObjectStore;
use object_store::path::Path;

use super::connect::is_elsewhere;
use super::network::Network;
use super::remote_store::RemoteStore;
use crate::location::given::options::Settings;
use crate::location::given::uri::RemoteFolder;

/// A store and its verified properties.
#[derive(Clone)]
pub(in crate::location) struct Shared {
    pub(in crate::location) store: Arc<dyn ObjectStore>,
    /// Whether it honors put-if-absent.
    pub(in crate::location) proven: Arc<AtomicBool>,
}

impl Shared {
    /// Creates the store without verified properties.
    pub(in crate::location) fn try_new(
        place: &RemoteFolder,
        settings: &Settings,
        network: Network,
    ) -> Result<Self> {
        Ok(Self {
            proven: Arc::new(AtomicBool::new(!is_elsewhere(settings))),
            store: Arc::new(RemoteStore::try_new(place.clone(), settings.clone(), network)?),
        })
    }
}

/// Maximum number of cached stores.
const KEPT: usize = 16;

type Key = (RemoteFolder, Settings);

static STORES: Mutex<Vec<(Key, Shared)>> = Mutex::new(Vec::new());

/// Returns the store of a location with its settings.
pub(in crate::location) fn store(place: &RemoteFolder, settings: Settings) -> Result<Shared> {
    let key = (
        RemoteFolder {
            root: Path::default(),
            ..place.clone()
        },
        settings,
    );
    // In a child of `fork` the lock may be held forever: then stores are not shared.
    let mut stores = match STORES.try_lock() {
        Ok(stores) => Some(stores),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    };
    let known = stores
        .as_ref()
        .and_then(|stores| stores.iter().position(|(known, _)| *known == key));
    if let (Some(stores), Some(index)) = (&mut stores, known) {
        let found = stores.remove(index);
        let shared = found.1.clone();
        stores.push(found);
        return Ok(shared);
    }
    let shared = Shared::try_new(&key.0, &key.1, None)?;
    if let Some(stores) = &mut stores {
        if stores.len() >= KEPT {
            stores.remove(0);
        }
        stores.push((key, shared.clone()));
    }
    Ok(shared)
}
