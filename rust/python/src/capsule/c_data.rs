//! Arrow's C data interface, checked before it is trusted: counts, lengths, pointers and names of what a producer hands over.
//!
//! `from_ffi` takes all of these for granted: it panics where a count is wrong and reads memory where a length is. What no
//! check can find is a buffer that is shorter than its array claims, since the interface has no lengths of buffers.

use std::ffi::{CStr, c_char, c_int, c_void};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_buffer::bit_chunk_iterator::UnalignedBitChunk;
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_table::write::{MAX_NESTING, malformed};

/// How many columns and fields a schema may have in all.
const MOST_FIELDS: usize = 1 << 20;

/// How many rows an array may claim: their bytes can be counted in 64 bits, whatever their type.
const MOST_ROWS: u64 = 1 << 48;

/// The interface's structure.
#[repr(C)]
pub(super) struct RawSchema {
    pub(super) format: *const c_char,
    pub(super) name: *const c_char,
    pub(super) metadata: *const c_char,
    pub(super) flags: i64,
    pub(super) n_children: i64,
    pub(super) children: *mut *mut RawSchema,
    pub(super) dictionary: *mut RawSchema,
    pub(super) release: Option<unsafe extern "C" fn(*mut RawSchema)>,
    pub(super) private_data: *mut c_void,
}

/// The interface's structure.
#[repr(C)]
pub(super) struct RawArray {
    pub(super) length: i64,
    pub(super) null_count: i64,
    pub(super) offset: i64,
    pub(super) n_buffers: i64,
    pub(super) n_children: i64,
    pub(super) buffers: *mut *const c_void,
    pub(super) children: *mut *mut RawArray,
    pub(super) dictionary: *mut RawArray,
    pub(super) release: Option<unsafe extern "C" fn(*mut RawArray)>,
    pub(super) private_data: *mut c_void,
}

/// The interface's structure.
#[repr(C)]
pub(super) struct RawStream {
    pub(super) get_schema: Option<unsafe extern "C" fn(*mut RawStream, *mut FFI_ArrowSchema) -> c_int>,
    pub(super) get_next: Option<unsafe extern "C" fn(*mut RawStream, *mut FFI_ArrowArray) -> c_int>,
    pub(super) get_last_error: Option<unsafe extern "C" fn(*mut RawStream) -> *const c_char>,
    pub(super) release: Option<unsafe extern "C" fn(*mut RawStream)>,
    pub(super) private_data: *mut c_void,
}

/// A stream that a producer handed over.
pub(super) struct Stream(FFI_ArrowArrayStream);

impl Stream {
    /// Takes a stream; an empty one stays in its place.
    ///
    /// # Safety
    ///
    /// The pointer points to a stream of the C stream interface.
    pub(super) unsafe fn take(stream: *mut FFI_ArrowArrayStream) -> Option<Self> {
        // SAFETY: the caller's word; both types are the interface's structure.
        let is_released = unsafe { (*stream.cast::<RawStream>()).release.is_none() };
        // SAFETY: the caller's word.
        (!is_released).then(|| Self(unsafe { FFI_ArrowArrayStream::from_raw(stream) }))
    }

    fn raw(&mut self) -> *mut RawStream {
        (&raw mut self.0).cast()
    }

    /// The type of the stream's arrays.
    pub(super) fn schema(&mut self) -> Result<Field> {
        let stream = self.raw();
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the stream is not released, and the producer fills the structure.
        let code = match unsafe { (*stream).get_schema } {
            Some(get_schema) => unsafe { get_schema(stream, &raw mut schema) },
            None => return Err(malformed("", "the stream has no function for its schema")),
        };
        match code {
            0 => field(&schema),
            code => Err(self.failure(code)),
        }
    }

    /// The next array, unchecked within its buffers; none at the end.
    pub(super) fn next(&mut self, data_type: &DataType) -> Result<Option<ArrayData>> {
        let stream = self.raw();
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream is not released, and the producer fills the structure.
        let code = match unsafe { (*stream).get_next } {
            Some(get_next) => unsafe { get_next(stream, &raw mut array) },
            None => return Err(malformed("", "the stream has no function for its arrays")),
        };
        match code {
            0 if array.is_released() => Ok(None),
            0 => import(array, data_type).map(Some),
            code => Err(self.failure(code)),
        }
    }

    fn failure(&mut self, code: c_int) -> Error {
        let stream = self.raw();
        // SAFETY: the stream is not released; the text lives until the next call.
        let text = unsafe {
            let text = (*stream).get_last_error.map(|last_error| last_error(stream));
            text.filter(|text| !text.is_null())
                .map(|text| CStr::from_ptr(text))
        };
        let text = text.map_or_else(
            || format!("its source failed with the code {code}"),
            |text| text.to_string_lossy().into_owned(),
        );
        Error::new(
            ErrorKind::InvalidArgument,
            format!("the data that were to be appended broke off: {text}"),
        )
    }
}

/// The type that a schema describes, with its name.
pub(super) fn field(schema: &FFI_ArrowSchema) -> Result<Field> {
    // SAFETY: both types are the interface's structure.
    let raw = unsafe { &*(&raw const *schema).cast::<RawSchema>() };
    if raw.release.is_none() {
        return Err(malformed("", "its schema was released"));
    }
    let mut fields = 0;
    check_schema(raw, 0, &mut fields)?;
    Field::try_from(schema).map_err(|error| refused(&error))
}

/// An error of Arrow over data that it cannot take.
fn refused(error: &ArrowError) -> Error {
    malformed("", &error.to_string())
}

fn check_schema(schema: &RawSchema, depth: usize, fields: &mut usize) -> Result<()> {
    *fields += 1;
    if depth > MAX_NESTING {
        return Err(malformed(
            "",
            &format!("its schema nests deeper than {MAX_NESTING} levels"),
        ));
    }
    if *fields > MOST_FIELDS {
        return Err(malformed(
            "",
            &format!("its schema has more than {MOST_FIELDS} fields"),
        ));
    }
    let text = |text: *const c_char, what: &str| {
        // SAFETY: the interface's texts end with a zero byte.
        let text = unsafe { CStr::from_ptr(text) };
        text.to_str().map_err(|_| {
            malformed(
                "",
                &format!("the {what} {:?} is not UTF-8", text.to_string_lossy()),
            )
        })
    };
    if schema.format.is_null() {
        return Err(malformed("", "its schema has a field without a type"));
    }
    let format = text(schema.format, "type")?;
    let name = match schema.name.is_null() {
        true => "",
        false => text(schema.name, "name")?,
    };
    let least = match format {
        "+l" | "+L" | "+vl" | "+vL" | "+m" => 1,
        "+r" => 2,
        format if format.starts_with("+w:") => 1,
        _ => 0,
    };
    let within = |error: Error| error.with("field", name);
    // SAFETY: the interface promises so many pointers to structures.
    for child in unsafe { pointers(schema.children, schema.n_children, least) }.map_err(within)? {
        // SAFETY: as above; it is not null.
        check_schema(unsafe { &**child }, depth + 1, fields)?;
    }
    if !schema.dictionary.is_null() {
        // SAFETY: the interface promises a structure.
        check_schema(unsafe { &*schema.dictionary }, depth + 1, fields)?;
    }
    Ok(())
}

/// So many pointers, none of which is null.
///
/// # Safety
///
/// `first` is null or points to so many.
unsafe fn pointers<'a, T>(first: *mut *mut T, count: i64, least: usize) -> Result<&'a [*mut T]> {
    let count = usize::try_from(count)
        .ok()
        .filter(|count| (least..=MOST_FIELDS).contains(count));
    let children: &[*mut T] = match count {
        Some(0) => &[],
        // SAFETY: the caller's word.
        Some(count) if !first.is_null() => unsafe { std::slice::from_raw_parts(first, count) },
        _ => return Err(malformed("", "it has too few parts for its type")),
    };
    match children.iter().any(|child| child.is_null()) {
        true => Err(malformed("", "one of its parts is missing")),
        false => Ok(children),
    }
}

/// An array of a type, whose structure is checked and whose buffers are not.
pub(super) fn import(array: FFI_ArrowArray, data_type: &DataType) -> Result<ArrayData> {
    // SAFETY: both types are the interface's structure.
    check_array(unsafe { &*(&raw const array).cast::<RawArray>() }, data_type)?;
    // SAFETY: counts, pointers and lengths fit the type; that buffers are as long as they claim is the producer's word.
    let data = unsafe { from_ffi_and_data_type(array, data_type.clone()) };
    Ok(with_sound_empty_parts(data.map_err(|error| refused(&error))?))
}

/// The same array with empty buffers in its empty parts: their offsets may point anywhere and must not be read.
fn with_sound_empty_parts(data: ArrayData) -> ArrayData {
    if data.is_empty() && data.offset() == 0 {
        return ArrayData::new_empty(data.data_type());
    }
    if data.child_data().is_empty() {
        return data;
    }
    let parts = data.child_data().iter().cloned().map(with_sound_empty_parts);
    let parts = parts.collect();
    // SAFETY: only parts without rows are replaced, by parts of the same type and length.
    unsafe { data.into_builder().child_data(parts).build_unchecked() }
}

fn check_array(array: &RawArray, data_type: &DataType) -> Result<()> {
    use DataType as D;
    let wrong = |what: &str| Err(malformed("", what));
    let count = |number: i64| u64::try_from(number).ok().filter(|number| *number <= MOST_ROWS);
    let rows = match (count(array.length), count(array.offset)) {
        (Some(length), Some(offset)) => usize::try_from(length + offset).ok(),
        _ => None,
    };
    let Some(rows) = rows else {
        return wrong("it has a length or an offset out of bounds");
    };
    let (own, has_bitmap, buffers) = match data_type {
        D::Null | D::RunEndEncoded(..) => (data_type, false, 0),
        D::Struct(_) | D::FixedSizeList(..) => (data_type, true, 1),
        D::Utf8 | D::Binary | D::LargeUtf8 | D::LargeBinary | D::ListView(_) | D::LargeListView(_) => {
            (data_type, true, 3)
        }
        D::Utf8View | D::BinaryView => (data_type, true, 3),
        D::Union(..) => return wrong("it is a union, which no table holds"),
        D::Dictionary(key, _) => (key.as_ref(), true, 2),
        _ => (data_type, true, 2),
    };
    let is_view = matches!(own, D::Utf8View | D::BinaryView);
    let n_buffers = usize::try_from(array.n_buffers).unwrap_or(usize::MAX);
    if n_buffers > MOST_FIELDS
        || if is_view {
            n_buffers < buffers
        } else {
            n_buffers != buffers
        }
    {
        return wrong("it has another number of buffers than its type");
    }
    let pointers_of_buffers: &[*const c_void] = match n_buffers {
        0 => &[],
        _ if array.buffers.is_null() => return wrong("it has no buffers"),
        // SAFETY: the interface promises so many pointers.
        count => unsafe { std::slice::from_raw_parts(array.buffers, count) },
    };
    let buffer = |index: usize| {
        pointers_of_buffers
            .get(index)
            .copied()
            .filter(|pointer| !pointer.is_null())
    };
    if has_bitmap {
        check_null_count(array, buffer(0), rows)?;
    }
    match own {
        D::Utf8 | D::Binary => check_last_offset::<i32>(buffer(1), rows)?,
        D::LargeUtf8 | D::LargeBinary => check_last_offset::<i64>(buffer(1), rows)?,
        D::Utf8View | D::BinaryView if n_buffers > buffers => {
            check_view_lengths(buffer(n_buffers - 1), n_buffers - buffers)?;
        }
        _ => {}
    }
    check_parts(array, data_type)
}

fn check_parts(array: &RawArray, data_type: &DataType) -> Result<()> {
    use DataType as D;
    let fields: Vec<&Field> = match data_type {
        D::Struct(fields) => fields.iter().map(AsRef::as_ref).collect(),
        D::List(field)
        | D::LargeList(field)
        | D::ListView(field)
        | D::LargeListView(field)
        | D::FixedSizeList(field, _)
        | D::Map(field, _) => vec![field],
        D::RunEndEncoded(ends, values) => vec![ends, values],
        _ => Vec::new(),
    };
    // SAFETY: the interface promises so many pointers to structures.
    let children = unsafe { pointers(array.children, array.n_children, fields.len()) }?;
    if children.len() != fields.len() {
        return Err(malformed("", "it has more parts than its type"));
    }
    for (field, child) in fields.iter().zip(children) {
        let within = |error: Error| error.with("field", field.name().as_str());
        // SAFETY: as above; it is not null.
        check_array(unsafe { &**child }, field.data_type()).map_err(within)?;
    }
    match (data_type, array.dictionary.is_null()) {
        // SAFETY: the interface promises a structure.
        (D::Dictionary(_, values), false) => check_array(unsafe { &*array.dictionary }, values),
        (D::Dictionary(..), true) => Err(malformed("", "its dictionary is missing")),
        (_, false) => Err(malformed("", "it has a dictionary, which its type does not have")),
        (_, true) => Ok(()),
    }
}

/// What is claimed of the NULLs must be what the bitmap says: `from_ffi` goes by the claim.
fn check_null_count(array: &RawArray, bitmap: Option<*const c_void>, rows: usize) -> Result<()> {
    let wrong = Err(malformed(
        "",
        "its number of NULLs is not what its validity bitmap says",
    ));
    match (array.null_count, bitmap) {
        (-1 | 0, None) | (-1, Some(_)) => Ok(()),
        (claimed, Some(bitmap)) => {
            let (Ok(length), Ok(offset)) = (usize::try_from(array.length), usize::try_from(array.offset))
            else {
                return wrong;
            };
            // SAFETY: the producer's word that there is a bit for each row.
            let bits = unsafe { std::slice::from_raw_parts(bitmap.cast::<u8>(), rows.div_ceil(8)) };
            let nulls = length - UnalignedBitChunk::new(bits, offset, length).count_ones();
            match usize::try_from(claimed) == Ok(nulls) {
                true => Ok(()),
                false => wrong,
            }
        }
        (_, None) => wrong,
    }
}

/// `from_ffi` reads the length of the values from the last offset.
fn check_last_offset<O: TryInto<isize>>(offsets: Option<*const c_void>, rows: usize) -> Result<()> {
    if rows == 0 {
        // An empty array may have no offset at all, whatever the pointer is.
        return Ok(());
    }
    let Some(offsets) = offsets else {
        return Err(malformed("", "it has no offsets"));
    };
    let offsets = offsets.cast::<O>();
    if !offsets.is_aligned() {
        return Err(malformed("", "its offsets are not aligned"));
    }
    // SAFETY: the producer's word that there is one offset more than rows; it is aligned.
    let last: std::result::Result<isize, _> = unsafe { offsets.add(rows).read() }.try_into();
    match last {
        Ok(0..) => Ok(()),
        _ => Err(malformed("", "its last offset is negative")),
    }
}

/// The lengths of the buffers of a view array are its last buffer.
fn check_view_lengths(lengths: Option<*const c_void>, count: usize) -> Result<()> {
    let lengths = lengths
        .map(<*const c_void>::cast::<i64>)
        .filter(|lengths| lengths.is_aligned());
    let Some(lengths) = lengths else {
        return Err(malformed("", "the lengths of its buffers are missing"));
    };
    // SAFETY: the producer's word that there is one length for each buffer; it is aligned and not null.
    let lengths = unsafe { std::slice::from_raw_parts(lengths, count) };
    match lengths
        .iter()
        .all(|length| isize::try_from(*length).is_ok_and(|length| length >= 0))
    {
        true => Ok(()),
        false => Err(malformed("", "a length of its buffers is negative")),
    }
}
