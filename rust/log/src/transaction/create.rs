//! Creates a table by its first commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::actions::{Format, Metadata};
use deltaic_protocol::change::{Form, Moment, TableChange, change, created};
use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::schema::{ColumnName, DataType, PrimitiveType, StructType};
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use serde_json::json;

use super::attempts::{not_shown, not_synced, unknown};
use super::commit_info::Provenance;
use super::gap::{Continuity, look_for};
use super::replace::replace;
use super::{CommitOptions, Committed, IsolationLevel, Operation, OperationDetails, Proposal, time_of};
use crate::clock::{Observed, new_id, now_ms};
use crate::committer::{Committer, Outcome};
use crate::listing::Listing;
use crate::location::TableLocation;
use crate::segment::newest_version;
use crate::snapshot::{LoadOptions, Snapshot};
use crate::upkeep::{OwnCommit, keep_up};

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
    /// Parses the `if_exists` option.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "error" => Ok(Self::Error),
            "ignore" => Ok(Self::Ignore),
            "replace" => Ok(Self::Replace),
            other => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("if_exists is {other:?}; it can be \"error\", \"ignore\" or \"replace\""),
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

/// Creates a table; returns `None` if one exists and [`IfExists::Ignore`] is set.
///
/// The table gets the lowest protocol that supports its definition, and the actions this implies: see
/// [`created`](deltaic_protocol::change::created). Does not check whether deltaic can write rows to the table.
///
/// Protocol: *Change Metadata*, *Protocol Evolution*: the first version holds both actions.
pub async fn create(
    location: &Arc<TableLocation>,
    table: NewTable,
    options: &CommitOptions,
) -> Result<Option<Committed>> {
    let timestamp_ms = now_ms();
    let continuity = Continuity::of_no_table(Observed::now());
    let form = new_form(&table, timestamp_ms)?;
    if newest_version(&Listing::whole(location).await?).is_some() {
        return exists(location, &table, options).await;
    }
    let times = InCommitTimestamps::of(&form.protocol, &form.metadata)?;
    let txn_id = new_id();
    let about = Provenance {
        timestamp_ms,
        in_commit_timestamp: (times != InCommitTimestamps::Disabled).then_some(timestamp_ms),
        read: None,
        level: IsolationLevel::Serializable,
        is_blind_append: true,
        keeps_row_ids: None,
        txn_id: &txn_id,
        emptied_files: 0,
    };
    let metadata = form.metadata.clone();
    let info = describe(&table, &form.metadata).to_commit_info(Operation::CreateTable, &options.user, &about);
    let first = Proposal {
        operation: Operation::CreateTable,
        protocol: Some(form.protocol),
        metadata: Some(form.metadata),
        domains: form.domains,
        txns: options.txn(timestamp_ms).into_iter().collect(),
        ..Proposal::default()
    };
    let commit = first.to_bytes(&info)?;
    let prepared = location.prepare().await?;
    let mut outcome = location.propose(Version::ZERO, commit.clone()).await?;
    if matches!(outcome, Outcome::Lost(_) | Outcome::Unknown(_)) {
        // The request may have been retried after a lost response: the existing file may be this commit.
        outcome = match location.read_commit(Version::ZERO).await {
            Ok(Some(found)) if found == commit => Outcome::Committed(Version::ZERO),
            Ok(Some(_)) => Outcome::Lost(Version::ZERO),
            // "Already exists" may be the response to a retry of this commit.
            _ if table.if_exists != IfExists::Ignore => Outcome::Unknown(Version::ZERO),
            _ => outcome,
        };
    }
    if matches!(outcome, Outcome::Committed(_) | Outcome::NotSynced(..))
        && continuity.needs_confirmation(&metadata)
    {
        let confirmed = confirm(location, &metadata.id).await;
        confirmed.map_err(|error| unknown(location, Version::ZERO, &error))?;
    }
    let mut warnings: Vec<String> = prepared
        .iter()
        .map(|why| not_synced(Version::ZERO, why))
        .collect();
    if let Outcome::NotSynced(version, why) = &outcome {
        warnings.push(not_synced(*version, why));
    }
    match outcome {
        Outcome::Committed(version) | Outcome::NotSynced(version, _) => Ok(Some(Committed {
            version,
            timestamp_ms: time_of(location, version, timestamp_ms).await,
            commit_info: Some(info.to_string()),
            conflicts_resolved: Vec::new(),
            skipped: false,
            keeps_files: true,
            warnings,
            upkept: {
                let bytes = || Ok(commit.clone());
                let made = OwnCommit {
                    location,
                    read: None,
                    version,
                    bytes: &bytes,
                };
                keep_up(made, options.upkeep).await
            },
        })),
        // A cleanup withdraws proposals of versions of a table that another writer made.
        Outcome::Lost(_) | Outcome::Withdrawn(_) => exists(location, &table, options).await,
        Outcome::Unknown(version) => Err(Error::new(
            ErrorKind::CommitUnknown,
            "No definitive response to the commit request: the table may or may not have been created",
        )
        .with("path", location.uri())
        .with("version", version)
        .hint("open the table to see whether it was created")),
    }
}

/// Verifies that readers see the table that was just created.
async fn confirm(location: &Arc<TableLocation>, id: &str) -> Result<()> {
    match look_for(location, Version::ZERO, LoadOptions::default()).await? {
        Some(found) if found.newest.metadata().id != id => {
            Err(not_shown(Version::ZERO, found.newest.version()))
        }
        _ => Ok(()),
    }
}

/// Applies `if_exists` to a table that already exists.
async fn exists(
    location: &Arc<TableLocation>,
    table: &NewTable,
    options: &CommitOptions,
) -> Result<Option<Committed>> {
    match table.if_exists {
        IfExists::Ignore => Ok(None),
        IfExists::Replace => replace(location, table, options).await.map(Some),
        IfExists::Error => match Snapshot::load(Arc::clone(location), None, LoadOptions::default()).await {
            Err(error) if error.kind() == ErrorKind::CorruptLog => Err(error.with("table", location.uri())),
            _ => Err(Error::new(ErrorKind::TableExists, "a table already exists here")
                .with("path", location.uri())
                .hint("open it with deltaic.Table, or pass if_exists=\"ignore\"")),
        },
    }
}

/// Operation parameters of the commit, as delta-spark records them.
pub(super) fn describe(table: &NewTable, metadata: &Metadata) -> OperationDetails {
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

/// Protocol, metadata and domain metadata of the new table.
pub(super) fn new_form(table: &NewTable, timestamp_ms: i64) -> Result<Form> {
    let mut moment = Moment {
        version: Version::ZERO,
        timestamp_ms,
        new_id: &mut new_id,
    };
    let mut form = created(metadata_of(table)?, &table.properties, &mut moment)?;
    for (name, expression) in &table.constraints {
        let constraint = TableChange::AddConstraint {
            name: name.clone(),
            expression: expression.clone(),
        };
        form = change(&form, &constraint, &mut moment)?;
    }
    if !table.cluster_by.is_empty() {
        let clustering = TableChange::SetClustering(table.cluster_by.clone());
        form = change(&form, &clustering, &mut moment)?;
    }
    Ok(form)
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
                    let message = format!("a table cannot be partitioned by {column}, a {}", field.data_type);
                    return Err(Error::new(ErrorKind::InvalidArgument, message)
                        .with("field", column.as_str())
                        .hint("partition it by columns of a single value, such as text, numbers or dates"));
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
        "a schema changes on its way through the log"
    );
    Ok(metadata)
}
