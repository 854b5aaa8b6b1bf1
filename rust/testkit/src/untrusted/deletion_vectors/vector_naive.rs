//! The naive decoder of the tests of the protocol crate, which shares no code with the one under test.

#[path = "../../../../protocol/src/deletion_vector/tests/naive.rs"]
mod naive;

use std::ops::RangeInclusive;

/// The positions of a deletion vector in ascending order; `None` if the bytes are invalid.
pub(super) fn ranges(bytes: &[u8]) -> Option<Vec<RangeInclusive<u64>>> {
    naive::ranges(bytes)
}
