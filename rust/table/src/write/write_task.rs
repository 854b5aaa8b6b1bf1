//! A task: everything needed to write data files of a table without its log.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_schema::Schema;
use deltaic_log::Snapshot;
use deltaic_log::transaction::EmptyPartitionText;
use deltaic_protocol::actions::{DomainMetadata, Metadata, Protocol};
use deltaic_protocol::expr::parse_predicate;
use deltaic_protocol::properties::Codec;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration};
use deltaic_storage::TableLocation;
use deltaic_storage::location::StorageOptions;
use serde::{Deserialize, Serialize};

use super::file_contents::FileContents;
use super::generate::identity::Share;
use super::plan::WritePlan;
use super::row_stream::RowStream;
use super::table_writer::{TableWriter, Written};

/// Writes files of new rows in any process that can reach the store. A transaction adds them to the table.
#[derive(Clone, Debug)]
pub struct WriteTask {
    location: Arc<TableLocation>,
    table: TableConfiguration,
    settings: TaskSettings,
}

/// What one write does differently from the table's own settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaskSettings {
    /// Whether another engine has evaluated the expressions of the table for the rows: its conditions, defaults and
    /// generated columns.
    pub is_evaluated: bool,
    /// The codec of the files, instead of the table's.
    pub codec: Option<String>,
    /// The maximum number of rows of a file.
    pub max_rows: Option<NonZeroUsize>,
    /// Whether empty text in partition columns becomes NULL, as in Spark; otherwise it is an error.
    pub empty_text_is_null: bool,
    /// A condition that every row must satisfy, besides those of the table.
    pub required: Option<String>,
}

/// The serialized form of a task.
#[derive(Serialize, Deserialize)]
struct Wire {
    format: u32,
    uri: String,
    /// The options of the store, including secrets.
    storage_options: BTreeMap<String, String>,
    allowed_roots: Vec<String>,
    protocol: Protocol,
    metadata: Metadata,
    domains: Vec<DomainMetadata>,
    settings: TaskSettings,
}

const FORMAT: u32 = 2;

impl WriteTask {
    /// A task for the table as it is in a snapshot.
    ///
    /// # Errors
    ///
    /// `UnsupportedFeature` if the table has identity columns.
    pub fn try_new(snapshot: &Snapshot) -> Result<Self> {
        for field in &snapshot.schema().fields {
            if field.identity()?.is_some() {
                let what = format!(
                    "a write task cannot write the identity column {}: only a transaction knows its next value",
                    field.name
                );
                return Err(Error::new(ErrorKind::UnsupportedFeature, what)
                    .with("feature", "identityColumns")
                    .hint("append the rows"));
            }
        }
        Ok(Self {
            location: Arc::clone(snapshot.location()),
            table: snapshot.configuration().clone(),
            settings: TaskSettings::default(),
        })
    }

    /// A task for a planned write, whose commit records the values of identity columns.
    pub(crate) fn of_job(
        location: &Arc<TableLocation>,
        table: &TableConfiguration,
        settings: &TaskSettings,
    ) -> Self {
        Self {
            location: Arc::clone(location),
            table: table.clone(),
            settings: settings.clone(),
        }
    }

    /// The location, the table and the settings.
    pub(crate) fn into_parts(self) -> (Arc<TableLocation>, TableConfiguration, TaskSettings) {
        (self.location, self.table, self.settings)
    }

    /// The root of the table.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.location.uri()
    }

    /// The digest of the table that the files are written for: a transaction adds them only to a table with the same one,
    /// if other writers cannot write files for it.
    ///
    /// # Errors
    ///
    /// Those of [`TableConfiguration::digest`].
    pub fn written_for(&self) -> Result<String> {
        self.table.digest()
    }

    /// Verifies that rows of a schema can be written, before any is.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch`, `UnsupportedFeature`, `UnsupportedExpression`; `ValueError` for an unknown codec.
    pub(crate) fn ensure_takes(&self, rows: &Schema) -> Result<()> {
        self.writer(rows).map(drop)
    }

    /// Writes the rows of a stream to new files, which are durable when this returns. After a failure they are deleted.
    /// Of the values of identity columns, those of a share are generated: each task of a write must have another one.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch`, `ConstraintViolation`, `UnsupportedFeature`, `StorageError`.
    pub async fn write(&self, rows: impl Into<RowStream>, share: Option<Share>) -> Result<Written> {
        let mut rows = rows.into();
        let share = share.unwrap_or(Share::ALL);
        if share.index >= share.count {
            let Share { index, count } = share;
            let what = format!("task {index} of {count} would generate the values of another task");
            return Err(Error::new(ErrorKind::InvalidArgument, what));
        }
        let mut writer = self.writer(rows.schema())?;
        writer.limit_identities_to(share);
        let written = async {
            while let Some(batch) = rows.next().await? {
                writer.write(&batch).await?;
            }
            writer.finish().await
        };
        match written.await {
            Ok(written) => {
                // Another process may commit them.
                writer.into_files().release();
                Ok(written)
            }
            Err(error) => {
                writer.abort().await;
                Err(error)
            }
        }
    }

    fn writer(&self, rows: &Schema) -> Result<TableWriter> {
        let settings = &self.settings;
        let contents = match settings.is_evaluated {
            true => FileContents::EvaluatedRows,
            false => FileContents::Rows,
        };
        let plan = WritePlan::try_new(&self.table, rows, contents);
        let plan = plan.map_err(|error| error.with("table", self.location.uri()))?;
        let mut writer = TableWriter::of_plan(&self.location, plan);
        if settings.empty_text_is_null {
            writer.expect_new_rows(EmptyPartitionText::Null);
        }
        if let Some(codec) = &settings.codec {
            writer.set_codec(Codec::parse(codec)?);
        }
        if let Some(rows) = settings.max_rows {
            writer.limit_rows(rows);
        }
        if let Some(required) = &settings.required {
            writer.require(&parse_predicate(required)?, &*self.table.schema()?)?;
        }
        Ok(writer)
    }

    /// Serializes the task, for another process that can reach the same store. The bytes contain the storage options,
    /// including secrets.
    ///
    /// # Errors
    ///
    /// `ValueError` if it cannot be serialized.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let wire = Wire {
            format: FORMAT,
            uri: self.location.uri().to_owned(),
            storage_options: self.location.options().as_map().clone(),
            allowed_roots: self.location.allowed_roots().to_vec(),
            protocol: self.table.protocol().clone(),
            metadata: self.table.metadata().clone(),
            domains: self.table.domains().values().cloned().collect(),
            settings: self.settings.clone(),
        };
        serde_json::to_vec(&wire).map_err(|error| {
            let what = format!("the task cannot be sent: {error}");
            Error::new(ErrorKind::InvalidArgument, what)
        })
    }

    /// Deserializes a task.
    ///
    /// # Errors
    ///
    /// `ValueError` if the bytes are not a task of this release.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let wrong = |why: String| {
            let what = format!("these bytes are not a write task: {why}");
            Error::new(ErrorKind::InvalidArgument, what)
                .hint("both processes need the same version of deltaic")
        };
        let wire: Wire = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
        if wire.format != FORMAT {
            return Err(wrong(format!("their format is {}, not {FORMAT}", wire.format)));
        }
        let options = StorageOptions::from(wire.storage_options);
        let location = TableLocation::with_options(&wire.uri, options, wire.allowed_roots)?;
        Ok(Self {
            location: Arc::new(location),
            table: TableConfiguration::new(wire.protocol, wire.metadata).with_domains(wire.domains),
            settings: wire.settings,
        })
    }
}
