//! The memory allocator of the extension.
//!
//! Pages and batches are megabytes in size. The system allocator returns such blocks to the kernel at once, and the next
//! allocation page-faults again.

use std::ffi::c_long;

use libmimalloc_sys::{mi_collect, mi_option_set, mi_option_t};

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_arena_purge_mult` of mimalloc 2, which the binding does not name.
const ARENA_PURGE_FACTOR: mi_option_t = 24;

/// Unused memory is returned to the kernel after ten times so many milliseconds. A second, because a result that is read
/// after another of its size needs no new pages then. That lets a write, which allocates a row group after another, hold
/// several times what it needs; less than 20 ms costs it page faults.
const LATER: c_long = 100;
const SOON: c_long = 2;

/// Sets whether unused memory is kept for a second, or returned to the kernel after 20 ms.
#[expect(
    unsafe_code,
    reason = "a function of the allocator's C interface, without pointers"
)]
pub(crate) fn keep_memory(is_kept: bool) {
    let factor = if is_kept { LATER } else { SOON };
    // SAFETY: sets a number in the allocator's table of options, and ignores options that it does not have.
    unsafe { mi_option_set(ARENA_PURGE_FACTOR, factor) }
}

/// Returns the unused memory of the calling thread to the kernel.
#[expect(
    unsafe_code,
    reason = "a function of the allocator's C interface, without pointers"
)]
pub(crate) fn return_memory() {
    // SAFETY: has no preconditions.
    unsafe { mi_collect(true) }
}
