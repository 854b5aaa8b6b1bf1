//! How much memory reading may take: in proportion to what is read, whatever the bytes claim.

use peak_alloc::PeakAlloc;

/// A bound on the memory that one reading holds at its peak.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// Bytes for each byte that is read.
    pub(super) per_byte: usize,
    /// Bytes in any case.
    pub(super) spare: usize,
}

/// Reads `length` bytes by `read`, and proves that the bound holds. Binaries that do not count memory prove nothing:
/// see [`is_counted`].
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

/// Whether this binary counts its memory, as it does with [`PeakAlloc`] for its global allocator.
#[must_use]
pub fn is_counted() -> bool {
    let before = PeakAlloc.current_usage();
    let held = std::hint::black_box(vec![0u8; 1 << 20]);
    PeakAlloc.current_usage() >= before.saturating_add(held.len() / 2)
}
