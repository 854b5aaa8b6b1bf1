//! A store for each process: what runs on a process's threads is of no use to its children.

use std::sync::{Arc, OnceLock};

use object_store::memory::InMemory;
use object_store::{ObjectStore, Result};

/// A store, made anew in each process that asks for it.
///
/// A child of `fork` has none of its parent's threads, so a connection that the parent opened would never answer. No
/// lock is held between calls, since a child would inherit it locked; and what the parent made is never dropped in a
/// child, since that may wait for threads that are not there.
pub(super) struct PerProcess {
    process: u32,
    store: Arc<dyn ObjectStore>,
    in_a_child: OnceLock<Box<PerProcess>>,
}

impl PerProcess {
    /// Holds this process's store.
    pub(super) fn new(store: Arc<dyn ObjectStore>) -> Self {
        Self {
            process: std::process::id(),
            store,
            in_a_child: OnceLock::new(),
        }
    }

    /// This process's store, made where there is none yet.
    pub(super) fn get(
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
