//! Memory limits of readers: proportional to the bytes that are read, whatever sizes they claim.

use peak_alloc::PeakAlloc;

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
    PeakAlloc.reset_peak_usage();
    let before = PeakAlloc.current_usage();
    let result = read();
    let peak = PeakAlloc.peak_usage().saturating_sub(before);
    let most = bound.per_byte.saturating_mul(length).saturating_add(bound.spare);
    assert!(
        peak <= most,
        "reading {length} bytes took {peak} bytes of memory, more than {most}"
    );
    result
}

/// Whether this binary counts its memory, which requires [`PeakAlloc`] as global allocator.
#[must_use]
pub fn is_counted() -> bool {
    PeakAlloc.current_usage() > 0
}
