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

/// Number of [`KeepUnused`] and of [`ReturnUnused`].
static ASKED: Mutex<(usize, usize)> = Mutex::new((0, 0));

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

/// While one exists, unused memory is kept for longer, even if a [`ReturnUnused`] exists: for operations that allocate the
/// same memory again and again, so that its pages need not be mapped each time.
#[derive(Debug)]
pub struct KeepUnused(());

/// While one exists, unused memory is returned soon: for operations that hold much memory at a time, each in other blocks
/// than before.
#[derive(Debug)]
pub struct ReturnUnused(());

impl KeepUnused {
    /// Keeps unused memory until the value is dropped.
    #[must_use]
    pub fn begin() -> Self {
        change(|(keeping, _)| *keeping += 1);
        Self(())
    }
}

impl Drop for KeepUnused {
    fn drop(&mut self) {
        change(|(keeping, _)| *keeping -= 1);
    }
}

impl ReturnUnused {
    /// Returns unused memory soon until the value is dropped.
    #[must_use]
    pub fn begin() -> Self {
        change(|(_, returning)| *returning += 1);
        Self(())
    }
}

impl Drop for ReturnUnused {
    fn drop(&mut self) {
        change(|(_, returning)| *returning -= 1);
    }
}

fn change(numbers: impl FnOnce(&mut (usize, usize))) {
    let is_kept = |asked: (usize, usize)| asked.0 > 0 || asked.1 == 0;
    let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    let before = is_kept(*asked);
    numbers(&mut asked);
    if let Some(allocator) = ALLOCATOR.get().filter(|_| is_kept(*asked) != before) {
        (allocator.keep)(!before);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    static IS_KEPT: AtomicBool = AtomicBool::new(true);

    #[test]
    fn memory_is_returned_soon_while_an_operation_wants_it_and_none_keeps_it() {
        set_allocator(Allocator {
            release: || (),
            keep: |is_kept| IS_KEPT.store(is_kept, Ordering::Relaxed),
        });
        let is_kept = || IS_KEPT.load(Ordering::Relaxed);
        let first = ReturnUnused::begin();
        let second = ReturnUnused::begin();
        assert!(!is_kept());
        let kept = KeepUnused::begin();
        assert!(is_kept());
        drop(first);
        drop(kept);
        assert!(!is_kept());
        drop(second);
        assert!(is_kept());
    }
}
