//! Types, the features that they need, and the guarantees that exclude some of them.

use super::{add, changed, column, constraint, drop, mapped, new, plain, rename, set, widen};
use crate::TableConfiguration;
use crate::change::TableChange;
use crate::column_mapping::MAX_COLUMN_ID;
use crate::features::supports_for_writers;
use crate::schema::{ArrayType, DataType, PrimitiveType, StructField, StructType};
use crate::schema_evolution::{Place, find};
use crate::{ErrorKind, Result};

/// protocol: beyond:type-widening.4, beyond:type-widening.5
#[test]
fn types_become_wider_only_where_the_table_states_so() -> Result<()> {
    let widening = set(&[("delta.enableTypeWidening", "true")]);
    let form = changed(
        &plain(),
        &[
            widening,
            widen("id", PrimitiveType::Long),
            widen("l.element.z", PrimitiveType::Short),
            widen("id", PrimitiveType::Long),
        ],
    )?;
    let id = find(&*form.schema()?, &column("id"))?;
    assert_eq!(id.data_type, PrimitiveType::Long.into());
    let changes = form.metadata().schema_string.matches("delta.typeChanges").count();
    assert_eq!(changes, 2);
    assert_eq!(
        form.protocol().reader_features,
        Some(vec!["typeWidening".to_owned()])
    );
    // The record remains after later changes and after widening is disabled.
    let later = changed(
        &form,
        &[
            set(&[
                ("delta.columnMapping.mode", "name"),
                ("delta.enableTypeWidening", "false"),
            ]),
            rename("id", "key"),
            TableChange::MoveColumn(column("key"), Place::Last),
            TableChange::SetComment(column("key"), Some("of the row".to_owned())),
        ],
    )?;
    assert_eq!(
        later
            .metadata()
            .schema_string
            .matches("delta.typeChanges")
            .count(),
        2
    );
    assert!(changed(&later, &[widen("key", PrimitiveType::Double)]).is_err());
    // A `void` column needs no permission to change its type.
    let void = changed(
        &plain(),
        &[add("v", PrimitiveType::Void), widen("v", PrimitiveType::String)],
    )?;
    assert_eq!(void.protocol(), plain().protocol());
    Ok(())
}

/// protocol: beyond:type-widening.6
#[test]
fn an_iceberg_compatible_table_remains_one() -> Result<()> {
    let mut start = mapped()?;
    start.metadata_mut().partition_columns.clear();
    let start = changed(&start, &[drop("l"), set(&[("delta.enableTypeWidening", "true")])])?;
    let list = DataType::Array(Box::new(ArrayType {
        element_type: PrimitiveType::Long.into(),
        contains_null: true,
    }));
    for promise in ["delta.enableIcebergCompatV1", "delta.enableIcebergCompatV2"] {
        let form = changed(&start, &[set(&[(promise, "true")])])?;
        for refused in [
            add("v", PrimitiveType::Void),
            widen("id", PrimitiveType::Double),
            widen("s.y", PrimitiveType::TimestampNtz),
            set(&[("delta.columnMapping.mode", "none")]),
            set(&[("delta.enableDeletionVectors", "true")]),
            set(&[
                ("delta.enableIcebergCompatV1", "true"),
                ("delta.enableIcebergCompatV2", "true"),
            ]),
            TableChange::MergeSchema(StructType {
                fields: vec![new("v", PrimitiveType::Variant)],
            }),
        ] {
            let error = changed(&form, std::slice::from_ref(&refused)).err();
            assert_eq!(
                error.map(|error| error.kind()),
                Some(ErrorKind::SchemaMismatch),
                "{promise} {refused:?}"
            );
        }
        changed(
            &form,
            &[
                widen("id", PrimitiveType::Long),
                widen("s.x", PrimitiveType::Double),
            ],
        )?;
        let listed = changed(&form, &[add("n", list.clone())]);
        assert_eq!(listed.is_ok(), promise.ends_with("V2"));
        if let Ok(listed) = listed {
            assert!(
                listed
                    .metadata()
                    .schema_string
                    .contains(r#""delta.columnMapping.nested.ids":{"col-u1.element":9}"#)
            );
            assert_eq!(listed.metadata().property(MAX_COLUMN_ID), Some("9"));
        }
    }
    Ok(())
}

/// protocol: timestamp-without-timezone-timestampntz.1, timestamp-without-timezone-timestampntz.2
#[test]
fn data_adds_its_columns_and_they_their_features() -> Result<()> {
    let data = |fields: Vec<StructField>| TableChange::MergeSchema(StructType { fields });
    let form = changed(
        &mapped()?,
        &[data(vec![
            new("ID", PrimitiveType::Short),
            new("t", PrimitiveType::TimestampNtz),
        ])],
    )?;
    assert!(supports_for_writers(form.protocol(), "timestampNtz"));
    assert_eq!(form.protocol().reader_features.as_ref().map(Vec::len), Some(2));
    assert_eq!(
        form.schema()?.names().collect::<Vec<_>>(),
        ["id", "p", "s", "l", "t"]
    );
    assert_eq!(form.metadata().property(MAX_COLUMN_ID), Some("8"));
    let same = changed(&form, &[data(vec![new("t", PrimitiveType::TimestampNtz)])])?;
    assert_eq!(same, form);
    let widening = changed(
        &plain(),
        &[set(&[("delta.enableTypeWidening", "true")]), constraint("id > 0")],
    )?;
    let p = vec![new("p", PrimitiveType::Long)];
    let id = vec![new("id", PrimitiveType::Long)];
    let s = |data_type| {
        vec![new(
            "s",
            DataType::Struct(StructType {
                fields: vec![new("x", data_type)],
            }),
        )]
    };
    for (form, fields, fits) in [
        (&plain(), s(PrimitiveType::Float), true),
        (&plain(), s(PrimitiveType::Double), false),
        (&widening, s(PrimitiveType::Double), true),
        (&widening, p, false),
        (&widening, id, false),
        (&plain(), vec![new("a b", PrimitiveType::Long)], false),
        (&mapped()?, vec![new("a b", PrimitiveType::Long)], true),
    ] {
        assert_eq!(changed(form, &[data(fields.clone())]).is_ok(), fits, "{fields:?}");
    }
    Ok(())
}

#[test]
fn a_spelling_that_would_be_lost_is_left_to_its_writer() -> Result<()> {
    let mut odd = plain();
    odd.metadata_mut().schema_string = odd
        .metadata()
        .schema_string
        .replace(r#""float""#, r#""string collate UTF8_LCASE""#);
    let error = changed(&odd, &[add("n", PrimitiveType::Long)]).err();
    assert_eq!(
        error.map(|error| error.kind()),
        Some(ErrorKind::UnsupportedFeature)
    );
    changed(&odd, &[set(&[("mine", "1")])])?;
    Ok(())
}

/// A change that gives a generated column another type than that of its expression is refused, but a table of
/// another writer that has such a column can be changed.
///
/// protocol: generated-columns.3
#[test]
fn generated_columns_keep_the_types_of_their_expressions() -> Result<()> {
    let generated = |data_type: DataType, expression: &str| -> Result<TableConfiguration> {
        let mut table = plain();
        let mut schema = table.schema_copy()?;
        let mut field = new("g", data_type);
        let key = "delta.generationExpression".to_owned();
        field.metadata.insert(key, expression.into());
        schema.fields.push(field);
        table.set_schema(&schema)?;
        table.require(&["generatedColumns"])?;
        Ok(table)
    };
    let structure = find(&*plain().schema()?, &column("s"))?.data_type;
    let within = |name: &str| TableChange::AddColumn {
        field: new("w", PrimitiveType::Long),
        within: Some(column(name)),
        place: Place::Last,
    };
    let merge = |name: &str| {
        let inner = StructType {
            fields: vec![new("w", PrimitiveType::Long)],
        };
        TableChange::MergeSchema(StructType {
            fields: vec![new(name, DataType::Struct(inner))],
        })
    };
    let copied = generated(structure, "s")?;
    for one in [within("s"), within("g"), merge("s"), merge("g")] {
        let error = changed(&copied, std::slice::from_ref(&one)).expect_err("the types differ");
        assert_eq!(error.kind(), ErrorKind::SchemaMismatch, "{one:?}");
        assert!(error.context().contains(&("field", "g".into())), "{one:?}");
        // The other writers of the table ignore the expression too.
        let mut ignored = copied.clone();
        ignored.set_protocol(crate::samples::protocol(1, 7, &["appendOnly"]));
        changed(&ignored, &[one])?;
    }
    changed(
        &copied,
        &[within("l.element"), TableChange::DropNotNull(column("id"))],
    )?;
    for other in [
        generated(PrimitiveType::Integer.into(), "s.x")?,
        generated(PrimitiveType::Integer.into(), "frobnicate(id)")?,
    ] {
        changed(&other, &[add("n", PrimitiveType::Long), within("s")])?;
    }
    Ok(())
}
