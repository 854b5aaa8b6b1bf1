//! Offsets and views, mostly valid.

use std::ffi::c_void;

use super::Input;
use super::arena::Arena;

/// Offsets of this width, mostly ascending, and the length that the last one claims.
pub(super) fn rising<const WIDTH: usize>(slots: usize, input: &mut Input<'_>) -> (Vec<u8>, usize) {
    let (mut offset, mut bytes) = (0i64, Vec::new());
    for slot in 0..=slots {
        let step = input.byte();
        let by = i64::from(step % 8);
        if slot > 0 {
            offset += if step < 0xF0 { by } else { -by };
        }
        bytes.extend(offset.to_le_bytes().into_iter().take(WIDTH));
    }
    (bytes, usize::try_from(offset).unwrap_or(0))
}

pub(super) fn views(
    arena: &mut Arena,
    bitmap: *const c_void,
    slots: usize,
    input: &mut Input<'_>,
) -> Vec<*const c_void> {
    const HELD: usize = 40;
    let held = input.bytes(HELD);
    let mut views = Vec::new();
    for _ in 0..slots {
        let length = usize::from(input.byte() % 48);
        let mut view = vec![u8::try_from(length).unwrap_or(0), 0, 0, 0];
        match length {
            0..=12 => view.extend(input.bytes(length)),
            _ => {
                let (index, start) = (input.byte(), usize::from(input.byte() % 64));
                let prefix: Vec<u8> = (start..start + 4)
                    .map(|at| held.get(at).copied().unwrap_or(0))
                    .collect();
                view.extend(prefix);
                view.extend([if index < 0xE0 { 0 } else { index }, 0, 0, 0]);
                view.extend([u8::try_from(start).unwrap_or(0), 0, 0, 0]);
            }
        }
        view.resize(16, 0);
        if input.byte() == 0xFF {
            view[15] ^= 1;
        }
        views.extend(view);
    }
    let length = match input.byte() {
        0xFF => -1,
        _ => i64::try_from(HELD).unwrap_or(0),
    };
    vec![
        bitmap,
        arena.buffer(&views),
        arena.buffer(&held),
        arena.buffer(&length.to_le_bytes()),
    ]
}
