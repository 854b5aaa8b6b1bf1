//! A new table: its first commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::actions::{Format, Metadata};
use deltaic_protocol::features::protocol_for;
use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::schema::{DataType, PrimitiveType, StructType};
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use serde_json::json;

use super::commit_info::Provenance;
use super::{Committed, IsolationLevel, Operation, UserInfo, time_of};
use crate::clock::{new_id, now_ms};
use crate::committer::{Committer, Outcome};
use crate::listing::Listing;
use crate::location::TableLocation;
use crate::segment::newest_version;
use crate::upkeep::{OwnCommit, UpkeepPolicy, keep_up};

/// What to do where a table is already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfExists {
    /// Say so.
    Error,
    /// Leave it as it is.
    Ignore,
}

impl IfExists {
    /// Reads the user's word for it.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "error" => Ok(Self::Error),
            "ignore" => Ok(Self::Ignore),
            other => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("if_exists is {other:?}; it can be \"error\" or \"ignore\""),
            )),
        }
    }
}

/// A table to be made.
#[derive(Clone, Debug)]
pub struct NewTable {
    /// The schema.
    pub schema: StructType,
    /// The columns to partition by.
    pub partition_columns: Vec<String>,
    /// Table properties.
    pub properties: BTreeMap<String, String>,
    /// A name for people.
    pub name: Option<String>,
    /// A description for people.
    pub description: Option<String>,
    /// What to do where a table is already.
    pub if_exists: IfExists,
    /// What the user adds to the `commitInfo`.
    pub user: UserInfo,
    /// What is done for the log behind the commit.
    pub upkeep: UpkeepPolicy,
}

/// Makes a table; none where there is one already and that is to be ignored.
///
/// Protocol: *Change Metadata*, *Protocol Evolution*: the first version holds both actions.
pub async fn create(location: &Arc<TableLocation>, table: NewTable) -> Result<Option<Committed>> {
    let metadata = metadata_of(&table)?;
    let protocol = protocol_for(&metadata, &table.schema)?;
    let exists = || match table.if_exists {
        IfExists::Ignore => Ok(None),
        IfExists::Error => Err(Error::new(ErrorKind::TableExists, "there is a table already")
            .with("path", location.uri())
            .hint("open it with deltaic.Table, or pass if_exists=\"ignore\"")),
    };
    if newest_version(&Listing::whole(location).await?).is_some() {
        return exists();
    }
    let operation = Operation {
        name: "CREATE TABLE",
        parameters: vec![
            ("partitionBy", json!(metadata.partition_columns).to_string()),
            ("description", json!(metadata.description).to_string()),
            ("isManaged", "false".to_owned()),
            ("properties", json!(metadata.configuration).to_string()),
        ],
        metrics: Vec::new(),
    };
    let timestamp_ms = now_ms();
    let times = InCommitTimestamps::of(&protocol, &metadata)?;
    let txn_id = new_id();
    let about = Provenance {
        timestamp_ms,
        in_commit_timestamp: (times != InCommitTimestamps::Disabled).then_some(timestamp_ms),
        read: None,
        level: IsolationLevel::Serializable,
        is_blind_append: true,
        keeps_row_ids: None,
        txn_id: &txn_id,
    };
    let info = operation.to_commit_info(&table.user, &about);
    let lines = [
        json!({ "commitInfo": info }),
        json!({ "protocol": protocol }),
        json!({ "metaData": metadata }),
    ];
    let commit: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    location.prepare().await?;
    let mut outcome = location
        .propose(Version::ZERO, commit.clone().into_bytes())
        .await?;
    if !matches!(outcome, Outcome::Committed(_)) {
        // A store can lose an answer and be asked again: what stands there may be this very commit.
        outcome = match location.read_commit(Version::ZERO).await {
            Ok(Some(found)) if found == commit.as_bytes() => Outcome::Committed(Version::ZERO),
            Ok(Some(_)) => Outcome::Lost(Version::ZERO),
            // That the name was taken may be the answer to this very commit, asked again.
            _ if table.if_exists == IfExists::Error => Outcome::Unknown(Version::ZERO),
            _ => outcome,
        };
    }
    match outcome {
        Outcome::Committed(version) => Ok(Some(Committed {
            version,
            timestamp_ms: time_of(location, version, timestamp_ms).await,
            commit_info: Some(info.to_string()),
            conflicts_resolved: Vec::new(),
            skipped: false,
            upkept: {
                let bytes = || Ok(commit.clone().into_bytes());
                let made = OwnCommit {
                    location,
                    read: None,
                    version,
                    bytes: &bytes,
                };
                keep_up(made, table.upkeep).await
            },
        })),
        Outcome::Lost(_) => exists(),
        Outcome::Unknown(version) => Err(Error::new(
            ErrorKind::CommitUnknown,
            "whether the table was made could not be learnt: the store gave no clear answer",
        )
        .with("path", location.uri())
        .with("version", version)
        .hint("open the table to see whether it is there")),
    }
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
                return wrong(format!("there is no column {column:?} to partition by"))
                    .map_err(|error: Error| error.hint(hint));
            }
            Some(field) => match field.data_type {
                DataType::Primitive(PrimitiveType::Variant | PrimitiveType::Void)
                | DataType::Struct(_)
                | DataType::Array(_)
                | DataType::Map(_)
                | DataType::Unknown(_) => {
                    return wrong(format!("a table cannot be partitioned by a {}", field.data_type));
                }
                DataType::Primitive(_) => {}
            },
        }
    }
    if let Some(column) = twice(&table.partition_columns) {
        return wrong(format!("the partition column {column:?} is given twice"));
    }
    if table.schema.fields.is_empty() {
        return wrong("a table needs at least one column".to_owned());
    }
    if table.partition_columns.len() == table.schema.fields.len() {
        return wrong("a table cannot be partitioned by every column: one must hold data".to_owned());
    }
    let mut configuration: BTreeMap<String, Option<String>> = table
        .properties
        .iter()
        .map(|(key, value)| (key.clone(), Some(value.clone())))
        .collect();
    let tracks_rows = table.properties.get("delta.enableRowTracking");
    if tracks_rows.is_some_and(|value| value.trim().eq_ignore_ascii_case("true")) {
        // Where rows that are copied will keep their ids: under names that no column has.
        for (property, name) in [
            ("delta.rowTracking.materializedRowIdColumnName", "_row-id-col"),
            (
                "delta.rowTracking.materializedRowCommitVersionColumnName",
                "_row-commit-version-col",
            ),
        ] {
            let unique = || Some(format!("{name}-{}", new_id()));
            configuration.entry(property.to_owned()).or_insert_with(unique);
        }
    }
    let metadata = Metadata {
        id: new_id(),
        name: table.name.clone(),
        description: table.description.clone(),
        format: Format {
            provider: "parquet".to_owned(),
            options: BTreeMap::new(),
        },
        schema_string: table.schema.to_json(),
        partition_columns: table.partition_columns.clone(),
        configuration,
        created_time: Some(now_ms()),
    };
    // What is written must be what is read back.
    let schema = metadata.schema()?;
    deltaic_protocol::properties::indexed_columns(&metadata)
        .map_err(|error| Error::new(ErrorKind::InvalidArgument, error.to_string()))?;
    debug_assert_eq!(
        schema, table.schema,
        "a schema changes on its way through the log"
    );
    Ok(metadata)
}
