//! Parses changes from JSON, for callers in other languages.

use std::collections::BTreeMap;

use arrow_schema::{DataType as ArrowType, Field, Schema};
use serde::Deserialize;

use super::json_type::{JsonType, told_type, wrong};
use super::table_change::TableChange;
use crate::Result;
use crate::features::Traces;
use crate::if_absent::IfAbsent;
use crate::schema::{ColumnName, DataType, StructType, schema_from_arrow};
use crate::schema_evolution::Place;

/// A change in JSON. Columns are named as in predicates; `type` is an index into the Arrow fields passed
/// with the text, or a type in SQL.
#[derive(Debug, Deserialize)]
#[serde(tag = "change", deny_unknown_fields)]
enum JsonChange {
    SetProperties {
        values: BTreeMap<String, String>,
    },
    UnsetProperties {
        names: Vec<String>,
        if_absent: String,
    },
    SetName {
        name: Option<String>,
    },
    SetDescription {
        description: Option<String>,
    },
    AddFeature {
        name: String,
    },
    DropFeature {
        name: String,
        truncate_history: bool,
    },
    UpgradeProtocol {
        reader: i32,
        writer: i32,
    },
    AddColumn {
        name: String,
        r#type: JsonType,
        comment: Option<String>,
        within: Option<String>,
        after: Option<String>,
        first: bool,
    },
    RenameColumn {
        column: String,
        to: String,
    },
    DropColumn {
        column: String,
    },
    MoveColumn {
        column: String,
        after: Option<String>,
        first: bool,
    },
    ChangeType {
        column: String,
        r#type: JsonType,
    },
    DropNotNull {
        column: String,
    },
    SetDefault {
        column: String,
        expression: Option<String>,
    },
    SetComment {
        column: String,
        comment: Option<String>,
    },
    AddConstraint {
        name: String,
        expression: String,
    },
    DropConstraint {
        name: String,
        if_absent: String,
    },
    ClusterBy {
        columns: Vec<String>,
    },
    SetDomain {
        domain: String,
        configuration: String,
    },
    RemoveDomain {
        domain: String,
    },
    MergeSchema {
        r#type: usize,
    },
}

/// Parses a list of changes. Types are passed as Arrow fields, which the text refers to by index.
///
/// # Errors
///
/// Returns `InvalidArgument` if the text is not such a list or a column name is invalid; `SchemaMismatch`
/// with the `field` if Delta does not have a type.
///
/// ```
/// use deltaic_protocol::change::{TableChange, changes_from_json};
/// let changes = changes_from_json(r#"[{"change":"RenameColumn","column":"a.b","to":"c"}]"#, &[])?;
/// assert!(matches!(changes.as_slice(), [TableChange::RenameColumn(column, to)] if column.parts() == ["a", "b"] && to == "c"));
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn changes_from_json(text: &str, types: &[Field]) -> Result<Vec<TableChange>> {
    let given: Vec<JsonChange> =
        serde_json::from_str(text).map_err(|error| wrong(format!("these are not valid changes: {error}")))?;
    given.into_iter().map(|given| change_of(given, types)).collect()
}

fn change_of(given: JsonChange, types: &[Field]) -> Result<TableChange> {
    let column = |text: &str| ColumnName::parse(text);
    Ok(match given {
        JsonChange::SetProperties { values } => TableChange::SetProperties(values),
        JsonChange::UnsetProperties { names, if_absent } => {
            TableChange::UnsetProperties(names, if_absent_of(&if_absent)?)
        }
        JsonChange::SetName { name } => TableChange::SetName(name),
        JsonChange::SetDescription { description } => TableChange::SetDescription(description),
        JsonChange::AddFeature { name } => TableChange::AddFeature(name),
        JsonChange::DropFeature {
            name,
            truncate_history,
        } => {
            let traces = if truncate_history {
                Traces::Gone
            } else {
                Traces::InHistory
            };
            TableChange::DropFeature(name, traces)
        }
        JsonChange::UpgradeProtocol { reader, writer } => TableChange::Upgrade(reader, writer),
        JsonChange::AddColumn {
            name,
            r#type,
            comment,
            within,
            after,
            first,
        } => {
            let mut field = r#type.column(&name, types)?;
            if let Some(comment) = comment {
                field.metadata.insert("comment".to_owned(), comment.into());
            }
            TableChange::AddColumn {
                field,
                within: within.as_deref().map(column).transpose()?,
                place: place_of(after, first)?.unwrap_or(Place::Last),
            }
        }
        JsonChange::RenameColumn { column: name, to } => TableChange::RenameColumn(column(&name)?, to),
        JsonChange::DropColumn { column: name } => TableChange::DropColumn(column(&name)?),
        JsonChange::MoveColumn {
            column: name,
            after,
            first,
        } => {
            let place = place_of(after, first)?
                .ok_or_else(|| wrong(format!("the position of the column {name} is missing")))?;
            TableChange::MoveColumn(column(&name)?, place)
        }
        JsonChange::ChangeType { column: name, r#type } => {
            let field = r#type.column(&name, types)?;
            let DataType::Primitive(to) = field.data_type else {
                return Err(wrong(format!(
                    "the type of {name} cannot change to {}: only primitive types can be widened",
                    field.data_type
                ))
                .hint("change the types of its fields, its elements, its keys or its values"));
            };
            TableChange::ChangeType(column(&name)?, to)
        }
        JsonChange::DropNotNull { column: name } => TableChange::DropNotNull(column(&name)?),
        JsonChange::SetDefault {
            column: name,
            expression,
        } => TableChange::SetDefault(column(&name)?, expression),
        JsonChange::SetComment {
            column: name,
            comment,
        } => TableChange::SetComment(column(&name)?, comment),
        JsonChange::AddConstraint { name, expression } => TableChange::AddConstraint { name, expression },
        JsonChange::DropConstraint { name, if_absent } => {
            TableChange::DropConstraint(name, if_absent_of(&if_absent)?)
        }
        JsonChange::ClusterBy { columns } => {
            let columns = columns.iter().map(|name| column(name));
            TableChange::SetClustering(columns.collect::<Result<_>>()?)
        }
        JsonChange::SetDomain {
            domain,
            configuration,
        } => TableChange::SetDomain {
            domain,
            configuration,
        },
        JsonChange::RemoveDomain { domain } => TableChange::RemoveDomain(domain),
        JsonChange::MergeSchema { r#type } => TableChange::MergeSchema(schema_of(told_type(types, r#type)?)?),
    })
}

/// The columns of a schema, which is passed as one struct field.
fn schema_of(given: &Field) -> Result<StructType> {
    match given.data_type() {
        ArrowType::Struct(fields) => schema_from_arrow(&Schema::new(fields.clone())),
        other => Err(wrong(format!("a schema is expected, not the type {other}"))),
    }
}

fn if_absent_of(text: &str) -> Result<IfAbsent> {
    match text {
        "error" => Ok(IfAbsent::Error),
        "ignore" => Ok(IfAbsent::Ignore),
        other => Err(wrong(format!(
            "if_absent is {other:?}; it can be \"error\" or \"ignore\""
        ))),
    }
}

fn place_of(after: Option<String>, first: bool) -> Result<Option<Place>> {
    match (after, first) {
        (Some(_), true) => Err(wrong("first= and after= exclude each other".to_owned())),
        (Some(name), false) => {
            // The name of a sibling, which may be in backticks like column names.
            let parsed = ColumnName::parse(&name)?;
            match parsed.parts() {
                [sibling] => Ok(Some(Place::After(sibling.clone()))),
                _ => Err(wrong(format!(
                    "{name} is not a sibling: after= takes a name without a path"
                ))),
            }
        }
        (None, true) => Ok(Some(Place::First)),
        (None, false) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::schema::PrimitiveType;

    #[test]
    fn types_come_beside_the_text() -> Result<()> {
        let long = Field::new("", ArrowType::Int64, false);
        let rows = Field::new(
            "",
            ArrowType::Struct(vec![long.clone().with_name("x")].into()),
            true,
        );
        let text = r#"[
            {"change":"AddColumn","name":"a.b","type":0,"comment":"c","within":null,"after":"`x.y`","first":false},
            {"change":"ChangeType","column":"s.x","type":0},
            {"change":"MergeSchema","type":1}]"#;
        let changes = changes_from_json(text, &[long, rows])?;
        let [
            TableChange::AddColumn { field, place, .. },
            TableChange::ChangeType(column, to),
            TableChange::MergeSchema(schema),
        ] = changes.as_slice()
        else {
            panic!("{changes:?}");
        };
        assert_eq!((field.name.as_str(), field.nullable), ("a.b", false));
        assert_eq!(field.metadata.get("comment"), Some(&"c".into()));
        assert_eq!(*place, Place::After("x.y".to_owned()));
        assert_eq!(
            (column.parts(), *to),
            (&["s".to_owned(), "x".to_owned()][..], PrimitiveType::Long)
        );
        assert_eq!(schema.names().collect::<Vec<_>>(), ["x"]);
        Ok(())
    }

    #[test]
    fn an_invalid_change_is_refused() {
        let long = [Field::new("", ArrowType::Int64, true)];
        for text in [
            "",
            "{}",
            r#"[{"change":"Nothing"}]"#,
            r#"[{"change":"SetName"}]"#.replace("SetName", "setName").as_str(),
            r#"[{"change":"MoveColumn","column":"a","after":null,"first":false}]"#,
            r#"[{"change":"MoveColumn","column":"a","after":"b","first":true}]"#,
            r#"[{"change":"MoveColumn","column":"a","after":"b.c","first":false}]"#,
            r#"[{"change":"ChangeType","column":"a","type":1}]"#,
            r#"[{"change":"MergeSchema","type":0}]"#,
            r#"[{"change":"DropConstraint","name":"c","if_absent":"maybe"}]"#,
            r#"[{"change":"DropColumn","column":"a..b"}]"#,
        ] {
            let error = changes_from_json(text, &long).err().map(|error| error.kind());
            assert_eq!(error, Some(ErrorKind::InvalidArgument), "{text}");
        }
    }
}
