//! Typed views of an array's buffers, with checked length and alignment.

use arrow_array::OffsetSizeTrait;
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use arrow_data::ArrayData;

use super::fault::{Checked, Fault, fault};

/// Returns a width or a list size, which Arrow declares as a signed number.
pub(super) fn fixed_size(size: i32) -> Checked<usize> {
    usize::try_from(size).or_else(|_| fault("the size of its type is negative"))
}

/// Checks that a buffer has `width` bytes for each row.
pub(super) fn ensure_holds(data: &ArrayData, index: usize, width: usize) -> Checked {
    let rows = data.offset().checked_add(data.len());
    let bytes = rows.and_then(|rows| rows.checked_mul(width));
    match (bytes, data.buffers().get(index)) {
        (Some(bytes), Some(buffer)) if bytes <= buffer.len() => Ok(()),
        _ => fault("a buffer is shorter than the array's length requires"),
    }
}

/// Checks that a bitmap has a bit for each row.
pub(super) fn bits(data: &ArrayData) -> Checked {
    let rows = data.offset().checked_add(data.len());
    match (rows, data.buffers().first()) {
        (Some(rows), Some(buffer)) if rows.div_ceil(8) <= buffer.len() => Ok(()),
        _ => fault("a buffer is shorter than the array's length requires"),
    }
}

/// Returns `count` values of a buffer, starting at the array's offset.
pub(super) fn typed<T: ArrowNativeType>(
    data: &ArrayData,
    index: usize,
    count: usize,
) -> Checked<ScalarBuffer<T>> {
    let end = data.offset().checked_add(count);
    let bytes = end.and_then(|end| end.checked_mul(size_of::<T>()));
    match (bytes, data.buffers().get(index)) {
        (Some(bytes), Some(buffer)) if bytes <= buffer.len() => {
            if buffer.as_ptr().align_offset(align_of::<T>()) != 0 {
                return fault("a buffer is not aligned");
            }
            Ok(ScalarBuffer::new(buffer.clone(), data.offset(), count))
        }
        _ => fault("a buffer is shorter than the array's length requires"),
    }
}

/// Returns the offsets of an array: ascending, from 0 or more to at most `limit`. An empty array may have none.
pub(super) fn offsets<O: OffsetSizeTrait>(data: &ArrayData, limit: usize) -> Checked<ScalarBuffer<O>> {
    if data.is_empty() && data.buffers().first().is_some_and(|buffer| buffer.is_empty()) {
        return Ok(ScalarBuffer::from(vec![O::default()]));
    }
    let offsets = typed::<O>(data, 0, data.len().saturating_add(1))?;
    let in_row = |row: usize, what: &str| Err(Fault::new(what).in_row(row));
    if offsets.first().is_some_and(|first| *first < O::default()) {
        return in_row(0, "an offset is negative");
    }
    // Without a branch per row, this is much faster.
    let rises = |pair: &[O]| matches!(pair, [start, end] if start <= end);
    if !offsets.windows(2).fold(true, |all, pair| all & rises(pair)) {
        let row = offsets.windows(2).position(|pair| !rises(pair));
        return in_row(row.unwrap_or(0), "an offset is smaller than the one before it");
    }
    if offsets.last().is_some_and(|last| last.as_usize() > limit) {
        let row = offsets.partition_point(|offset| offset.as_usize() <= limit);
        return in_row(
            row.saturating_sub(1),
            "an offset exceeds the length of the values",
        );
    }
    Ok(offsets)
}
