//! The structures of Arrow's C data and C stream interfaces.

use std::ffi::{c_char, c_int, c_void};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};

/// `struct ArrowSchema`.
#[repr(C)]
pub(crate) struct RawSchema {
    pub(crate) format: *const c_char,
    pub(crate) name: *const c_char,
    pub(crate) metadata: *const c_char,
    pub(crate) flags: i64,
    pub(crate) n_children: i64,
    pub(crate) children: *mut *mut RawSchema,
    pub(crate) dictionary: *mut RawSchema,
    pub(crate) release: Option<unsafe extern "C" fn(*mut RawSchema)>,
    pub(crate) private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
pub(crate) struct RawArray {
    pub(crate) length: i64,
    pub(crate) null_count: i64,
    pub(crate) offset: i64,
    pub(crate) n_buffers: i64,
    pub(crate) n_children: i64,
    pub(crate) buffers: *mut *const c_void,
    pub(crate) children: *mut *mut RawArray,
    pub(crate) dictionary: *mut RawArray,
    pub(crate) release: Option<unsafe extern "C" fn(*mut RawArray)>,
    pub(crate) private_data: *mut c_void,
}

/// `struct ArrowArrayStream`.
#[repr(C)]
pub(crate) struct RawStream {
    pub(crate) get_schema: Option<unsafe extern "C" fn(*mut RawStream, *mut FFI_ArrowSchema) -> c_int>,
    pub(crate) get_next: Option<unsafe extern "C" fn(*mut RawStream, *mut FFI_ArrowArray) -> c_int>,
    pub(crate) get_last_error: Option<unsafe extern "C" fn(*mut RawStream) -> *const c_char>,
    pub(crate) release: Option<unsafe extern "C" fn(*mut RawStream)>,
    pub(crate) private_data: *mut c_void,
}
