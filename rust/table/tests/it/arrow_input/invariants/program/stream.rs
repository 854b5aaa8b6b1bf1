//! A stream of arrays under a schema.

use std::ffi::c_int;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};

use super::super::c_data::structures::RawStream;

/// A stream of arrays under a schema.
pub(in super::super) struct Exported {
    pub(in super::super) schema: Option<FFI_ArrowSchema>,
    pub(in super::super) arrays: Vec<FFI_ArrowArray>,
}

impl Exported {
    /// The stream in the interface's structure.
    pub(in super::super) fn into_raw(self) -> RawStream {
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
    // SAFETY: the private data is what `into_raw` put there.
    let exported = unsafe { &mut *(*stream).private_data.cast::<Exported>() };
    match exported.schema.take() {
        // SAFETY: the caller provides memory for it.
        Some(taken) => unsafe { schema.write(taken) },
        None => return 5,
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut RawStream, array: *mut FFI_ArrowArray) -> c_int {
    // SAFETY: as above.
    let exported = unsafe { &mut *(*stream).private_data.cast::<Exported>() };
    let next = match exported.arrays.is_empty() {
        true => FFI_ArrowArray::empty(),
        false => exported.arrays.remove(0),
    };
    // SAFETY: the caller provides memory for it.
    unsafe { array.write(next) };
    0
}

unsafe extern "C" fn release_stream(stream: *mut RawStream) {
    // SAFETY: as above; it is released once.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Exported>()));
        (*stream).release = None;
    }
}
