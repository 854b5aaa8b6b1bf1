//! The clock of a store, which may be ahead of the system's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use object_store::ObjectMeta;
use object_store::path::Path;

/// How far a store's clock is ahead of the system's. Clones share the clock.
#[derive(Clone, Debug, Default)]
pub struct StoreClock(Arc<Mutex<Ahead>>);

#[derive(Debug, Default)]
struct Ahead {
    now: Duration,
    /// How far ahead the clock was when each object was written.
    written: HashMap<Path, Duration>,
}

impl StoreClock {
    /// Advances the clock.
    pub fn pass(&self, time: Duration) {
        self.ahead().now += time;
    }

    pub(crate) fn set_ahead(&self, ahead: Duration) {
        self.ahead().now = ahead;
    }

    /// Records that the object at a path is written now.
    pub fn stamp(&self, path: &Path) {
        let mut ahead = self.ahead();
        let now = ahead.now;
        ahead.written.insert(path.clone(), now);
    }

    /// An object with its modification time by the store's clock.
    pub(crate) fn shown(&self, mut object: ObjectMeta) -> ObjectMeta {
        if let Some(ahead) = self.ahead().written.get(&object.location) {
            object.last_modified += *ahead;
        }
        object
    }

    fn ahead(&self) -> MutexGuard<'_, Ahead> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
