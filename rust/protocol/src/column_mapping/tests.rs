//! Properties of column mapping.

use serde_json::{Value, json};

use super::field_metadata::NESTED_IDS;
use super::*;
use crate::ErrorKind;
use crate::actions::Protocol;
use crate::samples::metadata;

fn column(name: &str, data_type: &Value, metadata: &Value) -> Value {
    json!({"name": name, "type": data_type, "nullable": true, "metadata": metadata})
}

fn mapped(name: &str, data_type: &Value, id: i64, physical: &str) -> Value {
    column(name, data_type, &json!({COLUMN_ID: id, PHYSICAL_NAME: physical}))
}

fn structure(fields: &[Value]) -> Value {
    json!({"type": "struct", "fields": fields})
}

fn schema(fields: &[Value]) -> Result<StructType> {
    StructType::from_json(&structure(fields).to_string())
}

fn protocol(reader: i32, features: Option<&[&str]>) -> Protocol {
    Protocol {
        min_reader_version: reader,
        min_writer_version: 7,
        reader_features: features.map(|names| names.iter().map(ToString::to_string).collect()),
        writer_features: Some(vec!["columnMapping".to_owned()]),
    }
}

/// protocol: column-mapping.1, reader-requirements-for-column-mapping.1
#[test]
fn the_mode_counts_where_the_protocol_has_the_feature() -> Result<()> {
    for (text, mode) in [
        ("none", ColumnMappingMode::None),
        ("id", ColumnMappingMode::Id),
        ("name", ColumnMappingMode::Name),
        ("NAME", ColumnMappingMode::Name),
    ] {
        let properties = metadata(&[(MODE, text)]);
        for supporting in [protocol(2, None), protocol(3, Some(&["columnMapping"]))] {
            assert_eq!(
                ColumnMappingMode::of(&crate::samples::table(&supporting, &properties))?,
                mode,
                "{text}"
            );
        }
        for other in [protocol(1, None), protocol(3, Some(&[]))] {
            assert_eq!(
                ColumnMappingMode::of(&crate::samples::table(&other, &properties))?,
                ColumnMappingMode::None
            );
        }
    }
    let wrong = ColumnMappingMode::of(&crate::samples::table(
        &protocol(2, None),
        &metadata(&[(MODE, "position")]),
    ));
    assert!(wrong.is_err_and(|error| error.kind() == ErrorKind::CorruptLog));
    assert_eq!(
        ColumnMappingMode::of(&crate::samples::table(&protocol(2, None), &metadata(&[])))?,
        ColumnMappingMode::None
    );
    Ok(())
}

/// Structs in arrays and maps are mapped too, and only names change.
#[test]
fn the_physical_schema_has_the_names_of_the_log_at_every_depth() -> Result<()> {
    let inner = structure(&[mapped("d", &json!("integer"), 3, "p-d")]);
    let array = json!({"type": "array", "elementType": inner, "containsNull": true});
    let map = json!({"type": "map", "keyType": inner, "valueType": array, "valueContainsNull": true});
    let logical = schema(&[
        mapped("a", &json!("long"), 1, "p-a"),
        mapped("s", &inner, 2, "p-s"),
        mapped("m", &map, 4, "p-m"),
    ])?;
    let physical = physical_schema(&logical, ColumnMappingMode::Id);
    let mut parts = Vec::new();
    physical.for_each_part(&mut |path, _| parts.push(path.to_owned()));
    assert_eq!(
        parts,
        [
            "p-a",
            "p-s",
            "p-s.p-d",
            "p-m",
            "p-m.key",
            "p-m.key.p-d",
            "p-m.value",
            "p-m.value.element",
            "p-m.value.element.p-d"
        ]
    );
    assert_eq!(physical_schema(&logical, ColumnMappingMode::None), logical);
    assert_eq!(
        logical_path(&logical, &["p-s", "p-d"], ColumnMappingMode::Name),
        Some(vec!["s", "d"])
    );
    assert_eq!(logical_path(&logical, &["s", "d"], ColumnMappingMode::Name), None);
    assert_eq!(
        logical_path(&logical, &["s", "d"], ColumnMappingMode::None),
        Some(vec!["s", "d"])
    );
    assert_eq!(
        logical_path(&logical, &["p-a", "x"], ColumnMappingMode::Name),
        None
    );
    assert_eq!(
        logical_path(&logical, &[] as &[&str], ColumnMappingMode::Name),
        None
    );
    Ok(())
}

/// Both keys are accepted, with either name as the start of the path.
#[test]
fn nested_ids_are_read_in_both_spellings() -> Result<()> {
    for key in NESTED_IDS {
        for name in ["x.y", "p-x"] {
            let ids = json!({COLUMN_ID: 1, PHYSICAL_NAME: "p-x", key: {
                (format!("{name}.element")): 100,
                (format!("{name}.element.element")): 101,
                "other.element": 7,
            }});
            let field = column(
                "x.y",
                &json!({"type": "array", "containsNull": true,
                    "elementType": {"type": "array", "elementType": "integer", "containsNull": true}}),
                &ids,
            );
            let schema = schema(&[field])?;
            let found: Vec<(&str, i32)> = schema.fields.iter().flat_map(nested_ids).collect();
            assert_eq!(found, [("element", 100), ("element.element", 101)], "{key}");
        }
    }
    Ok(())
}

#[test]
fn names_and_ids_that_do_not_report_columns_apart_are_damage() -> Result<()> {
    let long = json!("long");
    let nested = |id: i64| structure(&[mapped("d", &long, id, "p-a")]);
    let good = schema(&[mapped("a", &long, 1, "p-a"), mapped("s", &nested(3), 2, "p-s")])?;
    let limit = metadata(&[(MAX_COLUMN_ID, "3")]);
    validate(&good, &limit, ColumnMappingMode::Id)?;
    validate(&good, &metadata(&[]), ColumnMappingMode::Name)?;
    // In mode `name`, ids are not used.
    let named = schema(&[column("a", &long, &json!({PHYSICAL_NAME: "p-a"}))])?;
    validate(&named, &limit, ColumnMappingMode::Name)?;
    let bare = schema(&[column("a", &long, &json!({}))])?;
    validate(&bare, &limit, ColumnMappingMode::None)?;
    let elements = json!({COLUMN_ID: 1, PHYSICAL_NAME: "p-a", "parquet.field.nested.ids": {"a.element": 1}});
    let array = json!({"type": "array", "elementType": "long", "containsNull": true});
    for (fields, mode, field) in [
        (vec![column("a", &long, &json!({}))], ColumnMappingMode::Name, "a"),
        (
            vec![column("a", &long, &json!({PHYSICAL_NAME: "", COLUMN_ID: 1}))],
            ColumnMappingMode::Name,
            "a",
        ),
        (
            vec![column("a", &long, &json!({PHYSICAL_NAME: "p"}))],
            ColumnMappingMode::Id,
            "a",
        ),
        (
            vec![column("a", &long, &json!({PHYSICAL_NAME: "p", COLUMN_ID: "one"}))],
            ColumnMappingMode::Name,
            "a",
        ),
        (
            vec![mapped("a", &long, 4_294_967_297, "p")],
            ColumnMappingMode::Id,
            "a",
        ),
        (vec![mapped("a", &long, 4, "p")], ColumnMappingMode::Id, "a"),
        (
            vec![mapped("a", &long, 1, "p"), mapped("b", &long, 2, "p")],
            ColumnMappingMode::Name,
            "b",
        ),
        (
            vec![mapped("a", &long, 1, "p"), mapped("s", &nested(1), 2, "q")],
            ColumnMappingMode::Id,
            "s.d",
        ),
        (
            vec![column("a", &array, &elements)],
            ColumnMappingMode::Id,
            "a.element",
        ),
    ] {
        let error = validate(&schema(&fields)?, &limit, mode).err();
        assert!(
            error.as_ref().is_some_and(|error| {
                error.kind() == ErrorKind::CorruptLog && error.context().contains(&("field", field.into()))
            }),
            "{fields:?}: {error:?}"
        );
    }
    assert!(
        validate(
            &good,
            &metadata(&[(MAX_COLUMN_ID, "many")]),
            ColumnMappingMode::Id
        )
        .is_err()
    );
    Ok(())
}
