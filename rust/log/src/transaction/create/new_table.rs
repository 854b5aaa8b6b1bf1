//! The definition of a table to create: its configuration, and the parameters of its commit.

use std::collections::BTreeMap;

use deltaic_protocol::actions::{Format, Metadata};
use deltaic_protocol::change::{ChangeContext, TableChange, change, created};
use deltaic_protocol::schema::{ColumnName, DataType, PrimitiveType, StructType};
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration, Version};
use serde_json::json;

use crate::transaction::OperationDetails;
use deltaic_storage::clock::{new_id, now_ms};

/// What to do if a table already exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfExists {
    /// Raise `TableExists`.
    Error,
    /// Leave the existing table unchanged.
    Ignore,
    /// Replace it with the new table, as the next version of its history.
    Replace,
}

impl IfExists {
    /// The name of the option, as [`IfExists::parse`] takes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Ignore => "ignore",
            Self::Replace => "replace",
        }
    }

    /// Parses the `if_exists` option.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "error" => Ok(Self::Error),
            "ignore" => Ok(Self::Ignore),
            "replace" => Ok(Self::Replace),
            other => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("if_exists is {other:?}; it must be \"error\", \"ignore\" or \"replace\""),
            )),
        }
    }
}

/// Definition of a table to create.
#[derive(Clone, Debug)]
pub struct NewTable {
    /// The schema.
    pub schema: StructType,
    /// The columns to partition by.
    pub partition_columns: Vec<String>,
    /// The clustering columns; empty if the table is not clustered.
    pub cluster_by: Vec<ColumnName>,
    /// Table properties. Those that request a feature or protocol version are not stored as properties.
    pub properties: BTreeMap<String, String>,
    /// CHECK constraints: SQL expression by name.
    pub constraints: BTreeMap<String, String>,
    /// Table name.
    pub name: Option<String>,
    /// Table description.
    pub description: Option<String>,
    /// What to do if a table already exists.
    pub if_exists: IfExists,
}

impl NewTable {
    /// A table with a schema and nothing else.
    #[must_use]
    pub fn of(schema: StructType) -> Self {
        Self {
            schema,
            partition_columns: Vec::new(),
            cluster_by: Vec::new(),
            properties: BTreeMap::new(),
            constraints: BTreeMap::new(),
            name: None,
            description: None,
            if_exists: IfExists::Error,
        }
    }

    /// The configuration of the table, with a new id.
    ///
    /// # Errors
    ///
    /// Those of [`created`](deltaic_protocol::change::created); `InvalidArgument` for columns that a table cannot be
    /// partitioned by.
    pub fn configuration(&self) -> Result<TableConfiguration> {
        configuration_of(self, now_ms())
    }

    /// The operation parameters of the commit that creates the table with this metadata.
    #[must_use]
    pub fn details(&self, metadata: &Metadata) -> OperationDetails {
        describe(self, metadata)
    }
}

/// Operation parameters of the commit, as delta-spark records them.
pub(in crate::transaction) fn describe(table: &NewTable, metadata: &Metadata) -> OperationDetails {
    let clustering: Vec<String> = table.cluster_by.iter().map(ToString::to_string).collect();
    OperationDetails {
        parameters: vec![
            ("partitionBy", json!(metadata.partition_columns).to_string()),
            ("clusterBy", json!(clustering).to_string()),
            ("description", json!(metadata.description).to_string()),
            ("isManaged", "false".to_owned()),
            ("properties", json!(metadata.configuration).to_string()),
        ],
        metrics: Vec::new(),
    }
}

/// The configuration of the new table.
pub(super) fn configuration_of(table: &NewTable, timestamp_ms: i64) -> Result<TableConfiguration> {
    let mut context = ChangeContext {
        version: Version::ZERO,
        timestamp_ms,
        new_id: &mut new_id,
    };
    let mut configuration = created(metadata_of(table)?, &table.properties, &mut context)?;
    for (name, expression) in &table.constraints {
        let constraint = TableChange::AddConstraint {
            name: name.clone(),
            expression: expression.clone(),
        };
        configuration = change(&configuration, &constraint, &mut context)?;
    }
    if !table.cluster_by.is_empty() {
        let clustering = TableChange::SetClustering(table.cluster_by.clone());
        configuration = change(&configuration, &clustering, &mut context)?;
    }
    Ok(configuration)
}

fn twice(names: &[String]) -> Option<&String> {
    names
        .iter()
        .enumerate()
        .find(|(index, name)| names.iter().take(*index).any(|before| before == *name))
        .map(|(_, name)| name)
}

fn metadata_of(table: &NewTable) -> Result<Metadata> {
    let wrong = |message: String| Err(Error::new(ErrorKind::InvalidArgument, message));
    for column in &table.partition_columns {
        match table.schema.field(column) {
            None => {
                let near = deltaic_protocol::error::nearest(column, table.schema.names());
                let hint = near.map_or_else(
                    || {
                        format!(
                            "the columns are: {}",
                            table.schema.names().collect::<Vec<_>>().join(", ")
                        )
                    },
                    |near| format!("did you mean {near}?"),
                );
                return wrong(format!("the partition column {column:?} does not exist"))
                    .map_err(|error: Error| error.hint(hint));
            }
            Some(field) => match field.data_type {
                DataType::Primitive(PrimitiveType::Variant | PrimitiveType::Void)
                | DataType::Struct(_)
                | DataType::Array(_)
                | DataType::Map(_)
                | DataType::Unknown(_) => {
                    let message = format!(
                        "a table cannot be partitioned by {column} of type {}",
                        field.data_type
                    );
                    return Err(Error::new(ErrorKind::InvalidArgument, message)
                        .with("field", column.as_str())
                        .hint("partition by columns of primitive types, such as string, bigint or date"));
                }
                DataType::Primitive(_) if field.identity()?.is_some() => {
                    let message = format!("a table cannot be partitioned by the identity column {column}");
                    return Err(Error::new(ErrorKind::InvalidArgument, message)
                        .with("field", column.as_str())
                        .hint("partition by another column: each value of an identity column is unique"));
                }
                DataType::Primitive(_) => {}
            },
        }
    }
    if let Some(column) = twice(&table.partition_columns) {
        return wrong(format!("the partition column {column:?} is specified twice"));
    }
    if table.schema.fields.is_empty() {
        return wrong("a table needs at least one column".to_owned());
    }
    if table.partition_columns.len() == table.schema.fields.len() {
        return wrong("a table cannot be partitioned by all of its columns".to_owned());
    }
    let metadata = Metadata {
        id: new_id(),
        name: table.name.clone(),
        description: table.description.clone(),
        format: Format {
            provider: "parquet".to_owned(),
            options: BTreeMap::new(),
        },
        schema_string: table.schema.to_schema_string()?,
        partition_columns: table.partition_columns.clone(),
        configuration: BTreeMap::new(),
        created_time: Some(now_ms()),
    };
    // The schema must survive the round trip through its JSON text.
    let schema = metadata.schema()?;
    debug_assert_eq!(
        schema, table.schema,
        "the schema differs after a round trip through its JSON text"
    );
    Ok(metadata)
}
