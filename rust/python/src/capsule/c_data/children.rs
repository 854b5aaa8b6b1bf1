//! The children of an exported schema or array.

use deltaic_table::write::Checked;

use super::violation::violation;

/// The maximum number of columns and fields of a schema, including nested ones.
pub(super) const MAX_FIELDS: usize = 1 << 20;

/// Returns the children of a schema or an array; rejects null pointers.
///
/// # Safety
///
/// `first` is null or points to `count` pointers, each of which is null or points to a live structure.
pub(super) unsafe fn children<'a, T>(first: *mut *mut T, count: i64) -> Checked<Vec<&'a T>> {
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
