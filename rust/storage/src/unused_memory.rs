//! When the allocator returns unused memory to the system.

use std::sync::{Mutex, OnceLock, PoisonError};

/// The functions of an allocator that keeps unused memory for a while.
#[derive(Clone, Copy, Debug)]
pub struct Allocator {
    /// Returns memory that the calling thread freed.
    pub release: fn(),
    /// Sets whether unused memory is kept for longer.
    pub keep: fn(bool),
}

static ALLOCATOR: OnceLock<Allocator> = OnceLock::new();

/// Number of [`KeepUnused`].
static KEEPING: Mutex<usize> = Mutex::new(0);

/// Sets the allocator of the process. The first one is used.
pub fn set_allocator(allocator: Allocator) {
    ALLOCATOR.get_or_init(|| allocator);
}

/// Returns memory that the calling thread freed to the system. An allocator may otherwise keep it for the thread, while the
/// next step of an operation allocates as much on another thread.
pub fn release_unused() {
    if let Some(allocator) = ALLOCATOR.get() {
        (allocator.release)();
    }
}

/// While one exists, unused memory is kept for longer: for operations that allocate the same memory again and again, so
/// that its pages need not be mapped each time.
#[derive(Debug)]
pub struct KeepUnused(());

impl KeepUnused {
    /// Keeps unused memory until the value is dropped.
    #[must_use]
    pub fn begin() -> Self {
        let mut keeping = KEEPING.lock().unwrap_or_else(PoisonError::into_inner);
        if *keeping == 0 {
            keep(true);
        }
        *keeping += 1;
        Self(())
    }
}

impl Drop for KeepUnused {
    fn drop(&mut self) {
        let mut keeping = KEEPING.lock().unwrap_or_else(PoisonError::into_inner);
        *keeping -= 1;
        if *keeping == 0 {
            keep(false);
        }
    }
}

fn keep(is_kept: bool) {
    if let Some(allocator) = ALLOCATOR.get() {
        (allocator.keep)(is_kept);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    static IS_KEPT: AtomicBool = AtomicBool::new(false);

    #[test]
    fn memory_is_kept_until_the_last_operation_ends() {
        set_allocator(Allocator {
            release: || (),
            keep: |is_kept| IS_KEPT.store(is_kept, Ordering::Relaxed),
        });
        let first = KeepUnused::begin();
        let second = KeepUnused::begin();
        drop(first);
        assert!(IS_KEPT.load(Ordering::Relaxed));
        drop(second);
        assert!(!IS_KEPT.load(Ordering::Relaxed));
    }
}
