//! An allocator that counts what each thread allocates, so that tests beside each other do not count each other's memory.
#![expect(unsafe_code, reason = "an allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNTED: Cell<Counted> = const { Cell::new(Counted { used: 0, peak: 0, times: 0, bytes: 0 }) };
}

/// What a thread has allocated so far.
#[derive(Clone, Copy)]
struct Counted {
    /// Bytes that are not freed; negative if the thread freed those of others.
    used: isize,
    /// The largest number of used bytes.
    peak: isize,
    times: usize,
    bytes: usize,
}

/// What the calling thread allocated while it worked.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The largest number of bytes that were allocated and not freed at the same time.
    pub peak: usize,
    /// The number of allocations and reallocations.
    pub times: usize,
    /// Their bytes in total, including freed ones.
    pub bytes: usize,
}

/// The global allocator of a binary whose tests count.
#[derive(Clone, Copy, Debug)]
pub struct CountedMemory;

impl CountedMemory {
    /// Runs something, and counts what this thread allocates: nothing, unless this is the global allocator.
    pub fn count<T>(self, run: impl FnOnce() -> T) -> (T, Work) {
        let mut before = COUNTED.get();
        before.peak = before.used;
        COUNTED.set(before);
        let result = run();
        let after = COUNTED.get();
        let work = Work {
            peak: usize::try_from(after.peak - before.used).unwrap_or(0),
            times: after.times - before.times,
            bytes: after.bytes - before.bytes,
        };
        (result, work)
    }
}

/// Counts an allocation of which `bytes` are more than before: `added` bytes are used at once with the `freed` ones.
fn add(added: usize, freed: usize, bytes: usize) {
    // The thread may be about to end.
    let _ = COUNTED.try_with(|counted| {
        let mut now = counted.get();
        now.used = now.used.wrapping_add_unsigned(added);
        now.peak = now.peak.max(now.used);
        now.used = now.used.wrapping_sub_unsigned(freed);
        now.times += 1;
        now.bytes = now.bytes.wrapping_add(bytes);
        counted.set(now);
    });
}

// SAFETY: memory is the system allocator's, and counting does not allocate.
unsafe impl GlobalAlloc for CountedMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size(), 0, layout.size());
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let _ = COUNTED.try_with(|counted| {
            let mut now = counted.get();
            now.used = now.used.wrapping_sub_unsigned(layout.size());
            counted.set(now);
        });
        // SAFETY: the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size(), 0, layout.size());
        // SAFETY: the caller's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size, layout.size(), size.saturating_sub(layout.size()));
        // SAFETY: the caller's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
