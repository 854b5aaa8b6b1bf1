//! The form in which a planned write is sent to another process.

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::IfExists;
use deltaic_protocol::schema::ColumnName;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use serde::{Deserialize, Serialize};

use super::job::{Target, WriteJob};
use crate::operations::overwrite::Replaced;
use crate::transaction::SchemaMode;
use crate::write::WriteTask;

/// The serialized form of a target.
#[derive(Serialize, Deserialize)]
enum TargetWire {
    New {
        cluster_by: Vec<String>,
        if_exists: String,
    },
    Existing {
        version: i64,
        schema_mode: String,
        partition_by: Option<Vec<String>>,
        replaced: Option<String>,
    },
}

impl WriteJob {
    /// Serializes the job, for another process that can reach the same store. The bytes contain the storage options,
    /// including secrets.
    ///
    /// # Errors
    ///
    /// `ValueError` if it cannot be serialized.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let target = match &self.target {
            Target::New {
                cluster_by,
                if_exists,
            } => TargetWire::New {
                cluster_by: cluster_by.iter().map(ToString::to_string).collect(),
                if_exists: if_exists.name().to_owned(),
            },
            Target::Existing {
                snapshot,
                schema_mode,
                replaced,
            } => TargetWire::Existing {
                version: snapshot.version().as_i64(),
                schema_mode: schema_mode.name().to_owned(),
                partition_by: match schema_mode {
                    SchemaMode::Replace(columns) => columns.clone(),
                    _ => None,
                },
                replaced: replaced.as_ref().map(Replaced::to_json),
            },
        };
        let mut bytes = serde_json::to_vec(&target).map_err(|error| {
            let what = format!("the write cannot be sent: {error}");
            Error::new(ErrorKind::InvalidArgument, what)
        })?;
        // JSON on one line has no line break.
        bytes.push(b'\n');
        bytes.extend(self.task().to_bytes()?);
        Ok(bytes)
    }

    /// Deserializes a job, and loads the version that it was planned on.
    ///
    /// # Errors
    ///
    /// `ValueError` if the bytes are not a job of this release; those of loading a version.
    pub async fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let wrong = || {
            Error::new(ErrorKind::InvalidArgument, "these bytes are not a planned write")
                .hint("both processes need the same version of deltaic")
        };
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(wrong)?;
        let (target, task) = bytes.split_at(end);
        let target: TargetWire = serde_json::from_slice(target).map_err(|_| wrong())?;
        let task = WriteTask::from_bytes(task)?;
        let (location, table, settings) = task.into_parts();
        let target = match target {
            TargetWire::New {
                cluster_by,
                if_exists,
            } => Target::New {
                cluster_by: cluster_by
                    .iter()
                    .map(|name| ColumnName::parse(name))
                    .collect::<Result<_>>()?,
                if_exists: IfExists::parse(&if_exists)?,
            },
            TargetWire::Existing {
                version,
                schema_mode,
                partition_by,
                replaced,
            } => {
                let version = Version::try_new(version)?;
                let load = Snapshot::load(Arc::clone(&location), Some(version), LoadOptions::default());
                Target::Existing {
                    snapshot: Box::new(load.await?),
                    schema_mode: SchemaMode::parse(&schema_mode, partition_by)?,
                    replaced: replaced.as_deref().map(Replaced::from_json).transpose()?,
                }
            }
        };
        Ok(Self {
            location,
            table,
            settings,
            target,
        })
    }
}
