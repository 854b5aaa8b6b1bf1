//! One store per process: connections that run on threads of a process do not work in its children.

use std::sync::{Arc, OnceLock};

use object_store::memory::InMemory;
use object_store::{ObjectStore, Result};

/// A store that is created again in each process that uses it.
///
/// A child of `fork` has none of its parent's threads, so a connection that the parent opened would never
/// respond. No lock is held between calls, since a child would inherit it locked; and the parent's store is
/// never dropped in a child, since the drop may wait for threads that do not exist.
pub(in crate::location) struct PerProcess {
    process: u32,
    store: Arc<dyn ObjectStore>,
    in_a_child: OnceLock<Box<PerProcess>>,
}

impl PerProcess {
    /// Holds this process's store.
    pub(in crate::location) fn new(store: Arc<dyn ObjectStore>) -> Self {
        Self {
            process: std::process::id(),
            store,
            in_a_child: OnceLock::new(),
        }
    }

    /// Returns this process's store, created if necessary.
    pub(in crate::location) fn get(
        &self,
        make: impl Fn() -> Result<Arc<dyn ObjectStore>>,
    ) -> Result<&Arc<dyn ObjectStore>> {
        let process = std::process::id();
        let mut at = self;
        while at.process != process {
            at = match at.in_a_child.get() {
                Some(child) => child,
                None => {
                    let child = Box::new(Self::new(make()?));
                    at.in_a_child.get_or_init(|| child)
                }
            };
        }
        Ok(&at.store)
    }
}

impl Drop for PerProcess {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            let inherited = std::mem::replace(&mut self.store, Arc::new(InMemory::new()));
            std::mem::forget(inherited);
        }
    }
}
