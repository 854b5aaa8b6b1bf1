//! Memory limits of readers: proportional to the bytes that are read, whatever sizes they claim.

use crate::counted_memory::CountedMemory;

/// Limit of the peak memory of one read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// Bytes per input byte.
    pub(super) per_byte: usize,
    /// Constant number of bytes.
    pub(super) spare: usize,
}

/// Reads `length` bytes by `read`, and verifies the limit. Does not verify anything in binaries that do not count
/// memory: see [`is_counted`].
pub(super) fn bounded<T>(bound: Bound, length: usize, read: impl FnOnce() -> T) -> T {
    let (result, work) = CountedMemory.count(read);
    let (peak, most) = (
        work.peak,
        bound.per_byte.saturating_mul(length).saturating_add(bound.spare),
    );
    assert!(
        peak <= most,
        "reading {length} bytes took {peak} bytes of memory, more than {most}"
    );
    result
}

/// Whether this binary counts its memory, which requires [`CountedMemory`] as global allocator.
#[must_use]
pub fn is_counted() -> bool {
    CountedMemory.count(|| vec![0u8; 8]).1.times > 0
}
