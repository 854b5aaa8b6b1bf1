//! Arrays of the columns, with arbitrary buffer contents.

use std::ptr::null;

use arrow_array::ffi::FFI_ArrowArray;

use super::super::c_data::structures::RawArray;
use super::arena::{Arena, keep_array, one_array};
use super::buffers::{rising, views};
use super::lie::lie_about;
use super::{Input, Kind};

/// An array with rows of the columns.
pub(in super::super) fn array(columns: &[Kind], rows: usize, input: &mut Input<'_>) -> FFI_ArrowArray {
    let mut arena = Arena::default();
    let parts = columns
        .iter()
        .map(|kind| build(&mut arena, kind, rows, input))
        .collect();
    let mut root = one_array(&mut arena, rows, 0, &[null()], parts);
    if input.byte() == 0xFF {
        root.length += 1;
    }
    root.private_data = Box::into_raw(Box::new(arena)).cast();
    // SAFETY: both types are the interface's structure, and `root` is not used again.
    unsafe { std::mem::transmute::<RawArray, FFI_ArrowArray>(root) }
}

fn build(arena: &mut Arena, kind: &Kind, rows: usize, input: &mut Input<'_>) -> RawArray {
    let flags = input.byte();
    let lie = (flags >= 0xF0).then_some(flags & 0xF);
    let offset = usize::from(flags >> 1 & 3);
    let slots = rows + offset;
    let mut nulls = None;
    let bitmap = match (flags & 1, kind.letter) {
        (0, _) | (_, b'n' | b'r') => null(),
        _ => {
            let bits = input.bytes(slots.div_ceil(8));
            let set = |slot: usize| bits[slot / 8] >> (slot % 8) & 1 == 1;
            nulls = Some((offset..slots).filter(|slot| !set(*slot)).count());
            arena.buffer(&bits)
        }
    };
    let mut dictionary = None;
    let (buffers, parts) = match kind.letter {
        b'n' => (vec![], vec![]),
        b's' => (vec![bitmap], vec![build(arena, &kind.parts[0], slots, input)]),
        b'w' => (vec![bitmap], vec![build(arena, &kind.parts[0], slots * 2, input)]),
        b'r' => {
            let runs = usize::from(input.byte() % 4);
            let ends = build(arena, &kind.parts[0], runs, input);
            (vec![], vec![ends, build(arena, &kind.parts[1], runs, input)])
        }
        b'L' | b'm' => {
            let (offsets, last) = rising::<4>(slots, input);
            let parts = list_parts(arena, kind, last, input);
            (vec![bitmap, arena.buffer(&offsets)], parts)
        }
        b'G' => {
            let (offsets, last) = rising::<8>(slots, input);
            let parts = list_parts(arena, kind, last, input);
            (vec![bitmap, arena.buffer(&offsets)], parts)
        }
        b'V' => {
            let small = |byte: u8| i32::from(byte.cast_signed() % 8).to_le_bytes();
            let [starts, sizes] =
                [(); 2].map(|()| input.bytes(slots).into_iter().flat_map(small).collect::<Vec<_>>());
            let parts = list_parts(arena, kind, 8, input);
            (vec![bitmap, arena.buffer(&starts), arena.buffer(&sizes)], parts)
        }
        b'U' | b'Z' => {
            let (offsets, last) = rising::<8>(slots, input);
            let values = input.bytes(last);
            (
                vec![bitmap, arena.buffer(&offsets), arena.buffer(&values)],
                vec![],
            )
        }
        b'v' | b'y' => (views(arena, bitmap, slots, input), vec![]),
        b'k' => {
            dictionary = Some(build(arena, &kind.parts[0], 4, input));
            let keys = input.bytes(slots);
            (vec![bitmap, arena.buffer(&keys)], vec![])
        }
        letter => {
            let width = match letter {
                b'b' => None,
                b'l' | b'f' | b't' | b'6' => Some(8),
                b'i' | b'a' | b'3' => Some(4),
                b'd' => Some(16),
                b'D' => Some(32),
                b'F' => Some(3),
                _ => Some(0),
            };
            match width {
                Some(0) => {
                    let (offsets, last) = rising::<4>(slots, input);
                    let values = input.bytes(last);
                    (
                        vec![bitmap, arena.buffer(&offsets), arena.buffer(&values)],
                        vec![],
                    )
                }
                // Run ends and small decimals matter more than large numbers.
                Some(width) => {
                    let number = |input: &mut Input<'_>| match input.byte() {
                        byte @ 0..0xE0 => {
                            let mut number = vec![0; width];
                            number[0] = byte;
                            number
                        }
                        _ => input.bytes(width),
                    };
                    let values: Vec<u8> = (0..slots).flat_map(|_| number(input)).collect();
                    (vec![bitmap, arena.buffer(&values)], vec![])
                }
                None => (
                    vec![bitmap, {
                        let bits = input.bytes(slots.div_ceil(8));
                        arena.buffer(&bits)
                    }],
                    vec![],
                ),
            }
        }
    };
    let mut array = one_array(arena, rows, offset, &buffers, parts);
    array.null_count = match nulls {
        Some(nulls) if flags & 8 == 0 => i64::try_from(nulls).unwrap_or(0),
        _ if flags & 8 == 0 => 0,
        _ => -1,
    };
    if let Some(dictionary) = dictionary {
        array.dictionary = keep_array(arena, dictionary);
    }
    if let Some(lie) = lie {
        lie_about(arena, &mut array, lie);
    }
    array
}

fn list_parts(arena: &mut Arena, kind: &Kind, items: usize, input: &mut Input<'_>) -> Vec<RawArray> {
    // Sometimes one item is missing.
    let items = items.saturating_sub(usize::from(input.byte() == 0xFF));
    let mut parts: Vec<RawArray> = kind
        .parts
        .iter()
        .map(|part| build(arena, part, items, input))
        .collect();
    match kind.letter {
        b'm' => {
            let entries = one_array(arena, items, 0, &[null()], std::mem::take(&mut parts));
            vec![entries]
        }
        _ => parts,
    }
}
