//! The recorded operation and parameters of a table change, as in delta-spark if it has the operation.

use deltaic_protocol::change::{IfAbsent, TableChange};
use deltaic_protocol::schema::{ColumnName, StructField, StructType};
use deltaic_protocol::schema_evolution::Place;
use serde_json::{Value, json};

use crate::transaction::{Operation, OperationDetails};

type Parameters = Vec<(&'static str, String)>;

/// Returns the operation of changes and its parameters: those of a single change, or a list of all changes.
#[must_use]
pub fn describe(changes: &[TableChange]) -> (Operation, OperationDetails) {
    let mut described: Vec<(Operation, Parameters)> = changes.iter().map(one).collect();
    let (operation, parameters) = match described.len() {
        1 => described.remove(0),
        _ => {
            let is_same = described
                .windows(2)
                .all(|pair| matches!(pair, [(left, _), (right, _)] if left == right));
            let name = described
                .first()
                .filter(|_| is_same)
                .map_or(Operation::AlterTable, |(name, _)| *name);
            let list: Vec<Value> = described
                .into_iter()
                .map(|(name, parameters)| {
                    let object: serde_json::Map<String, Value> = parameters
                        .into_iter()
                        .map(|(key, text)| (key.to_owned(), Value::String(text)))
                        .collect();
                    json!({"operation": name.name(), "operationParameters": object})
                })
                .collect();
            (name, vec![("changes", Value::Array(list).to_string())])
        }
    };
    let details = OperationDetails {
        parameters,
        metrics: Vec::new(),
    };
    (operation, details)
}

fn one(change: &TableChange) -> (Operation, Parameters) {
    let set = |properties: Value| {
        (
            Operation::SetProperties,
            vec![("properties", properties.to_string())],
        )
    };
    match change {
        TableChange::SetProperties(values) => set(json!(values)),
        TableChange::SetName(name) => set(json!({"name": name})),
        TableChange::SetDescription(text) => set(json!({"comment": text})),
        TableChange::UnsetProperties(names, if_absent) => (
            Operation::UnsetProperties,
            vec![
                ("properties", json!(names).to_string()),
                ("ifExists", (*if_absent == IfAbsent::Ignore).to_string()),
            ],
        ),
        TableChange::AddFeature(name) => (Operation::AddFeature, vec![("featureName", name.clone())]),
        TableChange::DropFeature(name, traces) => (
            Operation::DropFeature,
            vec![
                ("featureName", name.clone()),
                (
                    "truncateHistory",
                    (*traces == deltaic_protocol::features::Traces::Gone).to_string(),
                ),
            ],
        ),
        TableChange::Upgrade(reader, writer) => (
            Operation::UpgradeProtocol,
            vec![(
                "newProtocol",
                json!({"minReaderVersion": reader, "minWriterVersion": writer}).to_string(),
            )],
        ),
        TableChange::AddColumn { field, within, place } => {
            let path = within_path(within.as_ref(), &field.name);
            let column = json!({"column": field_json(&path, field), "position": position(place)});
            (
                Operation::AddColumns,
                vec![("columns", json!([column]).to_string())],
            )
        }
        TableChange::RenameColumn(column, to) => {
            let parents = column
                .parts()
                .split_last()
                .map_or(&[][..], |(_, parents)| parents);
            let renamed = parents.iter().cloned().chain([to.clone()]).collect();
            (
                Operation::RenameColumn,
                vec![
                    ("oldColumnPath", column.to_string()),
                    ("newColumnPath", ColumnName::from_parts(renamed).to_string()),
                ],
            )
        }
        TableChange::DropColumn(column) => (
            Operation::DropColumns,
            vec![("columns", json!([column.to_string()]).to_string())],
        ),
        TableChange::MoveColumn(column, place) => changed(column, json!({"position": position(place)})),
        TableChange::ChangeType(column, to) => changed(column, json!({"type": to.delta_name()})),
        TableChange::DropNotNull(column) => changed(column, json!({"nullable": true})),
        TableChange::SetDefault(column, expression) => changed(column, json!({"default": expression})),
        TableChange::SetComment(column, comment) => changed(column, json!({"comment": comment})),
        TableChange::AddConstraint { name, expression } => (
            Operation::AddConstraint,
            vec![("name", name.clone()), ("expr", expression.clone())],
        ),
        TableChange::DropConstraint(name, if_absent) => (
            Operation::DropConstraint,
            vec![
                ("name", name.clone()),
                ("ifExists", (*if_absent == IfAbsent::Ignore).to_string()),
            ],
        ),
        TableChange::SetClustering(columns) => {
            let names: Vec<String> = columns.iter().map(ToString::to_string).collect();
            (
                Operation::ClusterBy,
                vec![("newClusteringColumns", names.join(","))],
            )
        }
        TableChange::SetDomain { domain, .. } => {
            (Operation::SetDomainMetadata, vec![("domain", domain.clone())])
        }
        TableChange::RemoveDomain(domain) => {
            (Operation::RemoveDomainMetadata, vec![("domain", domain.clone())])
        }
        TableChange::MergeSchema(schema) => (Operation::UpdateSchema, vec![("newSchema", schema.to_json())]),
    }
}

fn changed(column: &ColumnName, mut what: Value) -> (Operation, Parameters) {
    if let Value::Object(parts) = &mut what {
        parts.insert("name".to_owned(), json!(column.to_string()));
    }
    (Operation::ChangeColumn, vec![("column", what.to_string())])
}

fn within_path(within: Option<&ColumnName>, name: &str) -> String {
    let parents = within.map(ColumnName::parts).unwrap_or_default();
    let parts = parents.iter().cloned().chain([name.to_owned()]).collect();
    ColumnName::from_parts(parts).to_string()
}

/// Returns a field as in the schema JSON, with its path as name.
fn field_json(path: &str, field: &StructField) -> Value {
    let alone = StructType {
        fields: vec![field.clone()],
    };
    let parsed: Option<Value> = serde_json::from_str(&alone.to_json()).ok();
    let mut spelled = parsed
        .and_then(|schema| schema.get("fields")?.get(0).cloned())
        .unwrap_or_else(|| json!({}));
    if let Value::Object(parts) = &mut spelled {
        parts.insert("name".to_owned(), json!(path));
    }
    spelled
}

fn position(place: &Place) -> Value {
    match place {
        Place::First => json!("FIRST"),
        Place::After(name) => json!(format!("AFTER {name}")),
        Place::Last => Value::Null,
    }
}
