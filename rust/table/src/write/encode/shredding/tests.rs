//! Shredded variants are read back as the same values.

use arrow_array::{Array, BinaryArray, RecordBatch};
use parquet_variant_compute::json_to_variant;
use proptest::prelude::*;

use super::*;
use crate::read::unshredded;

fn column(texts: &[Option<&str>]) -> ArrayRef {
    let texts: ArrayRef = Arc::new(arrow_array::StringArray::from(texts.to_vec()));
    let variants = json_to_variant(&texts).expect("valid JSON");
    let group = variants.into_inner();
    let bytes = |name: &str| -> ArrayRef {
        let column = group.column_by_name(name).expect("a part of a variant");
        arrow_cast::cast(column, &ArrowType::Binary).expect("bytes")
    };
    let fields = vec![
        Field::new("metadata", ArrowType::Binary, false),
        Field::new("value", ArrowType::Binary, true),
    ];
    let nulls = group.nulls().cloned();
    Arc::new(
        StructArray::try_new(fields.into(), vec![bytes("metadata"), bytes("value")], nulls).expect("a group"),
    )
}

fn variant_field(column: &ArrayRef) -> Field {
    let extension = [("ARROW:extension:name".to_owned(), VARIANT_EXTENSION.to_owned())];
    Field::new("v", column.data_type().clone(), true)
        .with_metadata(std::collections::HashMap::from(extension))
}

fn shredded(first: &ArrayRef, rows: &ArrayRef) -> Option<ArrayRef> {
    let field = variant_field(first);
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = |column: &ArrayRef| {
        RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(column)]).expect("a batch")
    };
    let shredding = Shredding::choose(&schema, &batch(first)).expect("valid variants")?;
    let rows = shredding.apply(&batch(rows)).expect("valid variants");
    assert!(
        rows.column(0)
            .data_type()
            .equals_datatype(shredding.schema().field(0).data_type())
    );
    Some(Arc::clone(rows.column(0)))
}

fn texts(column: &ArrayRef) -> Vec<Option<String>> {
    let joined = unshredded(column.as_struct()).expect("it is read back");
    let group = joined.as_struct();
    let bytes = |name: &str| -> BinaryArray {
        group
            .column_by_name(name)
            .expect("a part of a variant")
            .as_binary::<i32>()
            .clone()
    };
    let (metadata, value) = (bytes("metadata"), bytes("value"));
    let text = |row: usize| {
        let variant =
            parquet_variant::Variant::try_new(metadata.value(row), value.value(row)).expect("a variant");
        format!("{variant:?}")
    };
    (0..group.len())
        .map(|row| group.is_valid(row).then(|| text(row)))
        .collect()
}

#[test]
fn fields_of_most_objects_are_typed() {
    let rows = column(&[
        Some(r#"{"a":1,"b":"x","deep":{"er":true}}"#),
        Some(r#"{"a":2,"c":[1],"deep":{"er":false,"more":null}}"#),
        Some(r#"{"a":"text","b":"y","deep":7}"#),
        None,
        Some("[]"),
        Some("null"),
        Some(r#"{"a":3,"b":"z","deep":{"er":true}}"#),
        Some(r#"{"a":4,"A":5,"b":"z"}"#),
    ]);
    let shredded = shredded(&rows, &rows).expect("they are shredded");
    let typed = shredded
        .as_struct()
        .column_by_name("typed_value")
        .expect("a typed column");
    let ArrowType::Struct(fields) = typed.data_type() else {
        panic!("objects are typed");
    };
    let names: Vec<&String> = fields.iter().map(|field| field.name()).collect();
    assert_eq!(names, ["a", "b", "deep"]);
    let int8 = typed.as_struct().column(0).as_struct().column(1);
    assert_eq!(int8.data_type(), &ArrowType::Int8);
    assert_eq!(int8.null_count(), 4);
    assert_eq!(texts(&shredded), texts(&rows));
}

#[test]
fn values_without_a_common_type_are_not_shredded() {
    for rows in [
        column(&[Some("[1]"), Some("[2]")]),
        column(&[Some("1"), Some(r#""a""#), Some("true"), Some("{}")]),
        column(&[None, None]),
        column(&[Some("{}"), Some("{}")]),
    ] {
        assert!(shredded(&rows, &rows).is_none());
    }
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|value| value.to_string()),
        (-3i8..3).prop_map(|value| value.to_string()),
        (-1e6..1e6).prop_map(|value: f64| format!("{value:?}")),
        "[a-c]{0,3}".prop_map(|text| format!("{text:?}")),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::btree_map("[a-d]", inner, 0..4).prop_map(|fields| {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, value)| format!("{name:?}:{value}"))
                    .collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

proptest! {
    /// protocol: beyond:variant-shredding.1
    #[test]
    fn any_values_are_read_back(
        first in prop::collection::vec(prop::option::of(json()), 1..6),
        later in prop::collection::vec(prop::option::of(json()), 0..6),
    ) {
        let of = |texts: &[Option<String>]| column(&texts.iter().map(Option::as_deref).collect::<Vec<_>>());
        let (first, later) = (of(&first), of(&later));
        for rows in [&first, &later] {
            if let Some(shredded) = shredded(&first, rows) {
                prop_assert_eq!(texts(&shredded), texts(rows));
            }
        }
    }
}
