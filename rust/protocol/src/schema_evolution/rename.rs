//! Renames a column in the schema and in the column metadata that refer to it.

use serde_json::{Map, Value};

use super::find::{Found, field_mut, fields_mut, lost};
use super::names::ensure_new_name;
use crate::Result;
use crate::column_mapping::ColumnMappingMode;
use crate::schema::StructType;

/// Metadata whose values are paths that begin with the name of the field.
const PATHS: [&str; 3] = [
    "delta.columnMapping.nested.ids",
    "parquet.field.nested.ids",
    "__COLLATIONS",
];

/// Renames a field. Data files are not affected, because the physical name does not change.
pub(crate) fn rename(
    schema: &mut StructType,
    found: &Found,
    to: &str,
    mode: ColumnMappingMode,
) -> Result<()> {
    found.ensure_field("renamed")?;
    let (name, parents) = found.split()?;
    let siblings: Vec<String> = fields_mut(schema, parents)
        .ok_or_else(lost)?
        .iter()
        .map(|field| field.name.clone())
        .filter(|sibling| sibling != name)
        .collect();
    ensure_new_name(to, siblings.iter().map(String::as_str), mode)?;
    let field = field_mut(schema, &found.field)?;
    for key in PATHS {
        if let Some(Value::Object(paths)) = field.metadata.get_mut(key) {
            *paths = paths
                .iter()
                .map(|(path, value)| (under(path, name, to), value.clone()))
                .collect::<Map<_, _>>();
        }
    }
    to.clone_into(&mut field.name);
    Ok(())
}

/// Replaces the name at the start of a path.
fn under(path: &str, name: &str, to: &str) -> String {
    match path.strip_prefix(name) {
        Some("") => to.to_owned(),
        Some(below) if below.starts_with('.') => format!("{to}{below}"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ColumnName;
    use crate::schema_evolution::find::find;

    #[test]
    fn the_paths_in_a_columns_metadata_follow_its_name() -> Result<()> {
        let mut schema = StructType::from_json(
            r#"{"type":"struct","fields":[
                {"name":"s","nullable":true,"metadata":{},"type":{"type":"struct","fields":[
                    {"name":"l","nullable":true,"type":{"type":"array","elementType":"string","containsNull":true},"metadata":{
                        "parquet.field.nested.ids":{"p-l.element":7,"l.element":8,"ll.element":9},
                        "__COLLATIONS":{"l":"a","l.element":"b"}}},
                    {"name":"k","type":"long","nullable":true,"metadata":{}}]}}]}"#,
        )?;
        let list = find(&schema, &ColumnName::parse("s.l")?)?;
        rename(&mut schema, &list, "n", ColumnMappingMode::Name)?;
        let text = schema.to_json();
        assert!(
            text.contains(r#"{"p-l.element":7,"n.element":8,"ll.element":9}"#),
            "{text}"
        );
        assert!(text.contains(r#"{"n":"a","n.element":"b"}"#), "{text}");
        let renamed = find(&schema, &ColumnName::parse("s.n")?)?;
        // Changing the case of its own name is allowed; taking the name of a sibling is not.
        rename(&mut schema, &renamed, "N", ColumnMappingMode::Name)?;
        let renamed = find(&schema, &ColumnName::parse("s.N")?)?;
        for taken in ["K", "k", ""] {
            assert!(
                rename(&mut schema, &renamed, taken, ColumnMappingMode::Name).is_err(),
                "{taken}"
            );
        }
        let element = find(&schema, &ColumnName::parse("s.n.element")?)?;
        assert!(rename(&mut schema, &element, "x", ColumnMappingMode::Name).is_err());
        Ok(())
    }
}
