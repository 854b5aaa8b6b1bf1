//! Arrow arrays built from bytes, in the C data interface: mostly sound, with buffers of any content and some lies.
//!
//! The first byte is the number of rows, then come the types of the columns up to a line end, then data. Only what the
//! interface cannot express is never wrong: buffers are as long as lengths and offsets claim.

use std::ffi::{CString, c_int, c_void};
use std::ptr::{null, null_mut};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};

use super::c_data::{RawArray, RawSchema, RawStream};

/// Bytes to take from; zeros when they are used up.
pub(super) struct Input<'a>(pub(super) &'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }
}

/// A type, and the types of its parts.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    letter: u8,
    parts: Vec<Kind>,
}

const MOST_COLUMNS: usize = 3;

/// The columns that the first line names. A letter is a type; those of nested types come before those of their parts.
pub(super) fn columns(input: &mut Input<'_>) -> Vec<Kind> {
    let mut columns = Vec::new();
    while columns.len() < MOST_COLUMNS {
        match input.byte() {
            0 | b'\n' => break,
            letter => columns.push(kind(letter, input, 0)),
        }
    }
    if columns.len() == MOST_COLUMNS {
        input.byte();
    }
    columns
}

fn kind(letter: u8, input: &mut Input<'_>, depth: usize) -> Kind {
    let text = || Kind {
        letter: b'u',
        parts: Vec::new(),
    };
    let part = |input: &mut Input<'_>| match input.byte() {
        _ if depth > 6 => text(),
        0 | b'\n' => text(),
        letter => kind(letter, input, depth + 1),
    };
    let parts = match letter {
        b's' | b'L' | b'G' | b'V' | b'w' => vec![part(input)],
        b'm' => vec![text(), part(input)],
        b'k' => vec![part(input)],
        b'r' => vec![
            Kind {
                letter: b'i',
                parts: Vec::new(),
            },
            part(input),
        ],
        b'N' => {
            // A type within so many structs.
            let levels = usize::from(input.byte());
            let inner = text();
            return (0..levels).fold(inner, |inner, _| Kind {
                letter: b's',
                parts: vec![inner],
            });
        }
        _ => Vec::new(),
    };
    Kind { letter, parts }
}

/// Everything that an array or a schema points to; dropped when it is released.
#[derive(Default)]
#[expect(
    clippy::vec_box,
    reason = "pointers to the boxes must hold while the vectors grow"
)]
struct Arena {
    buffers: Vec<Vec<u128>>,
    pointers: Vec<Vec<*const c_void>>,
    arrays: Vec<Box<RawArray>>,
    children: Vec<Vec<*mut RawArray>>,
    schemas: Vec<Box<RawSchema>>,
    schema_children: Vec<Vec<*mut RawSchema>>,
    texts: Vec<CString>,
}

impl Arena {
    /// A buffer with some room behind it, aligned.
    fn buffer(&mut self, bytes: &[u8]) -> *const c_void {
        let mut words = vec![0u128; bytes.len() / 16 + 8];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks(16)) {
            let mut filled = [0; 16];
            filled[..chunk.len()].copy_from_slice(chunk);
            *word = u128::from_le_bytes(filled);
        }
        let pointer = words.as_ptr().cast();
        self.buffers.push(words);
        pointer
    }

    fn text(&mut self, bytes: &[u8]) -> *const std::ffi::c_char {
        let text = CString::new(
            bytes
                .iter()
                .copied()
                .filter(|byte| *byte != 0)
                .collect::<Vec<_>>(),
        );
        let text = text.expect("no zero byte is left");
        let pointer = text.as_ptr();
        self.texts.push(text);
        pointer
    }
}

unsafe extern "C" fn release_array(array: *mut RawArray) {
    // SAFETY: the private data of the outermost array are its arena; inner ones have none.
    unsafe {
        if !(*array).private_data.is_null() {
            drop(Box::from_raw((*array).private_data.cast::<Arena>()));
        }
        (*array).release = None;
    }
}

unsafe extern "C" fn release_schema(schema: *mut RawSchema) {
    // SAFETY: as above.
    unsafe {
        if !(*schema).private_data.is_null() {
            drop(Box::from_raw((*schema).private_data.cast::<Arena>()));
        }
        (*schema).release = None;
    }
}

/// The schema of columns; where a byte asks for a lie, it has one.
pub(super) fn schema(columns: &[Kind], lie: u8) -> FFI_ArrowSchema {
    let mut arena = Arena::default();
    let columns: Vec<_> = columns
        .iter()
        .enumerate()
        .map(|(index, kind)| (format!("c{index}"), kind))
        .collect();
    let parts: Vec<_> = columns
        .iter()
        .map(|(name, kind)| (name.as_str(), *kind))
        .collect();
    let parts = parts
        .into_iter()
        .map(|(name, kind)| describe(&mut arena, kind, name, lie))
        .collect();
    let mut root = one_schema(&mut arena, b"+s", b"", parts);
    root.private_data = Box::into_raw(Box::new(arena)).cast();
    // SAFETY: both are the interface's structure, and `root` is not used again.
    unsafe { std::mem::transmute::<RawSchema, FFI_ArrowSchema>(root) }
}

fn describe(arena: &mut Arena, kind: &Kind, name: &str, lie: u8) -> RawSchema {
    let named: &[&str] = match kind.letter {
        b's' => &["f"],
        b'm' => &["key", "value"],
        b'r' => &["run_ends", "values"],
        b'k' => &[],
        _ => &["item"],
    };
    let parts: Vec<RawSchema> = named
        .iter()
        .zip(&kind.parts)
        .map(|(name, part)| describe(arena, part, name, lie))
        .collect();
    let parts = match kind.letter {
        b'm' => vec![one_schema(arena, b"+s", b"entries", parts)],
        _ => parts,
    };
    let format: &[u8] = match kind.letter {
        b'l' => b"l",
        b'i' => b"i",
        b'b' => b"b",
        b'U' => b"U",
        b'v' => b"vu",
        b'z' => b"z",
        b'Z' => b"Z",
        b'y' => b"vz",
        b'3' => b"d:5,2,32",
        b'6' => b"d:5,2,64",
        b'd' => b"d:5,2",
        b'D' => b"d:5,2,256",
        b'F' => b"w:3",
        b'f' => b"g",
        b't' => b"tsu:UTC",
        b'a' => b"tdD",
        b'n' => b"n",
        b'k' => b"c",
        b'r' => b"+r",
        b's' => b"+s",
        b'L' => b"+l",
        b'G' => b"+L",
        b'V' => b"+vl",
        b'w' => b"+w:2",
        b'm' => b"+m",
        _ => b"u",
    };
    let mut schema = one_schema(arena, format, name.as_bytes(), parts);
    if matches!(name, "key" | "run_ends") || lie == 1 {
        // Run ends and keys are without NULLs.
        schema.flags = 0;
    }
    if kind.letter == b'k' {
        let values = kind
            .parts
            .first()
            .map(|part| describe(arena, part, "values", lie));
        schema.dictionary = keep_schema(arena, values.expect("a dictionary has values"));
    }
    match lie {
        2 => schema.format = arena.text(b"\xff"),
        3 => schema.format = null(),
        4 => schema.name = arena.text(b"caf\xe9"),
        5 => schema.n_children = -1,
        6 => schema.n_children += 1,
        7 => schema.children = null_mut(),
        8 => schema.format = arena.text(b"+l"),
        9 => schema.format = arena.text(b"d:200,2"),
        10 => schema.format = arena.text(b"w:-1"),
        11 => schema.format = arena.text(b"+w:-1"),
        12 => schema.format = arena.text(b"+us:0"),
        13 => schema.format = arena.text(b"+m"),
        _ => {}
    }
    schema
}

fn keep_schema(arena: &mut Arena, schema: RawSchema) -> *mut RawSchema {
    let mut kept = Box::new(schema);
    let pointer = &raw mut *kept;
    arena.schemas.push(kept);
    pointer
}

fn one_schema(arena: &mut Arena, format: &[u8], name: &[u8], parts: Vec<RawSchema>) -> RawSchema {
    let mut children: Vec<_> = parts.into_iter().map(|part| keep_schema(arena, part)).collect();
    let count = children.len();
    // A lie may claim one more.
    children.push(null_mut());
    let schema = RawSchema {
        format: arena.text(format),
        name: arena.text(name),
        metadata: null(),
        flags: if name == b"entries" { 0 } else { 2 },
        n_children: i64::try_from(count).unwrap_or(0),
        children: children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_schema),
        private_data: null_mut(),
    };
    arena.schema_children.push(children);
    schema
}

/// An array of rows of the columns.
pub(super) fn array(columns: &[Kind], rows: usize, input: &mut Input<'_>) -> FFI_ArrowArray {
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
    // SAFETY: both are the interface's structure, and `root` is not used again.
    unsafe { std::mem::transmute::<RawArray, FFI_ArrowArray>(root) }
}

fn keep_array(arena: &mut Arena, array: RawArray) -> *mut RawArray {
    let mut kept = Box::new(array);
    let pointer = &raw mut *kept;
    arena.arrays.push(kept);
    pointer
}

fn one_array(
    arena: &mut Arena,
    rows: usize,
    offset: usize,
    buffers: &[*const c_void],
    parts: Vec<RawArray>,
) -> RawArray {
    let mut children: Vec<_> = parts.into_iter().map(|part| keep_array(arena, part)).collect();
    let mut pointers = buffers.to_vec();
    // A lie may claim one more.
    pointers.push(null());
    let array = RawArray {
        length: i64::try_from(rows).unwrap_or(0),
        null_count: 0,
        offset: i64::try_from(offset).unwrap_or(0),
        n_buffers: i64::try_from(buffers.len()).unwrap_or(0),
        n_children: i64::try_from(children.len()).unwrap_or(0),
        buffers: pointers.as_mut_ptr(),
        children: null_mut(),
        dictionary: null_mut(),
        release: Some(release_array),
        private_data: null_mut(),
    };
    children.push(null_mut());
    let array = RawArray {
        children: children.as_mut_ptr(),
        ..array
    };
    arena.pointers.push(pointers);
    arena.children.push(children);
    array
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
                // Run ends and small decimals matter more than large numbers do.
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
        lie_about(&mut array, lie);
    }
    array
}

fn lie_about(array: &mut RawArray, lie: u8) {
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
            // SAFETY: there are so many buffers.
            unsafe { *array.buffers.add(1) = null() };
        }
        _ if array.n_buffers > 1 => {
            // SAFETY: as above; each has room behind it.
            unsafe { *array.buffers.add(1) = (*array.buffers.add(1)).cast::<u8>().wrapping_add(1).cast() };
        }
        _ => {}
    }
}

/// Offsets of so many bytes each, which mostly rise, and the length that the last one claims.
fn rising<const WIDTH: usize>(slots: usize, input: &mut Input<'_>) -> (Vec<u8>, usize) {
    let (mut offset, mut bytes) = (0i64, Vec::new());
    let mut most = 0;
    for slot in 0..=slots {
        let step = input.byte();
        let by = i64::from(step % 8);
        if slot > 0 {
            offset += if step < 0xF0 { by } else { -by };
        }
        most = most.max(offset);
        bytes.extend(offset.to_le_bytes().into_iter().take(WIDTH));
    }
    let _ = most;
    (bytes, usize::try_from(offset).unwrap_or(0))
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

fn views(
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

/// A stream of arrays under a schema.
pub(super) struct Given {
    pub(super) schema: Option<FFI_ArrowSchema>,
    pub(super) arrays: Vec<FFI_ArrowArray>,
}

impl Given {
    /// The stream in the interface's structure.
    pub(super) fn into_raw(self) -> RawStream {
        RawStream {
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: None,
            release: Some(release_stream),
            private_data: Box::into_raw(Box::new(self)).cast(),
        }
    }
}

unsafe extern "C" fn get_schema(stream: *mut RawStream, schema: *mut FFI_ArrowSchema) -> c_int {
    // SAFETY: the private data are what `into_raw` put there.
    let given = unsafe { &mut *(*stream).private_data.cast::<Given>() };
    match given.schema.take() {
        // SAFETY: the caller gives room for it.
        Some(taken) => unsafe { schema.write(taken) },
        None => return 5,
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut RawStream, array: *mut FFI_ArrowArray) -> c_int {
    // SAFETY: as above.
    let given = unsafe { &mut *(*stream).private_data.cast::<Given>() };
    let next = match given.arrays.is_empty() {
        true => FFI_ArrowArray::empty(),
        false => given.arrays.remove(0),
    };
    // SAFETY: the caller gives room for it.
    unsafe { array.write(next) };
    0
}

unsafe extern "C" fn release_stream(stream: *mut RawStream) {
    // SAFETY: as above; it is released once.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Given>()));
        (*stream).release = None;
    }
}
