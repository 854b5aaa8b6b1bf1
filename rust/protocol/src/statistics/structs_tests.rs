//! Struct statistics are equivalent to text, whatever types Parquet uses.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int32Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int8Array, Int32Array, Int64Array, LargeStringArray, StringArray, StringViewArray, StructArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType as ArrowType, Field};

use super::{StatisticsBuilder, StatisticsColumns, StatisticsSchema, StatisticsText};
use crate::schema::{DataType, PrimitiveType, StructField, StructType};

fn fields(columns: Vec<(&str, ArrayRef)>, nulls: Option<Vec<bool>>) -> StructArray {
    let (names, arrays): (Vec<_>, Vec<_>) = columns
        .into_iter()
        .map(|(name, array)| (Field::new(name, array.data_type().clone(), true), array))
        .unzip();
    StructArray::try_new(names.into(), arrays, nulls.map(NullBuffer::from)).unwrap()
}

/// Parses a column of bounds as the minimum of `x`.
fn min_of(kind: PrimitiveType, bounds: ArrayRef) -> ArrayRef {
    let mut field = StructField::new("x", kind.into(), true);
    if kind == PrimitiveType::Double {
        let changes = serde_json::json!([{"fromType": "float", "toType": "double"}]);
        field.metadata.insert("delta.typeChanges".to_owned(), changes);
    }
    let schema = StructType { fields: vec![field] };
    let wanted = StatisticsSchema::all(&schema, &|field| field.name.clone());
    let parsed = fields(
        vec![("minValues", Arc::new(fields(vec![("x", bounds)], None)) as _)],
        None,
    );
    let columns = StatisticsColumns::from_struct(&parsed, &wanted).unwrap();
    assert_eq!(columns.max.as_struct().column(0).null_count(), parsed.len());
    assert_eq!(
        columns.null_count.as_struct().column(0).null_count(),
        parsed.len()
    );
    let found = Arc::clone(columns.min.as_struct().column(0));
    assert_eq!(found.data_type(), &kind.to_arrow().unwrap());
    found
}

fn micros(bounds: impl Array + 'static) -> Vec<Option<i64>> {
    let found = min_of(PrimitiveType::TimestampNtz, Arc::new(bounds));
    found.as_primitive::<TimestampMicrosecondType>().iter().collect()
}

#[test]
fn the_struct_states_what_the_text_states() {
    let inner = StructType {
        fields: vec![StructField::new("b", PrimitiveType::Long.into(), true)],
    };
    let schema = StructType {
        fields: vec![
            StructField::new("a", PrimitiveType::String.into(), true),
            StructField::new("s", DataType::Struct(inner), true),
            StructField::new("flag", PrimitiveType::Boolean.into(), true),
        ],
    };
    let wanted = StatisticsSchema::all(&schema, &|field| format!("col-{}", field.name));
    let leaf = |values: Vec<Option<i64>>| Arc::new(Int64Array::from(values)) as ArrayRef;
    let nested = |values: Vec<Option<i64>>, valid: Vec<bool>| {
        Arc::new(fields(vec![("col-b", leaf(values))], Some(valid))) as ArrayRef
    };
    let text = |values: Vec<Option<&str>>| Arc::new(StringArray::from(values)) as ArrayRef;
    let min = fields(
        vec![
            ("col-a", text(vec![Some("x"), None, Some("never")])),
            (
                "col-s",
                nested(vec![Some(1), Some(7), Some(3)], vec![true, false, true]),
            ),
        ],
        None,
    );
    let counts = fields(vec![("col-flag", leaf(vec![Some(0), Some(-1), Some(1)]))], None);
    let parsed = fields(
        vec![
            ("numRecords", leaf(vec![Some(3), Some(-4), Some(5)])),
            (
                "tightBounds",
                Arc::new(BooleanArray::from(vec![Some(false), None, Some(false)])) as _,
            ),
            ("minValues", Arc::new(min) as _),
            ("nullCount", Arc::new(counts) as _),
        ],
        Some(vec![true, true, false]),
    );
    let columns = StatisticsColumns::from_struct(&parsed, &wanted).unwrap();
    let mut builder = StatisticsBuilder::with_capacity(&wanted, 3);
    let first = r#"{"numRecords":3,"tightBounds":false,"minValues":{"col-a":"x","col-s":{"col-b":1}},"nullCount":{"col-flag":0}}"#;
    builder.push(StatisticsText::Plain(first.as_bytes()));
    builder.push(StatisticsText::Plain(
        br#"{"numRecords":-4,"nullCount":{"col-flag":-1}}"#,
    ));
    builder.push(StatisticsText::Absent);
    let expected = builder.finish().unwrap();
    assert_eq!(columns.num_records.as_ref(), expected.num_records.as_ref());
    assert_eq!(columns.tight_bounds.as_ref(), expected.tight_bounds.as_ref());
    assert_eq!(columns.min.as_ref(), expected.min.as_ref());
    assert_eq!(columns.max.as_ref(), expected.max.as_ref());
    assert_eq!(columns.null_count.as_ref(), expected.null_count.as_ref());

    let kept = columns
        .filter(&BooleanArray::from(vec![true, false, true]))
        .unwrap();
    assert_eq!(kept.num_records.as_ref(), &Int64Array::from(vec![Some(3), None]));
    assert_eq!(kept.min.len(), 2);
    assert!(columns.filter(&BooleanArray::from(vec![true])).is_err());
    let none = StatisticsColumns::from_struct(&parsed, &StatisticsSchema::num_records_only()).unwrap();
    assert_eq!(
        none.filter(&BooleanArray::from(vec![false, true, true]))
            .unwrap()
            .min
            .len(),
        2
    );
}

#[test]
fn times_of_every_unit_become_microseconds_or_null() {
    let far = i64::MAX / 1_000;
    assert_eq!(
        micros(TimestampSecondArray::from(vec![1, -1, far])),
        [Some(1_000_000), Some(-1_000_000), None]
    );
    assert_eq!(
        micros(TimestampMillisecondArray::from(vec![1, far, far + 1])),
        [Some(1_000), Some(far * 1_000), None]
    );
    assert_eq!(
        micros(TimestampNanosecondArray::from(vec![1_999, -1, -1_000])),
        [Some(1), Some(-1), Some(-1)]
    );
    assert_eq!(
        micros(Date32Array::from(vec![1, i32::MAX])),
        [Some(86_400_000_000), None]
    );
    assert_eq!(micros(StringArray::from(vec!["2024-01-01"])), [None]);
}

#[test]
fn numbers_of_another_type_are_exact_or_null() {
    let integers = min_of(
        PrimitiveType::Integer,
        Arc::new(Int64Array::from(vec![7, i64::MAX])),
    );
    assert_eq!(
        integers.as_primitive::<Int32Type>(),
        &Int32Array::from(vec![Some(7), None])
    );
    let bytes = min_of(PrimitiveType::Integer, Arc::new(Int8Array::from(vec![-7])));
    assert_eq!(bytes.as_primitive::<Int32Type>(), &Int32Array::from(vec![-7]));
    let kind = PrimitiveType::Decimal {
        precision: 6,
        scale: 2,
    };
    let decimals = |values: Vec<i128>, scale| {
        let from = Decimal128Array::from(values).with_data_type(ArrowType::Decimal128(38, scale));
        let found = min_of(kind, Arc::new(from));
        found.as_primitive::<Decimal128Type>().iter().collect::<Vec<_>>()
    };
    assert_eq!(
        decimals(vec![15, 99_999, -100_000], 1),
        [Some(150), Some(999_990), None]
    );
    assert_eq!(
        decimals(vec![1_500, 1_501, i128::MAX], 3),
        [Some(150), None, None]
    );
    let whole = min_of(kind, Arc::new(Int32Array::from(vec![12, 10_000])));
    assert_eq!(
        whole.as_primitive::<Decimal128Type>().iter().collect::<Vec<_>>(),
        [Some(1_200), None]
    );
}

/// As in text: the struct contains 6.1 while the file contains the nearest float.
#[test]
fn a_double_that_was_a_float_has_a_bound_that_holds() {
    let doubles = |bounds: ArrayRef| {
        let found = min_of(PrimitiveType::Double, bounds);
        found.as_primitive::<Float64Type>().values().to_vec()
    };
    let float = f64::from(6.1f32);
    assert!(float < 6.1);
    assert_eq!(
        doubles(Arc::new(Float64Array::from(vec![6.1, 0.1]))),
        [float, 0.1]
    );
    assert_eq!(doubles(Arc::new(Float32Array::from(vec![6.1]))), [float]);
    assert_eq!(doubles(Arc::new(Int32Array::from(vec![3]))), [3.0]);
}

#[test]
fn text_of_every_layout_is_read() {
    let expected = StringArray::from(vec![Some("é"), None]);
    let layouts: [ArrayRef; 4] = [
        Arc::new(LargeStringArray::from(vec![Some("é"), None])),
        Arc::new(StringViewArray::from(vec![Some("é"), None])),
        Arc::new(BinaryArray::from(vec!["é".as_bytes(), b"\xFF"])),
        Arc::new(
            arrow_cast::cast(
                &expected,
                &ArrowType::Dictionary(Box::new(ArrowType::Int32), Box::new(ArrowType::Utf8)),
            )
            .unwrap(),
        ),
    ];
    for layout in layouts {
        let found = min_of(PrimitiveType::String, layout);
        assert_eq!(found.as_string::<i32>(), &expected);
    }
}
