//! The memory of exported structures.

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

use super::super::c_data::structures::{RawArray, RawSchema};

/// Everything that an array or a schema points to; dropped when it is released.
#[derive(Default)]
#[expect(
    clippy::vec_box,
    reason = "pointers to the boxes must hold while the vectors grow"
)]
pub(super) struct Arena {
    buffers: Vec<Vec<u128>>,
    pointers: Vec<Vec<*const c_void>>,
    arrays: Vec<Box<RawArray>>,
    children: Vec<Vec<*mut RawArray>>,
    schemas: Vec<Box<RawSchema>>,
    schema_children: Vec<Vec<*mut RawSchema>>,
    texts: Vec<CString>,
}

impl Arena {
    /// An aligned buffer with spare space at its end.
    pub(super) fn buffer(&mut self, bytes: &[u8]) -> *const c_void {
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

    /// The same bytes at an unaligned address.
    pub(super) fn unaligned(&mut self, pointer: *const c_void) -> *const c_void {
        let words = self.buffers.iter().find(|words| words.as_ptr().cast() == pointer);
        let Some(words) = words else { return pointer };
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        let moved: Vec<u8> = std::iter::once(0).chain(bytes).collect();
        self.buffer(&moved).wrapping_byte_add(1)
    }

    pub(super) fn text(&mut self, bytes: &[u8]) -> *const std::ffi::c_char {
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
    // SAFETY: the private data of the outermost array is its arena; inner ones have none.
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

pub(super) fn keep_schema(arena: &mut Arena, schema: RawSchema) -> *mut RawSchema {
    let mut kept = Box::new(schema);
    let pointer = &raw mut *kept;
    arena.schemas.push(kept);
    pointer
}

pub(super) fn one_schema(arena: &mut Arena, format: &[u8], name: &[u8], parts: Vec<RawSchema>) -> RawSchema {
    let mut children: Vec<_> = parts.into_iter().map(|part| keep_schema(arena, part)).collect();
    let count = children.len();
    // Invalid structures may claim one more.
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

pub(super) fn keep_array(arena: &mut Arena, array: RawArray) -> *mut RawArray {
    let mut kept = Box::new(array);
    let pointer = &raw mut *kept;
    arena.arrays.push(kept);
    pointer
}

pub(super) fn one_array(
    arena: &mut Arena,
    rows: usize,
    offset: usize,
    buffers: &[*const c_void],
    parts: Vec<RawArray>,
) -> RawArray {
    let mut children: Vec<_> = parts.into_iter().map(|part| keep_array(arena, part)).collect();
    let mut pointers = buffers.to_vec();
    // Invalid structures may claim one more.
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
