//! Arrow's C data interface: validates the counts, lengths, pointers and names that a producer exports.
//!
//! arrow-rs's `from_ffi` panics on a wrong count, and reads out of bounds if a length or an alignment is wrong. No
//! check can detect a buffer that is shorter than its array claims, because the interface does not transmit buffer
//! lengths.

mod array;
mod children;
mod schema;
mod stream;
pub(crate) mod structures;
mod violation;

pub(crate) use array::import;
pub(crate) use schema::field;
pub(crate) use stream::Stream;
