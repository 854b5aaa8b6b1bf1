//! Converts columns of strings and binary values to the form of the scan's output.
//!
//! The Parquet reader decodes views faster than strings, in every encoding; and the size of strings that are laid out one
//! after another is known before any is copied.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::ByteViewType;
use arrow_array::{
    Array, ArrayRef, BinaryArray, GenericByteViewArray, RecordBatch, RecordBatchOptions, StringArray,
};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_cast::cast;
use arrow_data::ByteView;
use arrow_schema::{DataType, Schema};
use deltaic_protocol::{Error, Result};

use super::unfit::unfit;
use crate::read::parquet::footer::{too_many_bytes, unreadable};
use crate::scan::StringsAs;

/// The maximum length of a value that its view contains.
const INLINE: usize = 12;
/// Values up to this length are copied as words, and what is too much is cut off: copies of fixed length are faster.
const SHORT: usize = 32;

/// Converts a column to the form of the output. Views that reference far more than they use are copied: otherwise a few
/// rows would keep whole pages in memory.
///
/// # Errors
///
/// Those of a cast; `InvalidArgument` for strings of more than 2 GiB.
pub(crate) fn in_form(column: ArrayRef, form: StringsAs) -> Result<ArrayRef> {
    if form == StringsAs::Utf8 {
        return laid_out(column);
    }
    ensure_text(&column)?;
    let column = match form.of_type(column.data_type()) {
        Some(view) => cast(&column, &view).map_err(unfit)?,
        None => column,
    };
    if let Some(views) = column.as_string_view_opt()
        && uses_little(views)
    {
        return Ok(Arc::new(views.gc()));
    }
    if let Some(views) = column.as_binary_view_opt()
        && uses_little(views)
    {
        return Ok(Arc::new(views.gc()));
    }
    Ok(column)
}

/// Verifies that strings are UTF-8. The Parquet reader validates those of a page together, of which one may end within a
/// character, and none of a column that is annotated as another form of text, such as JSON, which are no views.
///
/// # Errors
///
/// `CorruptData` for other bytes.
fn ensure_text(column: &ArrayRef) -> Result<()> {
    let is_text = match (column.as_string_view_opt(), column.as_string_opt::<i32>()) {
        (Some(views), _) => {
            let begins = views.views().iter().map(|view| (view >> 32).to_le_bytes()[0]);
            // A view that is empty contains zeros.
            !begins.fold(false, |within, first| within | (first & 0xC0 == 0x80))
        }
        (_, Some(texts)) => {
            let offsets = texts.offsets();
            let [first, end] = [offsets.first(), offsets.last()].map(|offset| place(offset.cast_unsigned()));
            let bytes = texts.values().get(first..end).unwrap_or_default();
            std::str::from_utf8(bytes).is_ok_and(|all| {
                let mut begins = offsets.iter().map(|offset| place(offset.cast_unsigned()) - first);
                begins.all(|begin| all.is_char_boundary(begin))
            })
        }
        _ => true,
    };
    match is_text {
        true => Ok(()),
        false => Err(unreadable("it contains a string that is not UTF-8")),
    }
}

/// Whether views reference so much that a copy would have less than half of the memory.
fn uses_little<T: ByteViewType + ?Sized>(views: &GenericByteViewArray<T>) -> bool {
    let referenced: usize = views.data_buffers().iter().map(|buffer| buffer.len()).sum();
    let themselves = views.views().inner().len();
    // Used bytes are counted only if it matters.
    referenced > themselves && views.total_buffer_bytes_used() + themselves < (referenced + themselves) / 2
}

/// Returns the rows without views.
///
/// # Errors
///
/// Those of [`laid_out`].
pub(crate) fn laid_out_batch(batch: RecordBatch) -> Result<RecordBatch> {
    let is_view = |column: &ArrayRef| matches!(column.data_type(), DataType::Utf8View | DataType::BinaryView);
    if !batch.columns().iter().any(is_view) {
        return Ok(batch);
    }
    let columns = batch.columns().iter();
    let columns = columns.map(|column| match is_view(column) {
        true => laid_out(Arc::clone(column)),
        false => Ok(Arc::clone(column)),
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let fields = batch.schema_ref().fields().iter().zip(&columns);
    let fields =
        fields.map(|(field, column)| field.as_ref().clone().with_data_type(column.data_type().clone()));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema, columns, &options).map_err(unfit)
}

/// Returns the values of views one after another; another column is returned as it is.
///
/// # Errors
///
/// `InvalidArgument` for more than 2 GiB.
#[expect(unsafe_code, reason = "validating text again takes as long as decoding it")]
pub(crate) fn laid_out(column: ArrayRef) -> Result<ArrayRef> {
    ensure_text(&column)?;
    let nulls = column.nulls().cloned();
    if let Some(views) = column.as_string_view_opt() {
        let (offsets, bytes) = copied(views)?;
        // SAFETY: between two offsets are the bytes of a string that the Parquet reader and `ensure_text` validated.
        return Ok(Arc::new(unsafe {
            StringArray::new_unchecked(offsets, bytes, nulls)
        }));
    }
    if let Some(views) = column.as_binary_view_opt() {
        let (offsets, bytes) = copied(views)?;
        let values = BinaryArray::try_new(offsets, bytes, nulls);
        return Ok(Arc::new(values.map_err(unfit)?));
    }
    Ok(column)
}

/// Returns the offsets and the bytes of the values; a NULL has no bytes.
fn copied<T: ByteViewType + ?Sized>(views: &GenericByteViewArray<T>) -> Result<(OffsetBuffer<i32>, Buffer)> {
    let lengths = views
        .views()
        .iter()
        .map(|view| place(ByteView::from(*view).length));
    let offsets = match views.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => offsets_of(lengths),
        // Multiplied, because the CPU cannot predict which values are NULL.
        Some(nulls) => offsets_of(
            lengths
                .zip(nulls)
                .map(|(length, is_valid)| length * usize::from(is_valid)),
        ),
    }?;
    let total = place(offsets.last().cast_unsigned());
    let mut bytes: Vec<u8> = Vec::with_capacity(total + SHORT);
    for (view, end) in views.views().iter().zip(offsets.iter().skip(1)) {
        let end = place(end.cast_unsigned());
        let length = end - bytes.len();
        if length <= INLINE {
            append(&mut bytes, view >> 32);
            bytes.truncate(end);
            continue;
        }
        let view = ByteView::from(*view);
        let buffer = views.data_buffers().get(place(view.buffer_index));
        let rest = buffer.and_then(|buffer| buffer.get(place(view.offset)..));
        match rest.and_then(|rest| rest.first_chunk::<SHORT>()) {
            Some(begin) if length <= SHORT => {
                let (words, _) = begin.as_chunks();
                words
                    .iter()
                    .for_each(|word| append(&mut bytes, u128::from_le_bytes(*word)));
                bytes.truncate(end);
            }
            _ => {
                let value = rest.and_then(|rest| rest.get(..length));
                bytes.extend_from_slice(
                    value.ok_or_else(|| Error::internal("a view refers to bytes that do not exist"))?,
                );
            }
        }
    }
    Ok((offsets, bytes.into()))
}

/// Appends bytes from a register.
fn append(bytes: &mut Vec<u8>, word: u128) {
    bytes.extend_from_slice(&word.to_le_bytes());
}

/// Returns where each value begins, and where the last one ends.
fn offsets_of(lengths: impl Iterator<Item = usize> + Clone) -> Result<OffsetBuffer<i32>> {
    match i32::try_from(lengths.clone().sum::<usize>()) {
        Ok(_) => Ok(OffsetBuffer::from_lengths(lengths)),
        Err(_) => Err(too_many_bytes()),
    }
}

fn place(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use arrow_array::{BinaryViewArray, StringViewArray};

    use super::*;

    proptest::proptest! {
        #[test]
        fn values_are_those_of_the_views(
            rows in proptest::collection::vec(proptest::option::weighted(0.8, "[aä€𝄞]{0,45}"), 0..60),
            begin in 0usize..60,
        ) {
            let begin = begin.min(rows.len());
            let (views, texts): (StringViewArray, StringArray) =
                (rows.iter().cloned().collect(), rows.iter().cloned().collect());
            // The view of a NULL may be of another value.
            let (raw, buffers, _) = views.into_parts();
            let other = u128::from(u32::from_le_bytes(*b"text")) << 32 | 4;
            let views = raw.iter().zip(&rows).map(|(view, row)| if row.is_none() { other } else { *view });
            let views: Vec<u128> = views.collect();
            let nulls = texts.nulls().cloned();
            let binary = BinaryViewArray::new(raw, buffers.clone(), nulls.clone());
            let views = StringViewArray::try_new(views.into(), buffers, nulls).expect("valid");
            for (views, expected) in [
                (Arc::new(views) as ArrayRef, Arc::new(texts.clone()) as ArrayRef),
                (Arc::new(binary), cast(&texts, &arrow_schema::DataType::Binary).expect("a cast")),
            ] {
                let length = rows.len() - begin;
                let found = laid_out(views.slice(begin, length)).expect("laid out");
                found.to_data().validate_full().expect("valid");
                proptest::prop_assert_eq!(&found, &expected.slice(begin, length));
            }
        }
    }

    #[test]
    fn a_string_that_begins_within_a_character_is_refused() {
        for (halves, is_text) in [
            ([&b"abc\xc3"[..], b"\xa9 and more than 12 bytes"], false),
            ([b"abc", b"\xa9"], false),
            ([b"", "é".as_bytes()], true),
        ] {
            let bytes: BinaryViewArray = halves.into_iter().map(Some).collect();
            // Unlike with views of strings, the same bytes are not validated.
            let (views, buffers, nulls) = bytes.into_parts();
            #[expect(unsafe_code, reason = "a Parquet reader returns them")]
            // SAFETY: nothing but the first bytes is looked at if they are not text.
            let views = unsafe { StringViewArray::new_unchecked(views, buffers, nulls) };
            let views: ArrayRef = Arc::new(views);
            for form in [StringsAs::Utf8, StringsAs::View] {
                assert_eq!(in_form(Arc::clone(&views), form).is_ok(), is_text, "{halves:?}");
            }
        }
    }

    #[test]
    fn more_than_2_gib_are_refused() {
        let long: StringViewArray = std::iter::once("x".repeat(1 << 20)).map(Some).collect();
        let (views, buffers, _) = long.into_parts();
        let views: Vec<u128> = views.iter().copied().cycle().take(2048).collect();
        let views = StringViewArray::new(views.into(), buffers, None);
        let error = laid_out(Arc::new(views)).expect_err("too much");
        assert!(
            error.to_string().contains("more than 2 GiB of one column"),
            "{error}"
        );
    }

    #[test]
    fn views_that_use_little_are_copied_and_others_are_not() {
        let rows = |count: usize| (0..count).map(|row| format!("a value that is long: {row}"));
        let all: StringViewArray = rows(10_000).map(Some).collect();
        let bytes = |column: &ArrayRef| {
            column
                .as_string_view()
                .data_buffers()
                .iter()
                .map(Buffer::len)
                .sum::<usize>()
        };
        let in_form = |column: StringViewArray| in_form(Arc::new(column), StringsAs::View).expect("views");
        let few = in_form(all.slice(17, 100));
        assert!(bytes(&few) < 4_000, "{}", bytes(&few));
        assert_eq!(few.as_string_view(), &all.slice(17, 100));
        let most = in_form(all.slice(0, 8_000));
        assert_eq!(bytes(&most), bytes(&(Arc::new(all) as ArrayRef)));
    }
}
