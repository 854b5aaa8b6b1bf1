//! Imports a stream of arrays that a producer exported.

use std::ffi::{CStr, c_int};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::Field;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::schema::field;
use super::structures::RawStream;
use super::violation::violation;

/// A stream that has not been released.
pub(crate) struct Stream(FFI_ArrowArrayStream);

impl Stream {
    /// Moves a stream out of its structure; `None` if it was already released.
    ///
    /// # Safety
    ///
    /// The pointer points to a structure of the C stream interface.
    pub(crate) unsafe fn take(stream: *mut FFI_ArrowArrayStream) -> Option<Self> {
        // SAFETY: guaranteed by the caller; both types are the interface's structure.
        let is_released = unsafe { (*stream.cast::<RawStream>()).release.is_none() };
        // SAFETY: guaranteed by the caller.
        (!is_released).then(|| Self(unsafe { FFI_ArrowArrayStream::from_raw(stream) }))
    }

    fn raw(&mut self) -> *mut RawStream {
        (&raw mut self.0).cast()
    }

    /// Returns the type of the stream's arrays.
    pub(crate) fn schema(&mut self) -> Result<Field> {
        let stream = self.raw();
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the stream is not released, and the producer fills the structure.
        let code = match unsafe { (*stream).get_schema } {
            Some(get_schema) => unsafe { get_schema(stream, &raw mut schema) },
            None => return Err(without("get_schema")),
        };
        match code {
            0 => field(&schema),
            code => Err(self.failure(code)),
        }
    }

    /// Returns the next array, unchecked; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<FFI_ArrowArray>> {
        let stream = self.raw();
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream is not released, and the producer fills the structure.
        let code = match unsafe { (*stream).get_next } {
            Some(get_next) => unsafe { get_next(stream, &raw mut array) },
            None => return Err(without("get_next")),
        };
        match code {
            0 => Ok((!array.is_released()).then_some(array)),
            code => Err(self.failure(code)),
        }
    }

    fn failure(&mut self, code: c_int) -> Error {
        let stream = self.raw();
        // SAFETY: the stream is not released; the text is valid until the next call.
        let text = unsafe {
            let text = (*stream).get_last_error.map(|last_error| last_error(stream));
            text.filter(|text| !text.is_null())
                .map(|text| CStr::from_ptr(text).to_string_lossy().into_owned())
        };
        let text = text.unwrap_or_else(|| format!("error code {code}, without a message"));
        Error::new(
            ErrorKind::InvalidArgument,
            format!("the producer of the data failed: {text}"),
        )
    }
}

fn without(function: &str) -> Error {
    violation(format!("the stream has no {function}")).into_error(0)
}
