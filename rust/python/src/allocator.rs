//! The memory allocator of the extension.
//!
//! Pages and batches are megabytes in size. The system allocator returns such blocks to the kernel at once, and the next
//! allocation page-faults again.

use libmimalloc_sys::{mi_option_set, mi_option_t};

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_arena_purge_mult` of mimalloc 2, which the binding does not name.
const ARENA_PURGE_FACTOR: mi_option_t = 24;

/// Returns unused memory to the kernel after 20 ms, and not after 100 ms: a write that allocates a row group after another
/// would hold several times what it needs. Less time would cost page faults where a batch is read after another.
#[expect(
    unsafe_code,
    reason = "a function of the allocator's C interface, without pointers"
)]
pub(crate) fn return_memory_soon() {
    // SAFETY: sets a number in the allocator's table of options, and ignores options that it does not have.
    unsafe { mi_option_set(ARENA_PURGE_FACTOR, 2) }
}
