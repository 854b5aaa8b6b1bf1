//! Validation of a Parquet offset index before the reader allocates memory for it.

use crate::thrift::{Compact, LISTS, STRUCT};

/// Whether the index lists no more pages than its bytes can encode. Each takes more than one byte.
///
/// ```
/// use deltaic_storage::offset_index::is_bounded;
///
/// // Field 1, a list of one struct, which has no fields.
/// assert!(is_bounded(&[0x19, 0x1c, 0x00, 0x00]));
/// // The same list, of 268,435,455.
/// assert!(!is_bounded(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0x7f, 0x00]));
/// ```
#[must_use]
pub fn is_bounded(index: &[u8]) -> bool {
    let mut bytes = Compact { rest: index };
    let Some(Some((_, kind))) = bytes.field(0) else {
        return false;
    };
    if !LISTS.contains(&kind) {
        return false;
    }
    match bytes.list() {
        Some((length, STRUCT)) => usize::try_from(length).is_ok_and(|length| length <= bytes.rest.len()),
        _ => false,
    }
}
