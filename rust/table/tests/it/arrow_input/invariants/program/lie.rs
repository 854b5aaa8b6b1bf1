//! Invalid structures of arrays.

use std::ptr::{null, null_mut};

use super::super::c_data::structures::RawArray;
use super::arena::Arena;

pub(super) fn lie_about(arena: &mut Arena, array: &mut RawArray, lie: u8) {
    match lie {
        0 => array.length = -1,
        1 => array.length = i64::MAX,
        2 => array.length -= 1,
        3 => array.offset = -1,
        4 => array.offset = i64::MAX,
        5 => array.null_count = array.length + 1,
        6 => array.null_count += 1,
        7 => array.n_buffers -= 1,
        8 => array.n_buffers += 1,
        9 => array.n_children -= 1,
        10 => array.n_children += 1,
        11 => array.buffers = null_mut(),
        12 => array.children = null_mut(),
        13 => array.dictionary = null_mut(),
        14 if array.n_buffers > 1 => {
            // SAFETY: the array has at least two buffers.
            unsafe { *array.buffers.add(1) = null() };
        }
        _ if array.n_buffers > 1 => {
            // SAFETY: as above.
            unsafe { *array.buffers.add(1) = arena.unaligned(*array.buffers.add(1)) };
        }
        _ => {}
    }
}
