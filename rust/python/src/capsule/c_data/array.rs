//! Imports arrays of the C data interface.
//!
//! Unlike arrow-rs's `from_ffi`, this copies an unaligned offsets buffer before reading the offsets, and rejects counts
//! that do not match the type.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowArray;
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};
use deltaic_table::write::{Checked, Fault};

use super::children::{MAX_FIELDS, children};
use super::structures::RawArray;
use super::violation::violation;

/// The maximum length of an array, so that no buffer size overflows.
const MAX_ROWS: usize = 1 << 48;

/// Imports an array, assuming that its buffers are as long as its length and offsets claim. Their values are unchecked.
pub(crate) fn import(array: FFI_ArrowArray, data_type: &DataType) -> Checked<ArrayData> {
    let owner = Arc::new(array);
    // SAFETY: both types are the interface's structure.
    let raw = unsafe { &*Arc::as_ptr(&owner).cast::<RawArray>() };
    Part { raw, owner: &owner }.import(data_type)
}

/// An array or one of its children.
struct Part<'a> {
    raw: &'a RawArray,
    /// Keeps the memory of all parts alive.
    owner: &'a Arc<FFI_ArrowArray>,
}

impl Part<'_> {
    fn import(&self, data_type: &DataType) -> Checked<ArrayData> {
        if self.raw.release.is_none() {
            return Err(violation("the array was released before"));
        }
        let in_range = |number: i64| usize::try_from(number).ok().filter(|rows| *rows <= MAX_ROWS);
        let (Some(rows), Some(offset)) = (in_range(self.raw.length), in_range(self.raw.offset)) else {
            return Err(violation("the length or the offset of the array is out of range"));
        };
        let pointers = self.pointers()?;
        let children = self.children(data_type)?;
        let (has_bitmap, least) = expected_buffers(data_type)?;
        match data_type {
            // Types without buffers: some producers export an empty bitmap.
            DataType::Null | DataType::RunEndEncoded(..) => {}
            _ if pointers.len() == least || pointers.len() > least && is_view(data_type) => {}
            _ => {
                let what = format!("the array has {} buffers, its type {least}", pointers.len());
                return Err(violation(what));
            }
        }
        let nulls = match has_bitmap {
            true => self.nulls(pointers, rows, offset)?,
            false => None,
        };
        // Without rows the offsets buffer may be missing, whatever the pointer is.
        if rows == 0 && offset == 0 {
            return Ok(ArrayData::new_empty(data_type));
        }
        let buffers = self.buffers(data_type, pointers, rows + offset)?;
        let data = ArrayData::builder(data_type.clone())
            .len(rows)
            .offset(offset)
            .nulls(nulls)
            .buffers(buffers)
            .child_data(children)
            .align_buffers(true);
        // SAFETY: the buffers are not read before validation, which checks every length.
        let data = unsafe { data.skip_validation(true) }.build();
        data.map_err(|error| Fault::new(error.to_string()))
    }

    /// The pointers to the buffers; the first is the validity bitmap.
    fn pointers(&self) -> Checked<&[*const c_void]> {
        match usize::try_from(self.raw.n_buffers) {
            Ok(0) => Ok(&[]),
            Ok(1..=MAX_FIELDS) if self.raw.buffers.is_null() => {
                Err(violation("the pointer to its buffers is null"))
            }
            // SAFETY: the interface guarantees this number of pointers.
            Ok(count @ 1..=MAX_FIELDS) => Ok(unsafe { std::slice::from_raw_parts(self.raw.buffers, count) }),
            _ => Err(violation("the number of buffers is out of range")),
        }
    }

    /// Returns a buffer of the given size in bytes. An empty buffer may have any pointer.
    fn buffer(&self, pointers: &[*const c_void], index: usize, bytes: usize) -> Checked<Buffer> {
        let pointer = pointers
            .get(index)
            .and_then(|pointer| NonNull::new(pointer.cast_mut()));
        match pointer {
            _ if bytes == 0 => Ok(MutableBuffer::new(0).into()),
            // SAFETY: the producer guarantees that the buffer is as long as its array claims.
            Some(pointer) => Ok(unsafe {
                Buffer::from_custom_allocation(pointer.cast(), bytes, Arc::clone(self.owner) as _)
            }),
            None => Err(violation(format!("the pointer to its buffer {index} is null"))),
        }
    }

    /// Returns the validity bitmap. The producer's null count must match it.
    fn nulls(&self, pointers: &[*const c_void], rows: usize, offset: usize) -> Checked<Option<NullBuffer>> {
        let mismatch = || {
            Fault::new(format!(
                "the null count {} does not match the validity bitmap",
                self.raw.null_count
            ))
        };
        if pointers.first().is_none_or(|bitmap| bitmap.is_null()) {
            return match self.raw.null_count {
                -1 | 0 => Ok(None),
                _ => Err(mismatch()),
            };
        }
        let bits = self.buffer(pointers, 0, (rows + offset).div_ceil(8))?;
        let nulls = NullBuffer::new(BooleanBuffer::new(bits, offset, rows));
        match self.raw.null_count {
            -1 => Ok(Some(nulls)),
            claimed if usize::try_from(claimed) == Ok(nulls.null_count()) => Ok(Some(nulls)),
            _ => Err(mismatch()),
        }
    }

    /// Returns the buffers after the bitmap, for the given number of rows.
    fn buffers(&self, data_type: &DataType, pointers: &[*const c_void], rows: usize) -> Checked<Vec<Buffer>> {
        use DataType as D;
        let too_large = || violation("the length of the array is out of range for its type");
        let sized = |width: usize| {
            rows.checked_mul(width)
                .filter(|bytes| isize::try_from(*bytes).is_ok())
        };
        let of_width = |width: usize| sized(width).ok_or_else(too_large);
        let sizes = match key_or_self(data_type) {
            D::Null | D::RunEndEncoded(..) | D::Struct(_) | D::FixedSizeList(..) => Vec::new(),
            D::Boolean => vec![rows.div_ceil(8)],
            D::List(_) | D::Map(..) => vec![of_width(4)? + 4],
            D::LargeList(_) => vec![of_width(8)? + 8],
            D::ListView(_) => vec![of_width(4)?; 2],
            D::LargeListView(_) => vec![of_width(8)?; 2],
            D::Utf8 | D::Binary => self.offsets_and_values(pointers, of_width(4)?, 4)?,
            D::LargeUtf8 | D::LargeBinary => self.offsets_and_values(pointers, of_width(8)?, 8)?,
            D::Utf8View | D::BinaryView => {
                let lengths = self.view_buffer_lengths(pointers)?;
                std::iter::once(of_width(16)?).chain(lengths).collect()
            }
            D::FixedSizeBinary(width) => {
                let width =
                    usize::try_from(*width).map_err(|_| Fault::new("the size of its type is negative"))?;
                vec![of_width(width)?]
            }
            other => vec![of_width(other.primitive_width().unwrap_or(0))?],
        };
        let buffers = sizes.into_iter().enumerate();
        let buffers = buffers.map(|(index, bytes)| self.buffer(pointers, index + 1, bytes));
        buffers.collect()
    }

    /// Returns the sizes of an offsets buffer, with offsets of `width` bytes, and of the values buffer.
    fn offsets_and_values(
        &self,
        pointers: &[*const c_void],
        bytes: usize,
        width: usize,
    ) -> Checked<Vec<usize>> {
        let offsets = self.buffer(pointers, 1, bytes + width)?;
        let last = offsets.get(bytes..).unwrap_or_default();
        let last = match (last.try_into(), last.try_into()) {
            (Ok(last), _) => i64::from(i32::from_ne_bytes(last)),
            (_, Ok(last)) => i64::from_ne_bytes(last),
            _ => 0,
        };
        // Validation reports the row of a negative offset.
        Ok(vec![bytes + width, usize::try_from(last).unwrap_or(0)])
    }

    /// The lengths of the variadic buffers of a view array, stored in its last buffer.
    fn view_buffer_lengths(&self, pointers: &[*const c_void]) -> Checked<Vec<usize>> {
        // The buffers besides the variadic ones are the bitmap, the views and the lengths.
        let count = pointers.len().saturating_sub(3);
        let lengths = self.buffer(
            pointers,
            pointers.len().saturating_sub(1),
            count * size_of::<i64>(),
        )?;
        let length = |bytes: &[u8]| {
            let length = i64::from_ne_bytes(bytes.try_into().ok()?);
            usize::try_from(length).ok()
        };
        let lengths: Option<_> = lengths.chunks_exact(size_of::<i64>()).map(length).collect();
        lengths.ok_or_else(|| violation("the length of one of its variadic buffers is negative"))
    }

    fn children(&self, data_type: &DataType) -> Checked<Vec<ArrayData>> {
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
        // SAFETY: the interface guarantees this number of pointers to structures.
        let parts = unsafe { children(self.raw.children, self.raw.n_children) }?;
        if parts.len() != fields.len() {
            let what = format!(
                "the array has {} children, its type {}",
                parts.len(),
                fields.len()
            );
            return Err(violation(what));
        }
        let mut imported = Vec::with_capacity(parts.len());
        for (index, (field, part)) in fields.iter().zip(parts).enumerate() {
            let child = self.part(part).import(field.data_type());
            imported.push(child.map_err(|fault| fault.in_child(data_type, index))?);
        }
        // SAFETY: the interface guarantees a valid structure or null.
        match (data_type, unsafe { self.raw.dictionary.as_ref() }) {
            (D::Dictionary(_, values), Some(dictionary)) => {
                imported.push(self.part(dictionary).import(values)?)
            }
            (D::Dictionary(..), None) => {
                return Err(violation("the array has no dictionary, its type has one"));
            }
            (_, Some(_)) => return Err(violation("the array has a dictionary, its type has none")),
            (_, None) => {}
        }
        Ok(imported)
    }

    fn part<'a>(&'a self, raw: &'a RawArray) -> Part<'a> {
        Part {
            raw,
            owner: self.owner,
        }
    }
}

/// The type that determines the buffers: for a dictionary array, the type of its keys.
fn key_or_self(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(key, _) => key,
        other => other,
    }
}

fn is_view(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8View | DataType::BinaryView)
}

/// Whether the first buffer is a validity bitmap, and the minimum number of buffers.
fn expected_buffers(data_type: &DataType) -> Checked<(bool, usize)> {
    use DataType as D;
    Ok(match data_type {
        D::Null | D::RunEndEncoded(..) => (false, 0),
        D::Struct(_) | D::FixedSizeList(..) => (true, 1),
        D::Utf8 | D::Binary | D::LargeUtf8 | D::LargeBinary | D::ListView(_) | D::LargeListView(_) => {
            (true, 3)
        }
        D::Utf8View | D::BinaryView => (true, 3),
        D::Union(..) => return Err(Fault::new("a union cannot be stored in a table")),
        D::Dictionary(key, _) if !key.is_integer() => {
            return Err(Fault::new("the keys of the dictionary are not integers"));
        }
        _ => (true, 2),
    })
}
