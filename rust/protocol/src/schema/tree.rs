//! Displays a schema as a tree.

use std::fmt;

use super::{DataType, StructType};

impl fmt::Display for StructType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("root\n")?;
        write_fields(f, self, "")
    }
}

fn write_fields(f: &mut fmt::Formatter<'_>, fields: &StructType, indent: &str) -> fmt::Result {
    for field in &fields.fields {
        write_part(f, indent, &field.name, &field.data_type, field.nullable)?;
    }
    Ok(())
}

fn write_part(
    f: &mut fmt::Formatter<'_>,
    indent: &str,
    name: &str,
    data_type: &DataType,
    nullable: bool,
) -> fmt::Result {
    let kind = match data_type {
        DataType::Primitive(primitive) => primitive.delta_name(),
        DataType::Struct(_) => "struct".to_owned(),
        DataType::Array(_) => "array".to_owned(),
        DataType::Map(_) => "map".to_owned(),
        DataType::Unknown(_) => data_type.to_string(),
    };
    let not_null = if nullable { "" } else { " not null" };
    writeln!(f, "{indent}|-- {name}: {kind}{not_null}")?;
    let below = format!("{indent}|   ");
    match data_type {
        DataType::Primitive(_) | DataType::Unknown(_) => Ok(()),
        DataType::Struct(fields) => write_fields(f, fields, &below),
        DataType::Array(array) => write_part(f, &below, "element", &array.element_type, array.contains_null),
        DataType::Map(map) => {
            write_part(f, &below, "key", &map.key_type, false)?;
            write_part(f, &below, "value", &map.value_type, map.value_contains_null)
        }
    }
}
