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

/// Number of [`UnusedMemory`] that return memory soon, and of those that keep it.
static ASKED: Mutex<[usize; 2]> = Mutex::new([0, 0]);

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

/// While one exists, unused memory is returned soon or kept for longer; keeping it has precedence.
#[derive(Debug)]
pub struct UnusedMemory {
    is_kept: bool,
}

impl UnusedMemory {
    /// Keeps it, as without any such value: for operations that allocate the same memory again and again, so that its
    /// pages need not be mapped each time.
    #[must_use]
    pub fn kept() -> Self {
        Self::begin(true)
    }

    /// Returns it soon: for operations that hold much memory at a time, each in other blocks than before.
    #[must_use]
    pub fn returned_soon() -> Self {
        Self::begin(false)
    }

    fn begin(is_kept: bool) -> Self {
        change(|asked| asked[usize::from(is_kept)] += 1);
        Self { is_kept }
    }
}

impl Drop for UnusedMemory {
    fn drop(&mut self) {
        change(|asked| asked[usize::from(self.is_kept)] -= 1);
    }
}

fn change(numbers: impl FnOnce(&mut [usize; 2])) {
    let is_kept = |[returned, kept]: [usize; 2]| kept > 0 || returned == 0;
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
        let first = UnusedMemory::returned_soon();
        let second = UnusedMemory::returned_soon();
        assert!(!is_kept());
        let kept = UnusedMemory::kept();
        assert!(is_kept());
        drop(first);
        drop(kept);
        assert!(!is_kept());
        drop(second);
        assert!(is_kept());
    }
}
