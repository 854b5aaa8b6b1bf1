//! The schema of all files of a folder.
//!
//! Protocol: *Schema Serialization Format*. Without type widening, every file has the types of the table.

use arrow_schema::{DataType as ArrowType, Fields, TimeUnit};
use deltaic_protocol::schema::{DataType, PrimitiveType, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

/// Adds the columns of a file to a schema. Columns are matched by name, ignoring case.
///
/// # Errors
///
/// `SchemaMismatch` with the `field` if a type differs. Integers of up to 32 bits are stored alike, so the widest of
/// them is the type of the table.
pub(super) fn merge(schema: &mut StructType, file: &StructType) -> Result<()> {
    merge_fields(schema, file, "")
}

fn merge_fields(known: &mut StructType, given: &StructType, above: &str) -> Result<()> {
    for field in &given.fields {
        let path = below(above, &field.name);
        let name = field.name.to_lowercase();
        match known
            .fields
            .iter_mut()
            .find(|other| other.name.to_lowercase() == name)
        {
            Some(other) => merge_type(&mut other.data_type, &field.data_type, &path)?,
            None => known.fields.push(field.clone()),
        }
    }
    Ok(())
}

fn merge_type(known: &mut DataType, given: &DataType, path: &str) -> Result<()> {
    if known == given {
        return Ok(());
    }
    match (&mut *known, given) {
        (DataType::Struct(one), DataType::Struct(other)) => merge_fields(one, other, path),
        (DataType::Array(one), DataType::Array(other)) => merge_type(
            &mut one.element_type,
            &other.element_type,
            &below(path, "element"),
        ),
        (DataType::Map(one), DataType::Map(other)) => {
            merge_type(&mut one.key_type, &other.key_type, &below(path, "key"))?;
            merge_type(&mut one.value_type, &other.value_type, &below(path, "value"))
        }
        (DataType::Primitive(one), DataType::Primitive(other)) => match (rank(*one), rank(*other)) {
            (Some(first), Some(second)) => {
                if second > first {
                    *one = *other;
                }
                Ok(())
            }
            _ => Err(differs(known, given, path)),
        },
        _ => Err(differs(known, given, path)),
    }
}

/// The order of the integers that Parquet stores in 32 bits.
fn rank(of: PrimitiveType) -> Option<u8> {
    match of {
        PrimitiveType::Byte => Some(0),
        PrimitiveType::Short => Some(1),
        PrimitiveType::Integer => Some(2),
        _ => None,
    }
}

fn differs(known: &DataType, given: &DataType, path: &str) -> Error {
    Error::new(
        ErrorKind::SchemaMismatch,
        format!("the column {path} is {given} in this file and {known} in files before it"),
    )
    .with("field", path)
    .hint("write the file again with the type of the others, or move it out of the folder")
}

fn below(above: &str, name: &str) -> String {
    match above.is_empty() {
        true => name.to_owned(),
        false => format!("{above}.{name}"),
    }
}

/// Makes every column, field, element and value nullable: another file may lack it.
pub(super) fn nullable(schema: &mut StructType) {
    for field in &mut schema.fields {
        field.nullable = true;
        nullable_type(&mut field.data_type);
    }
}

fn nullable_type(of: &mut DataType) {
    match of {
        DataType::Struct(fields) => nullable(fields),
        DataType::Array(array) => {
            array.contains_null = true;
            nullable_type(&mut array.element_type);
        }
        DataType::Map(map) => {
            map.value_contains_null = true;
            nullable_type(&mut map.key_type);
            nullable_type(&mut map.value_type);
        }
        DataType::Primitive(_) | DataType::Unknown(_) => {}
    }
}

/// Verifies that no column is stored in a form that readers of Delta tables do not expect: times in nanoseconds, and
/// floating-point numbers of 16 bits.
///
/// # Errors
///
/// `SchemaMismatch` with the `field`.
pub(super) fn ensure_stored_as_delta(fields: &Fields) -> Result<()> {
    ensure_fields(fields, "")
}

fn ensure_fields(fields: &Fields, above: &str) -> Result<()> {
    for field in fields {
        ensure_type(field.data_type(), &below(above, field.name()))?;
    }
    Ok(())
}

fn ensure_type(of: &ArrowType, path: &str) -> Result<()> {
    let refused = |what: &str| {
        Err(Error::new(
            ErrorKind::SchemaMismatch,
            format!("{path} has {what}, which Delta tables do not have"),
        )
        .with("field", path)
        .hint("append the rows to a new table, which converts them"))
    };
    match of {
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => refused("timestamps in nanoseconds"),
        ArrowType::Float16 => refused("floating-point numbers of 16 bits"),
        ArrowType::UInt8 | ArrowType::UInt16 | ArrowType::UInt32 | ArrowType::UInt64 => {
            refused("unsigned integers")
        }
        ArrowType::Struct(fields) => ensure_fields(fields, path),
        ArrowType::List(element) | ArrowType::LargeList(element) | ArrowType::FixedSizeList(element, _) => {
            ensure_type(element.data_type(), &below(path, "element"))
        }
        ArrowType::Map(entries, _) => ensure_type(entries.data_type(), path),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaic_protocol::schema::StructField;

    fn of(fields: &[(&str, PrimitiveType)]) -> StructType {
        let fields = fields
            .iter()
            .map(|(name, of)| StructField::new(*name, (*of).into(), true));
        StructType {
            fields: fields.collect(),
        }
    }

    #[test]
    fn columns_are_united_and_types_must_agree() -> Result<()> {
        use PrimitiveType::{Byte, Integer, Long, Short, String};
        let mut schema = of(&[("a", Short), ("b", String)]);
        merge(&mut schema, &of(&[("c", Long), ("A", Byte)]))?;
        assert_eq!(schema, of(&[("a", Short), ("b", String), ("c", Long)]));
        merge(&mut schema, &of(&[("a", Integer)]))?;
        assert_eq!(schema, of(&[("a", Integer), ("b", String), ("c", Long)]));
        for other in [Long, String] {
            let error = merge(&mut schema.clone(), &of(&[("a", other)])).err();
            assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::SchemaMismatch));
        }
        let inner = |of_inner: PrimitiveType| StructType {
            fields: vec![StructField::new(
                "s",
                DataType::Struct(of(&[("x", of_inner)])),
                true,
            )],
        };
        let error = merge(&mut inner(Long), &inner(Integer)).err();
        assert!(error.is_some_and(|error| error.to_string().contains("s.x")));
        Ok(())
    }
}
