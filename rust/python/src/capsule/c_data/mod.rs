//! Arrow's C data interface: validates the counts, lengths, pointers and names that a producer exports.
//!
//! arrow-rs's `from_ffi` panics on a wrong count, and reads out of bounds if a length or an alignment is wrong. No
//! check can detect a buffer that is shorter than its array claims, because the interface does not transmit buffer
//! lengths.

mod array;
mod schema;
mod stream;
pub(crate) mod structures;

use deltaic_table::write::{Checked, Fault};

pub(crate) use array::import;
pub(crate) use schema::field;
pub(crate) use stream::Stream;

/// The maximum number of columns and fields of a schema, including nested ones.
const MAX_FIELDS: usize = 1 << 20;

/// A violation of the interface itself, as opposed to an invalid value.
fn violation(what: impl Into<String>) -> Fault {
    Fault::new(what).hint(
        "nothing was written; the library that exported the data violates the Arrow C data interface: \
         report it there, and convert the data with another library, such as pyarrow, until it is fixed",
    )
}

/// Returns the children of a schema or an array; rejects null pointers.
///
/// # Safety
///
/// `first` is null or points to `count` pointers, each of which is null or points to a live structure.
unsafe fn children<'a, T>(first: *mut *mut T, count: i64) -> Checked<Vec<&'a T>> {
    let count = usize::try_from(count).ok().filter(|count| *count <= MAX_FIELDS);
    let pointers: &[*mut T] = match count {
        Some(0) => &[],
        // SAFETY: guaranteed by the caller.
        Some(count) if !first.is_null() => unsafe { std::slice::from_raw_parts(first, count) },
        Some(_) => return Err(violation("the pointer to its children is null")),
        None => return Err(violation("the number of children is out of range")),
    };
    // SAFETY: guaranteed by the caller.
    let children = pointers.iter().map(|child| unsafe { child.as_ref() });
    let children: Option<_> = children.collect();
    children.ok_or_else(|| violation("the pointer to one of its children is null"))
}
