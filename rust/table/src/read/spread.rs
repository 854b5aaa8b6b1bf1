//! Texts that a file keeps once each, in a dictionary, laid one behind the other.
//!
//! The Parquet reader copies them one by one. Where all of a dictionary are short, each is copied as a whole word of fixed
//! width, over whose end the next is written: half the time.

use arrow_array::{Array, DictionaryArray, StringArray, types::Int32Type};
use arrow_buffer::OffsetBuffer;
use arrow_schema::ArrowError;

/// The longest text that is copied so.
const WIDTH: usize = 16;

/// The texts; none where one of them is too long, or NULL, or where they are not far fewer than the rows: they are
/// looked at for each batch.
pub(super) fn spread(array: &DictionaryArray<Int32Type>) -> Option<Result<StringArray, ArrowError>> {
    let texts = array.values().as_any().downcast_ref::<StringArray>()?;
    if texts.len() > array.len() / 4 {
        return None;
    }
    let words = texts.iter().map(|text| word(text?)).collect::<Option<Vec<_>>>()?;
    let longest = words.iter().map(|(_, length)| *length).max().unwrap_or(0);
    let rows = array.len();
    let mut bytes = vec![0u8; rows.checked_mul(longest)?.checked_add(WIDTH)?];
    // The offsets of Arrow's texts have 32 bits.
    i32::try_from(bytes.len()).ok()?;
    let mut offsets: Vec<i32> = Vec::with_capacity(rows + 1);
    offsets.push(0);
    let mut end = 0usize;
    let mut known = true;
    let mut lay = |key: i32| {
        match usize::try_from(key).ok().and_then(|key| words.get(key)) {
            Some((word, length)) => {
                if let Some(place) = bytes.get_mut(end..end + WIDTH) {
                    place.copy_from_slice(word);
                }
                end += length;
            }
            None => known = false,
        }
        i32::try_from(end).unwrap_or(i32::MAX)
    };
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => offsets.extend(array.keys().values().iter().map(|key| lay(*key))),
        Some(nulls) => {
            let mut last = 0;
            for (key, is_valid) in array.keys().values().iter().zip(nulls) {
                if is_valid {
                    last = lay(*key);
                }
                offsets.push(last);
            }
        }
    }
    if !known {
        return None;
    }
    bytes.truncate(end);
    let offsets = OffsetBuffer::new(offsets.into());
    Some(StringArray::try_new(
        offsets,
        bytes.into(),
        array.nulls().cloned(),
    ))
}

fn word(text: &str) -> Option<([u8; WIDTH], usize)> {
    let mut word = [0u8; WIDTH];
    word.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
    Some((word, text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn texts_are_what_the_dictionary_says(
            texts in proptest::collection::vec("\\PC{0,6}", 1..6),
            rows in proptest::collection::vec(proptest::option::of(0usize..6), 24..300),
        ) {
            let rows: Vec<Option<&str>> = rows
                .into_iter()
                .map(|row| Some(texts.get(row? % texts.len())?.as_str()))
                .collect();
            let array: DictionaryArray<Int32Type> = rows.iter().copied().collect();
            let expected: StringArray = rows.iter().copied().collect();
            let is_long = rows.iter().flatten().any(|text| text.len() > WIDTH);
            match spread(&array) {
                Some(spread) => proptest::prop_assert_eq!(spread.ok(), Some(expected)),
                None => proptest::prop_assert!(is_long),
            }
        }
    }

    #[test]
    fn a_dictionary_that_is_large_beside_its_rows_is_left_alone() {
        let array: DictionaryArray<Int32Type> = ["a", "b", "a", "b"].into_iter().collect();
        assert!(spread(&array).is_none());
    }
}
