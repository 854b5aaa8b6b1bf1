//! The columns of a table's schema that data files store: all except those of type `void`.
//!
//! Protocol: *Void Type*.

use deltaic_protocol::actions::Protocol;
use deltaic_protocol::features::supports_for_writers;
use deltaic_protocol::schema::{DataType, PrimitiveType, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

/// The schema without its `void` columns and fields, which data files omit. Partition columns stay: their values, NULL if
/// the column is `void`, are in the log.
pub(crate) fn without_void(schema: &StructType, partition_columns: &[String]) -> StructType {
    let stored = |field: &StructField| match &field.data_type {
        DataType::Struct(fields) => StructField {
            data_type: DataType::Struct(without_void(fields, &[])),
            ..field.clone()
        },
        _ => field.clone(),
    };
    StructType {
        fields: schema
            .fields
            .iter()
            .filter(|field| partition_columns.contains(&field.name) || !is_void(&field.data_type))
            .map(stored)
            .collect(),
    }
}

/// Verifies that data files can hold rows of a table with this schema.
///
/// # Errors
///
/// `UnsupportedFeature` names the column: an empty struct, `void` where Parquet needs a type or where
/// NULL is forbidden, or a table whose data columns are all `void`.
pub(crate) fn ensure_storable(schema: &StructType, partition_columns: &[String]) -> Result<()> {
    let mut found = Ok(());
    schema.for_each_part(&mut |path, part| {
        if found.is_ok() {
            found = ensure_part(part, path);
        }
    });
    found?;
    ensure_not_null_has_type(schema)?;
    let mut data = schema
        .fields
        .iter()
        .filter(|field| !partition_columns.contains(&field.name))
        .peekable();
    if data.peek().is_some_and(|field| is_void(&field.data_type))
        && data.all(|field| is_void(&field.data_type))
    {
        let message = "every data column of the table is void, which data files do not support".to_owned();
        return Err(unsupported("void", message).hint("add a column of another type first"));
    }
    Ok(())
}

/// Verifies that the protocol allows the variants of a schema.
///
/// # Errors
///
/// `SchemaMismatch` names the column of a variant that the protocol does not have.
pub(super) fn ensure_variants_are_listed(schema: &StructType, protocol: &Protocol) -> Result<()> {
    let mut found = None;
    schema.for_each_part(&mut |path, part| {
        if found.is_none() && part.as_primitive() == Some(PrimitiveType::Variant) {
            found = Some(path.to_owned());
        }
    });
    match found.filter(|_| !supports_for_writers(protocol, "variantType")) {
        None => Ok(()),
        Some(path) => Err(Error::new(
            ErrorKind::SchemaMismatch,
            format!("the column {path} is a variant, but the protocol lacks the feature variantType"),
        )
        .with("field", path)
        .hint("add the feature first: table.alter(AddFeature(\"variantType\"))")),
    }
}

fn ensure_part(part: &DataType, path: &str) -> Result<()> {
    let refused = match part {
        DataType::Struct(fields) if fields.fields.is_empty() => unsupported(
            "struct<>",
            format!("{path} is a struct without fields, which Parquet does not have"),
        )
        .hint("add a field to the struct first, or drop it"),
        DataType::Struct(fields)
            if fields
                .fields
                .iter()
                .all(|field| is_empty_in_files(&field.data_type)) =>
        {
            unsupported(
                "void",
                format!("every field of {path} is void, and Parquet has no structs without fields"),
            )
            .hint("add a field of another type to the struct first, or drop it")
        }
        DataType::Array(array) if has_void(&array.element_type) => within_collection(path),
        DataType::Map(map) if has_void(&map.key_type) || has_void(&map.value_type) => within_collection(path),
        _ => return Ok(()),
    };
    Err(refused.with("field", path))
}

/// A NOT NULL column of type `void` has no value that a row could hold.
fn ensure_not_null_has_type(schema: &StructType) -> Result<()> {
    let check = |fields: &StructType, above: &str| {
        let not_null = |field: &&StructField| !field.nullable && is_void(&field.data_type);
        match fields.fields.iter().find(not_null) {
            Some(field) => {
                let path = format!("{above}{}", field.name);
                let message = format!("the column {path} is void and NOT NULL, so that no row fits it");
                Err(unsupported("void", message).with("field", path))
            }
            None => Ok(()),
        }
    };
    let mut found = check(schema, "");
    schema.for_each_part(&mut |path, part| {
        if let (Ok(()), DataType::Struct(fields)) = (&found, part) {
            found = check(fields, &format!("{path}."));
        }
    });
    found
}

fn within_collection(path: &str) -> Error {
    unsupported(
        "void",
        format!("{path} contains void, which arrays and maps in data files do not support"),
    )
    .hint("change the type of the elements first, or drop the column")
}

fn unsupported(feature: &str, message: String) -> Error {
    Error::new(ErrorKind::UnsupportedFeature, message).with("feature", feature)
}

fn is_void(data_type: &DataType) -> bool {
    data_type.as_primitive() == Some(PrimitiveType::Void)
}

/// Whether a data file has no column for a field of this type.
fn is_empty_in_files(data_type: &DataType) -> bool {
    match data_type {
        DataType::Struct(fields) => fields
            .fields
            .iter()
            .all(|field| is_empty_in_files(&field.data_type)),
        other => is_void(other),
    }
}

fn has_void(data_type: &DataType) -> bool {
    match data_type {
        DataType::Struct(fields) => fields.fields.iter().any(|field| has_void(&field.data_type)),
        DataType::Array(array) => has_void(&array.element_type),
        DataType::Map(map) => has_void(&map.key_type) || has_void(&map.value_type),
        other => is_void(other),
    }
}
