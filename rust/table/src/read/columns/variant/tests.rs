//! Variants that Arrow's own crate shreds are reconstructed unchanged.

use arrow_array::{Int64Array, StringArray};
use arrow_schema::{DataType as ArrowType, Field, Fields, TimeUnit};
use deltaic_protocol::ErrorKind;
use deltaic_protocol::schema::DataType;
use parquet_variant_compute::{VariantArray, json_to_variant, shred_variant, unshred_variant};

use super::*;

const VALUES: [Option<&str>; 9] = [
    Some(r#"{"a":1,"b":"x","c":{"d":[1,2.5,null,true],"e":null}}"#),
    Some(r#"{"a":"one","c":[],"z":{"a":1}}"#),
    Some(r#"{"c":{"d":[[1],{"k":0}],"f":-1.5E300},"e":1234567890123456789}"#),
    Some("[1,2,3]"),
    Some(r#"["x",{"a":[]},null]"#),
    Some("17"),
    Some("null"),
    None,
    Some(r#""text""#),
];

fn list_of(element: ArrowType) -> ArrowType {
    ArrowType::List(Arc::new(Field::new("element", element, true)))
}

fn object_of(fields: Vec<(&str, ArrowType)>) -> ArrowType {
    let fields = fields
        .into_iter()
        .map(|(name, kind)| Field::new(name, kind, true));
    ArrowType::Struct(fields.collect::<Fields>())
}

/// Arrow's crate uses view types for bytes; a file of the table is read with the types here.
fn as_in_a_file(array: &ArrayRef) -> ArrayRef {
    fn kind(arrow: &ArrowType) -> ArrowType {
        let below =
            |field: &Arc<Field>| Arc::new(Field::clone(field).with_data_type(kind(field.data_type())));
        match arrow {
            ArrowType::BinaryView | ArrowType::LargeBinary => ArrowType::Binary,
            ArrowType::Utf8View | ArrowType::LargeUtf8 => ArrowType::Utf8,
            ArrowType::Struct(fields) => ArrowType::Struct(fields.iter().map(below).collect()),
            ArrowType::List(element) => ArrowType::List(below(element)),
            other => other.clone(),
        }
    }
    arrow_cast::cast(array, &kind(array.data_type())).expect("it is another layout of the same")
}

fn texts(array: &ArrayRef) -> Vec<Option<String>> {
    let variant = DataType::Primitive(PrimitiveType::Variant);
    let text = to_json(array, &variant, "v").expect("it is sound");
    text.as_string::<i32>()
        .iter()
        .map(|text| text.map(str::to_owned))
        .collect()
}

fn made() -> VariantArray {
    let texts: ArrayRef = Arc::new(StringArray::from(VALUES.to_vec()));
    json_to_variant(&texts).expect("it is JSON")
}

#[test]
fn whole_variants_are_handed_on_and_spelled() -> Result<()> {
    let array = as_in_a_file(&made().into());
    let found = conform_variant(&array, "v")?;
    assert_eq!(found.as_struct().column(0), array.as_struct().column(0));
    assert_eq!(found.as_struct().column(1), array.as_struct().column(1));
    let spelled: Vec<_> = VALUES.iter().map(|text| text.map(str::to_owned)).collect();
    assert_eq!(texts(&found), spelled);
    Ok(())
}

/// protocol: beyond:variant-shredding.1
#[test]
fn shredded_variants_are_what_they_were() -> Result<()> {
    let number = ArrowType::Int64;
    let inner = object_of(vec![("d", list_of(number.clone())), ("e", ArrowType::Utf8)]);
    for kind in [
        number.clone(),
        ArrowType::Utf8,
        ArrowType::Boolean,
        ArrowType::Float64,
        ArrowType::Date32,
        ArrowType::Decimal128(9, 2),
        ArrowType::Decimal128(38, 0),
        ArrowType::Timestamp(TimeUnit::Microsecond, None),
        list_of(number.clone()),
        list_of(list_of(number.clone())),
        list_of(object_of(vec![("a", list_of(number.clone()))])),
        object_of(vec![("a", number.clone())]),
        object_of(vec![("a", ArrowType::Utf8), ("c", inner.clone()), ("x", number)]),
        object_of(vec![("c", object_of(vec![("d", list_of(inner))]))]),
    ] {
        let shredded = shred_variant(&made(), &kind).expect("it can be shredded so");
        // Their reader returns decimals in the width of their column.
        let theirs = VariantArray::try_new(shredded.inner()).expect("it is shredded");
        let theirs: ArrayRef = unshred_variant(&theirs).expect("it is sound").into();
        let found = conform_variant(&as_in_a_file(&shredded.clone().into()), "v")?;
        let spelled: Vec<_> = VALUES.iter().map(|text| text.map(str::to_owned)).collect();
        assert_eq!(texts(&found), spelled, "{kind}");
        let theirs = as_in_a_file(&theirs);
        for row in (0..found.len()).filter(|row| found.is_valid(*row)) {
            let bytes = |array: &ArrayRef| array.as_struct().column(1).as_binary::<i32>().value(row).to_vec();
            assert_eq!(bytes(&found), bytes(&theirs), "{kind}, row {row}");
        }
        // A slice of a batch is read like the complete batch.
        let sliced = as_in_a_file(&shredded.into()).slice(2, 5);
        assert_eq!(
            texts(&conform_variant(&sliced, "v")?),
            spelled.get(2..7).unwrap_or_default()
        );
    }
    Ok(())
}

#[test]
fn an_invalid_variant_is_corrupt_data_with_the_field() {
    let number: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let error = conform_variant(&number, "s.v").expect_err("a number is not a variant");
    assert_eq!(error.kind(), ErrorKind::CorruptData);
    assert!(error.context().contains(&("field", "s.v".into())), "{error:?}");
}
