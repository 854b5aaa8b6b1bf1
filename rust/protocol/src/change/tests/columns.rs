//! Changes of columns and of what depends on them.

use serde_json::json;

use super::{add, changed, column, constraint, drop, mapped, new, plain, rename, set, widen};
use crate::TableConfiguration;
use crate::actions::DomainMetadata;
use crate::change::{IfAbsent, TableChange};
use crate::column_mapping::{MAX_COLUMN_ID, field_id, physical_name};
use crate::error::ContextValue;
use crate::features::supports_for_writers;
use crate::schema::{DataType, PrimitiveType, StructType};
use crate::schema_evolution::{Place, find};
use crate::{ErrorKind, Result};

/// The name of a field with its physical name and id.
type Identity = (String, Option<String>, Option<i32>);

fn names(table: &TableConfiguration) -> Result<Vec<Identity>> {
    let schema = table.schema()?;
    let mut found = Vec::new();
    let mut take = |fields: &StructType| {
        found.extend(fields.fields.iter().map(|field| {
            (
                field.name.clone(),
                physical_name(field).map(str::to_owned),
                field_id(field),
            )
        }));
    };
    take(&schema);
    schema.for_each_part(&mut |_, part| {
        if let DataType::Struct(fields) = part {
            take(fields);
        }
    });
    Ok(found)
}

/// protocol: column-mapping.1, writer-requirements-for-column-mapping.3
#[test]
fn an_old_table_is_mapped_under_the_names_that_its_files_have() -> Result<()> {
    let table = mapped()?;
    assert_eq!(table.metadata().property(MAX_COLUMN_ID), Some("7"));
    for (name, physical, id) in names(&table)? {
        assert_eq!(physical.as_deref(), Some(name.as_str()));
        assert!(id.is_some());
    }
    assert_eq!(
        (
            table.protocol().min_reader_version,
            table.protocol().min_writer_version
        ),
        (2, 7)
    );
    assert!(supports_for_writers(table.protocol(), "columnMapping"));
    // The protocol already includes it at writer version 5 or 6.
    let mut old = plain();
    old.set_protocol(crate::samples::protocol(2, 6, &[]));
    let table = changed(&old, &[set(&[("delta.columnMapping.mode", "name")])])?;
    assert_eq!(table.protocol(), old.protocol());
    // Column mapping can be disabled as long as no column was renamed, added or dropped.
    let back = changed(
        &mapped()?,
        &[TableChange::UnsetProperties(
            vec!["delta.columnMapping.mode".to_owned()],
            IfAbsent::Error,
        )],
    )?;
    assert_eq!(
        (back.schema()?, &back.metadata().configuration),
        (plain().schema()?, &plain().metadata().configuration)
    );
    for other in [rename("id", "key"), drop("id"), add("n", PrimitiveType::Long)] {
        let table = changed(&mapped()?, &[other])?;
        for mode in ["none", "id"] {
            let error = changed(&table, &[set(&[("delta.columnMapping.mode", mode)])]).err();
            assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::SchemaMismatch));
        }
    }
    Ok(())
}

/// protocol: writer-requirements-for-column-mapping.3
#[test]
fn a_new_column_of_a_mapped_table_has_a_name_and_an_id_that_no_client_had() -> Result<()> {
    let inner = DataType::Struct(StructType {
        fields: vec![new("i", PrimitiveType::Long)],
    });
    let table = changed(
        &mapped()?,
        &[
            add("n", inner),
            TableChange::AddColumn {
                field: new("w", PrimitiveType::String),
                within: Some(column("L.element")),
                place: Place::First,
            },
            drop("n"),
            add("n", PrimitiveType::Long),
            add("a column; with {all} of it=", PrimitiveType::Long),
        ],
    )?;
    let mut new: Vec<_> = names(&table)?
        .into_iter()
        .filter(|(.., id)| *id > Some(7))
        .collect();
    new.sort_by_key(|(.., id)| *id);
    let fields_of_columns: Vec<(&str, &str, i32)> = new
        .iter()
        .map(|(name, physical, id)| {
            (
                name.as_str(),
                physical.as_deref().unwrap_or_default(),
                id.unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(
        fields_of_columns,
        [
            ("w", "col-u3", 10),
            ("n", "col-u4", 11),
            ("a column; with {all} of it=", "col-u5", 12)
        ]
    );
    assert_eq!(table.metadata().property(MAX_COLUMN_ID), Some("12"));
    let element = find(&*table.schema()?, &column("l.element"))?;
    assert_eq!(element.data_type.to_string(), "struct<w:string,z:tinyint>");
    Ok(())
}

#[test]
fn a_renamed_column_is_followed_by_all_that_names_it() -> Result<()> {
    let table = changed(
        &mapped()?,
        &[
            set(&[("delta.dataSkippingStatsColumns", "id,s.x")]),
            rename("P", "part"),
            rename("s.x", "my x"),
            rename("id", "ID"),
        ],
    )?;
    assert_eq!(table.metadata().partition_columns, ["part"]);
    assert_eq!(
        table.metadata().property("delta.dataSkippingStatsColumns"),
        Some("ID,s.`my x`")
    );
    let names = names(&table)?;
    for (name, physical) in [("part", "p"), ("my x", "x"), ("ID", "id")] {
        assert!(
            names
                .iter()
                .any(|(n, p, _)| n == name && p.as_deref() == Some(physical)),
            "{name}"
        );
    }
    Ok(())
}

/// The configuration of a table, the change, and the column in the error.
///
/// protocol: generated-columns.3
#[test]
fn dependencies_of_a_column_prevent_its_removal() -> Result<()> {
    let widening = set(&[("delta.enableTypeWidening", "true")]);
    let generated = |table: &TableConfiguration, expression: &str| {
        let mut table = table.clone();
        table.metadata_mut().schema_string = table.metadata().schema_string.replacen(
            r#""name":"s","#,
            &format!(r#""name":"g","type":"integer","nullable":true,"metadata":{{"delta.generationExpression":"{expression}","delta.columnMapping.id":77,"delta.columnMapping.physicalName":"g"}}}},{{"name":"s","#),
            1,
        );
        table.set_property(MAX_COLUMN_ID, "77");
        table.require(&["generatedColumns"]).map(|()| table)
    };
    let mapped = mapped()?;
    let checked = changed(&mapped, &[constraint("id > 0 AND s.x > 1"), widening.clone()])?;
    let made = generated(&changed(&mapped, std::slice::from_ref(&widening))?, "year(s.y)")?;
    let mut clustered = mapped.clone();
    clustered.metadata_mut().partition_columns.clear();
    let clustered = changed(
        &clustered,
        &[TableChange::SetClustering(vec![column("s.x"), column("p")])],
    )?;
    for (table, one, field) in [
        (&checked, rename("id", "key"), "id"),
        (&checked, drop("id"), "id"),
        (&checked, widen("id", PrimitiveType::Long), "id"),
        (&checked, drop("s"), "s"),
        (&checked, rename("s.x", "w"), "s.x"),
        (&checked, widen("s.x", PrimitiveType::Double), "s.x"),
        (&made, rename("s.y", "w"), "s.y"),
        (&made, drop("s"), "s"),
        (&made, widen("s.y", PrimitiveType::TimestampNtz), "s.y"),
        (&made, widen("g", PrimitiveType::Long), "g"),
        (&mapped, drop("p"), "p"),
        (&clustered, drop("s.x"), "s.x"),
        (&clustered, drop("S"), "s"),
        (&clustered, drop("p"), "p"),
        (&plain(), rename("id", "key"), "id"),
        (&plain(), drop("id"), "id"),
        (&mapped, widen("id", PrimitiveType::Long), "id"),
        (&checked, widen("s.y", PrimitiveType::Timestamp), "s.y"),
    ] {
        let error = changed(table, std::slice::from_ref(&one)).err();
        assert_eq!(
            error.as_ref().map(|error| error.kind()),
            Some(ErrorKind::SchemaMismatch),
            "{one:?}"
        );
        let named = error.as_ref().is_some_and(|error| {
            error.hint_text().is_some() && error.context().contains(&("field", ContextValue::from(field)))
        });
        assert!(named, "{one:?}: {error:?}");
    }
    for (table, one) in [
        (&checked, rename("s.y", "w")),
        (&checked, drop("s.y")),
        (&checked, drop("l")),
        (&checked, widen("l.element.z", PrimitiveType::Long)),
        (&checked, widen("p", PrimitiveType::Long)),
        (&made, drop("g")),
        (&made, rename("g", "h")),
        (&clustered, rename("s.x", "w")),
        (&clustered, drop("s.y")),
    ] {
        changed(table, std::slice::from_ref(&one))?;
    }
    // Clustering is not affected, because it uses physical names.
    let renamed = changed(&clustered, &[rename("s.x", "w")])?;
    let domain = renamed.domain(crate::clustering::DOMAIN).cloned();
    let columns = domain
        .map(|domain| crate::clustering::columns(&domain, &*renamed.schema()?, renamed.column_mapping()?));
    assert_eq!(columns.transpose()?, Some(vec![column("s.w"), column("p")]));
    Ok(())
}

#[test]
fn the_last_data_column_cannot_be_dropped() -> Result<()> {
    let table = changed(&mapped()?, &[drop("l"), drop("s.x")])?;
    assert!(changed(&table, &[drop("s.y")]).is_err());
    let table = changed(&table, &[drop("s")])?;
    assert_eq!(table.schema()?.names().collect::<Vec<_>>(), ["id", "p"]);
    assert!(changed(&table, &[drop("id")]).is_err());
    Ok(())
}

/// protocol: default-columns.1, default-columns.2
#[test]
fn a_default_requires_its_column_and_its_feature() -> Result<()> {
    let default = |text: &str| TableChange::SetDefault(column("n"), Some(text.to_owned()));
    let mut with_default = new("n", PrimitiveType::Long);
    with_default
        .metadata
        .insert("CURRENT_DEFAULT".to_owned(), json!("7"));
    let at_once = TableChange::AddColumn {
        field: with_default,
        within: None,
        place: Place::Last,
    };
    assert!(changed(&plain(), &[at_once]).is_err());
    let table = changed(&plain(), &[add("n", PrimitiveType::Long), default("7")])?;
    assert!(supports_for_writers(table.protocol(), "allowColumnDefaults"));
    assert_eq!(table.protocol().min_writer_version, 7);
    let without = changed(&table, &[TableChange::SetDefault(column("n"), None)])?;
    assert_eq!(
        without.metadata(),
        changed(&plain(), &[add("n", PrimitiveType::Long)])?.metadata()
    );
    assert_eq!(without.protocol(), table.protocol());
    Ok(())
}

/// protocol: writer-requirements-for-clustered-table.8, writer-requirements-for-domain-metadata.1
#[test]
fn unknown_domains_are_retained() -> Result<()> {
    let mut table = plain();
    table.require(&["domainMetadata"])?;
    let odd = DomainMetadata {
        domain: "delta.fromTheFuture".to_owned(),
        configuration: "?".to_owned(),
        removed: false,
    };
    table = table.with_domains([odd.clone()]);
    let after = changed(
        &table,
        &[
            add("n", PrimitiveType::Long),
            set(&[("delta.appendOnly", "true")]),
        ],
    )?;
    assert_eq!(Vec::from_iter(after.domains().values()), [&odd]);
    let clustered = changed(&table, &[TableChange::SetClustering(vec![column("id")])]).err();
    assert_eq!(
        clustered.map(|error| error.kind()),
        Some(ErrorKind::SchemaMismatch)
    );
    Ok(())
}

/// protocol: identity-columns.4, identity-columns.6, identity-columns.8
#[test]
fn how_the_values_of_an_identity_column_are_handed_out_never_changes() -> Result<()> {
    let mut table = mapped()?;
    let keys =
        r#""delta.identity.start":7,"delta.identity.step":2,"delta.identity.allowExplicitInsert":false"#;
    table.metadata_mut().schema_string = table.metadata().schema_string.replacen(
        r#"{"name":"p","#,
        &format!(r#"{{"name":"i","type":"long","nullable":true,"metadata":{{{keys},"delta.columnMapping.id":99,"delta.columnMapping.physicalName":"i"}}}},{{"name":"p","#),
        1,
    );
    table.set_property(MAX_COLUMN_ID, "99");
    table.require(&["identityColumns"])?;
    let after = changed(
        &table,
        &[
            rename("i", "number"),
            TableChange::MoveColumn(column("number"), Place::First),
            TableChange::SetComment(column("number"), Some("of the row".to_owned())),
            TableChange::MergeSchema(StructType {
                fields: vec![
                    new("number", PrimitiveType::Integer),
                    new("n", PrimitiveType::Long),
                ],
            }),
            set(&[("delta.enableTypeWidening", "true")]),
        ],
    )?;
    assert!(after.metadata().schema_string.contains(keys));
    let identity = |table: &TableConfiguration, name: &str| {
        table
            .schema()?
            .field(name)
            .map(|field| field.identity())
            .transpose()
    };
    assert_eq!(identity(&after, "number")?, identity(&table, "i")?);
    for refused in [
        widen(
            "number",
            PrimitiveType::Decimal {
                precision: 20,
                scale: 0,
            },
        ),
        TableChange::SetDefault(column("number"), Some("7".to_owned())),
        add("NUMBER", PrimitiveType::Long),
    ] {
        assert!(
            changed(&after, std::slice::from_ref(&refused)).is_err(),
            "{refused:?}"
        );
    }
    Ok(())
}
