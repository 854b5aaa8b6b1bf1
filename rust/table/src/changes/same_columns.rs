//! Checks that a table still has the columns with which a streaming reader started.

use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration, Version};

use super::file_columns::{Last, Names};

/// Verifies that a table has the expected columns at a version, in any order. Nullability and comments may differ.
///
/// # Errors
///
/// `SchemaMismatch` with the column.
pub(super) fn ensure_same_columns(
    table: &TableConfiguration,
    rows: &Last<'_>,
    version: Version,
) -> Result<()> {
    let schema = table.schema()?;
    let names = Names {
        older: table.column_mapping()?,
        last: rows.column_mapping,
    };
    match difference(&schema, rows.schema, names, "") {
        None => Ok(()),
        Some((column, how)) => Err(Error::new(
            ErrorKind::SchemaMismatch,
            format!("version {version} changed the table's columns: {column} {how}"),
        )
        .with("version", version)
        .with("field", column.as_str())
        .hint(
            "start the query again, from the same checkpoint: it continues from there with the columns that the \
             table has by then",
        )),
    }
}

/// Returns the first column that differs, and how.
fn difference(now: &StructType, then: &StructType, names: Names, above: &str) -> Option<(String, String)> {
    let path = |field: &StructField| match above {
        "" => field.name.clone(),
        above => format!("{above}.{}", field.name),
    };
    let mut known = Vec::with_capacity(now.fields.len());
    for field in &now.fields {
        let Some(older) = names.same(then, field) else {
            return Some((path(field), "was added".to_owned()));
        };
        if older.name != field.name {
            return Some((path(older), format!("was renamed to {}", field.name)));
        }
        let differs = type_difference(&field.data_type, &older.data_type, names, &path(field));
        if differs.is_some() {
            return differs;
        }
        known.push(&older.name);
    }
    let gone = then.fields.iter().find(|field| !known.contains(&&field.name));
    gone.map(|field| (path(field), "was dropped".to_owned()))
}

fn type_difference(now: &DataType, then: &DataType, names: Names, path: &str) -> Option<(String, String)> {
    match (now, then) {
        (DataType::Struct(now), DataType::Struct(then)) => difference(now, then, names, path),
        (DataType::Array(now), DataType::Array(then)) => type_difference(
            &now.element_type,
            &then.element_type,
            names,
            &format!("{path}.element"),
        ),
        (DataType::Map(now), DataType::Map(then)) => {
            type_difference(&now.key_type, &then.key_type, names, &format!("{path}.key")).or_else(|| {
                type_difference(&now.value_type, &then.value_type, names, &format!("{path}.value"))
            })
        }
        (now, then) if now == then => None,
        (now, then) => Some((path.to_owned(), format!("was {then} and is {now}"))),
    }
}
