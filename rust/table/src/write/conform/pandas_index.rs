//! Handles the index of a pandas DataFrame in Arrow data: a separate column, or a range only described by schema
//! metadata.

use arrow_schema::Schema;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, ErrorKind, Result};
use serde_json::Value;

/// Whether a column contains the unnamed index of a pandas DataFrame, by pyarrow's naming.
pub(crate) fn is_index_without_name(column: &str) -> bool {
    column
        .strip_prefix("__index_level_")
        .and_then(|rest| rest.strip_suffix("__"))
        .is_some_and(|level| level.bytes().all(|digit| digit.is_ascii_digit()))
}

/// Verifies that no column of the table would become NULL because pyarrow did not store its values: of a `RangeIndex` it
/// keeps start, stop and step in the schema's metadata alone.
///
/// # Errors
///
/// `SchemaMismatch` with the column.
pub(in crate::write) fn ensure_no_index_lost(incoming: &Schema, table: &StructType) -> Result<()> {
    let Some(pandas) = incoming.metadata().get("pandas") else {
        return Ok(());
    };
    // Metadata that cannot be parsed was not written by pyarrow.
    let pandas: Value = serde_json::from_str(pandas).unwrap_or_default();
    let levels = pandas.get("index_columns").and_then(Value::as_array);
    let ranges = levels
        .into_iter()
        .flatten()
        .filter(|level| level.get("kind").and_then(Value::as_str) == Some("range"));
    let names = ranges.filter_map(|range| range.get("name")?.as_str());
    let is_same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
    let mut lost = names.filter(|name| {
        table.names().any(|column| is_same(column, name))
            && !incoming.fields().iter().any(|field| is_same(field.name(), name))
    });
    match lost.next() {
        None => Ok(()),
        Some(name) => Err(Error::new(
            ErrorKind::SchemaMismatch,
            format!("The index {name:?} of the pandas frame is not a column of the data, but the table has one of this name"),
        )
        .with("field", name)
        .hint("call df.reset_index() before the frame is converted to Arrow")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use arrow_schema::{DataType, Field};
    use deltaic_protocol::schema::schema_from_arrow;

    use super::*;

    fn incoming(columns: &[&str], pandas: &str) -> Schema {
        let fields: Vec<Field> = columns
            .iter()
            .map(|name| Field::new(*name, DataType::Int64, true))
            .collect();
        let metadata = HashMap::from([("pandas".to_owned(), pandas.to_owned())]);
        Schema::new_with_metadata(fields, metadata)
    }

    #[test]
    fn an_index_without_values_is_refused_if_the_table_has_its_column() -> Result<()> {
        let table = schema_from_arrow(&incoming(&["Event", "x"], "{}"))?;
        let range =
            |name: &str| format!(r#"{{"index_columns":[{{"kind":"range","name":{name},"start":0}}]}}"#);
        for (columns, pandas, is_lost) in [
            (&["x"][..], range(r#""event""#), true),
            (&["x", "EVENT"], range(r#""event""#), false),
            (&["x"], range(r#""y""#), false),
            (&["x"], range("null"), false),
            (&["x"], range("7"), false),
            (&["x"], r#"{"index_columns":["event"]}"#.to_owned(), false),
            (&["x"], r#"{"index_columns":{"event":1}}"#.to_owned(), false),
            (&["x"], "no JSON".to_owned(), false),
        ] {
            let found = ensure_no_index_lost(&incoming(columns, &pandas), &table);
            assert_eq!(found.is_err(), is_lost, "{columns:?} {pandas}");
            if let Err(error) = found {
                assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
                assert_eq!(error.context(), [("field", "event".into())]);
            }
        }
        Ok(())
    }

    #[test]
    fn an_index_without_a_name_has_pyarrows_name() {
        for (column, is_index) in [
            ("__index_level_0__", true),
            ("__index_level_12__", true),
            ("__index_level_x__", false),
            ("__index_level_0", false),
            ("index", false),
        ] {
            assert_eq!(is_index_without_name(column), is_index, "{column}");
        }
    }
}
