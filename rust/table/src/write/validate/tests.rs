//! Arrays that violate Arrow's rules, built without Arrow's checks. The property test `arrow_input` covers many more.
#![expect(
    unsafe_code,
    reason = "arrays that break Arrow's rules cannot be built otherwise"
)]

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, Decimal128Array, DictionaryArray, Int32Array, StringArray, StructArray,
};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_data::ArrayDataBuilder;
use arrow_schema::{DataType, Field, Fields};
use deltaic_protocol::error::ContextValue;

use super::*;

fn unchecked(builder: ArrayDataBuilder) -> ArrayData {
    // SAFETY: the arrays are only read by the code under test, which trusts nothing.
    unsafe { builder.build_unchecked() }
}

/// A batch of one column.
fn batch(column: ArrayData, nullable: bool) -> ArrayData {
    let fields = Fields::from(vec![Field::new("c", column.data_type().clone(), nullable)]);
    let batch = ArrayData::builder(DataType::Struct(fields)).len(column.len());
    unchecked(batch.child_data(vec![column]))
}

/// Returns the field and the row of the error in a column.
fn wrong(column: ArrayData) -> Option<(String, Option<i64>)> {
    let error = validate_batch(&batch(column, true), 100).err()?;
    let context = |key: &str| {
        error
            .context()
            .iter()
            .find(|(known, _)| *known == key)
            .map(|(_, value)| value.clone())
    };
    let row = match context("row") {
        Some(ContextValue::Number(row)) => Some(row),
        _ => None,
    };
    match context("field") {
        Some(ContextValue::Text(field)) => Some((field, row)),
        _ => Some((String::new(), row)),
    }
}

fn latin(values: &[Option<&[u8]>]) -> ArrayData {
    unchecked(
        BinaryArray::from(values.to_vec())
            .into_data()
            .into_builder()
            .data_type(DataType::Utf8),
    )
}

#[test]
fn text_that_is_not_utf8_is_found_in_its_row() {
    let texts: &[Option<&[u8]>] = &[Some(b"tea"), None, Some(b"caf\xe9"), Some(b"x")];
    assert_eq!(wrong(latin(texts)), Some(("c".to_owned(), Some(102))));
    assert_eq!(wrong(latin(texts).slice(1, 2)), Some(("c".to_owned(), Some(101))));
    assert_eq!(wrong(latin(texts).slice(0, 2)), None);
    assert_eq!(wrong(latin(texts).slice(3, 1)), None);
    // Together the two bytes are one character; each alone is invalid.
    assert_eq!(
        wrong(latin(&[Some(b"\xc3"), Some(b"\xa9")])),
        Some(("c".to_owned(), Some(100)))
    );
    assert_eq!(
        wrong(latin(&[Some("caffè".as_bytes()), Some("🚋".as_bytes())])),
        None
    );
}

#[test]
fn children_of_null_values_are_ignored() {
    let hidden = latin(&[Some(b"tea"), Some(b"\xff")])
        .into_builder()
        .nulls(Some(NullBuffer::from(vec![true, false])));
    assert_eq!(wrong(unchecked(hidden)), None);
}

#[test]
fn buffers_that_are_too_short_are_found() {
    let short = |data_type: DataType, bytes: usize| {
        let column = ArrayData::builder(data_type)
            .len(4)
            .add_buffer(Buffer::from(vec![0u8; bytes]));
        wrong(unchecked(column)).is_some()
    };
    for (data_type, bytes) in [
        (DataType::Int64, 32),
        (DataType::Boolean, 1),
        (DataType::Decimal128(5, 2), 64),
        (DataType::FixedSizeBinary(3), 12),
    ] {
        assert!(short(data_type.clone(), bytes - 1), "{data_type}");
        assert!(!short(data_type.clone(), bytes), "{data_type}");
    }
}

#[test]
fn offsets_must_rise_within_the_values() {
    let of = |offsets: Vec<i32>| {
        let column = ArrayData::builder(DataType::Binary).len(offsets.len() - 1);
        wrong(unchecked(
            column
                .add_buffer(Buffer::from_vec(offsets))
                .add_buffer(Buffer::from(vec![b'a'; 9])),
        ))
    };
    assert_eq!(of(vec![0, 3, 3, 9]), None);
    assert_eq!(of(vec![0, 5, 2, 9]), Some(("c".to_owned(), Some(101))));
    assert_eq!(of(vec![-1, 5, 6, 9]), Some(("c".to_owned(), Some(100))));
    assert_eq!(of(vec![0, 5, 9, 10]), Some(("c".to_owned(), Some(102))));
}

#[test]
fn decimals_and_dictionary_keys_must_fit() {
    let decimals = Decimal128Array::from(vec![Some(99_999), None, Some(-100_000)]);
    let narrow = decimals
        .into_data()
        .into_builder()
        .data_type(DataType::Decimal128(5, 2));
    assert_eq!(wrong(unchecked(narrow)), Some(("c".to_owned(), Some(102))));
    let values: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let keys = Int32Array::from(vec![Some(1), None, Some(2)])
        .into_data()
        .into_builder();
    let type_ = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let keys = unchecked(keys.data_type(type_).add_child_data(values.to_data()));
    assert_eq!(wrong(keys), Some(("c".to_owned(), Some(102))));
    let sound = DictionaryArray::new(Int32Array::from(vec![Some(1), None, Some(0)]), values);
    assert_eq!(wrong(sound.into_data()), None);
}

#[test]
fn a_null_counts_where_all_above_it_is_present() {
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, None]));
    let fields = Fields::from(vec![Field::new("f", DataType::Int32, false)]);
    let within = |nulls: Option<NullBuffer>| {
        let rows = ArrayData::builder(DataType::Struct(fields.clone()))
            .len(3)
            .nulls(nulls);
        wrong(unchecked(rows.add_child_data(numbers.to_data())))
    };
    assert_eq!(within(None), Some(("c.f".to_owned(), Some(101))));
    assert_eq!(
        within(Some(NullBuffer::from(vec![true, false, true]))),
        Some(("c.f".to_owned(), Some(102)))
    );
    assert_eq!(within(Some(NullBuffer::from(vec![true, false, false]))), None);
    assert!(validate_batch(&batch(numbers.to_data(), false), 0).is_err());
}

#[test]
fn nesting_has_a_bound() {
    let mut column: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    for _ in 0..=MAX_NESTING {
        let field = Arc::new(Field::new("f", column.data_type().clone(), true));
        column = Arc::new(StructArray::from(vec![(field, column)]));
    }
    assert!(wrong(column.to_data()).is_some());
}

#[test]
fn a_field_that_is_shorter_than_its_struct_is_found_at_any_depth() {
    let field = |part: &ArrayData| Fields::from(vec![Field::new("f", part.data_type().clone(), true)]);
    let mut column = Int32Array::from(vec![1, 2, 3]).into_data();
    for _ in 0..3 {
        let rows = ArrayData::builder(DataType::Struct(field(&column))).len(4);
        column = unchecked(rows.add_child_data(column));
    }
    assert_eq!(wrong(column), Some(("c.f.f.f".to_owned(), None)));
}
