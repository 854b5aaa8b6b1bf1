//! Expands dictionary-encoded strings.
//!
//! The Parquet reader copies them one by one. If all strings of a dictionary are short, each is copied here as a word
//! of fixed width, whose end the next one overwrites: this takes two thirds of the time.

use arrow_array::{Array, DictionaryArray, StringArray, types::Int32Type};
use arrow_buffer::OffsetBuffer;
use arrow_schema::ArrowError;

/// The maximum lengths of strings that are copied as narrow and as wide words.
const NARROW: usize = 8;
const WIDE: usize = 16;
/// The number of strings that are copied to the stack buffer at a time.
const STRETCH: usize = 64;

/// Returns the strings; `None` if one of them is too long or NULL, or if they are not far fewer than the rows, because
/// the dictionary is checked for each batch.
pub(crate) fn decode_dictionary(
    array: &DictionaryArray<Int32Type>,
) -> Option<Result<StringArray, ArrowError>> {
    let texts = array.values().as_any().downcast_ref::<StringArray>()?;
    if texts.len() > array.len() / 4 || texts.null_count() > 0 {
        return None;
    }
    let longest = texts.iter().flatten().map(str::len).max().unwrap_or(0);
    let most = array.len().checked_mul(longest)?;
    // Arrow's strings have 32-bit offsets.
    i32::try_from(most).ok()?;
    let (offsets, bytes) = match longest {
        0..=NARROW => lay::<NARROW>(array, texts, most),
        _ => lay::<WIDE>(array, texts, most),
    }?;
    let offsets = OffsetBuffer::new(offsets.into());
    Some(StringArray::try_new(
        offsets,
        bytes.into(),
        array.nulls().cloned(),
    ))
}

/// Returns the offsets and at most `most` bytes of the strings; `None` if a string is wider than `WIDTH`, or a key is
/// out of range.
fn lay<const WIDTH: usize>(
    array: &DictionaryArray<Int32Type>,
    texts: &StringArray,
    most: usize,
) -> Option<(Vec<i32>, Vec<u8>)> {
    let word = |text: &str| {
        let mut word = [0u8; WIDTH];
        word.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some((word, u32::try_from(text.len()).ok()?))
    };
    let words = texts.iter().map(|text| word(text?)).collect::<Option<Vec<_>>>()?;
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    let mut bytes: Vec<u8> = Vec::with_capacity(most);
    let mut offsets: Vec<i32> = Vec::with_capacity(array.len() + 1);
    offsets.push(0);
    let mut are_known = true;
    // Copied to a small buffer in the CPU cache first; its contents are then appended in one copy.
    let mut laid = [[0u8; WIDTH]; STRETCH + 1];
    let laid = laid.as_flattened_mut();
    for (index, keys) in array.keys().values().chunks(STRETCH).enumerate() {
        let begin = u32::try_from(bytes.len()).ok()?;
        let mut end = 0u32;
        let mut lay = |key: i32| {
            match words.get(place(key.cast_unsigned())) {
                Some((word, length)) => {
                    if let Some(to) = laid.get_mut(place(end)..place(end) + WIDTH) {
                        to.copy_from_slice(word);
                    }
                    end += length;
                }
                None => are_known = false,
            }
            (begin + end).cast_signed()
        };
        match nulls {
            None => offsets.extend(keys.iter().map(|key| lay(*key))),
            Some(nulls) => {
                let mut last = begin.cast_signed();
                for (row, key) in keys.iter().enumerate() {
                    if nulls.is_valid(index * STRETCH + row) {
                        last = lay(*key);
                    }
                    offsets.push(last);
                }
            }
        }
        bytes.extend_from_slice(laid.get(..place(end)).unwrap_or_default());
    }
    are_known.then_some((offsets, bytes))
}

fn place(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn texts_are_what_the_dictionary_states(
            texts in proptest::collection::vec("\\PC{0,6}", 1..6),
            rows in proptest::collection::vec(proptest::option::of(0usize..6), 24..300),
        ) {
            let rows: Vec<Option<&str>> = rows
                .into_iter()
                .map(|row| Some(texts.get(row? % texts.len())?.as_str()))
                .collect();
            let array: DictionaryArray<Int32Type> = rows.iter().copied().collect();
            let expected: StringArray = rows.iter().copied().collect();
            let is_long = rows.iter().flatten().any(|text| text.len() > WIDE);
            match decode_dictionary(&array) {
                Some(decode_dictionary) => proptest::prop_assert_eq!(decode_dictionary.ok(), Some(expected)),
                None => proptest::prop_assert!(is_long),
            }
        }
    }

    #[test]
    fn a_dictionary_that_is_large_beside_its_rows_is_left_alone() {
        let array: DictionaryArray<Int32Type> = ["a", "b", "a", "b"].into_iter().collect();
        assert!(decode_dictionary(&array).is_none());
    }
}
