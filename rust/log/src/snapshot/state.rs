//! The state of a table at one version.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::actions::{DomainMetadata, Metadata, Protocol, Txn};
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::features;
use deltaic_protocol::properties::{txn_is_expired, txn_retention_ms};
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::{Error, Result, TableConfiguration, Version};

use super::agreement::Agreement;
use super::request::LoadOptions;
use crate::decode::checkpoint::Checkpoint;
use crate::reconcile::{Survivors, TableState};
use crate::segment::LogSegment;
use deltaic_storage::clock::Observed;
use deltaic_storage::location::TableLocation;

/// A table at one version. Immutable and cheap to clone.
///
/// File statistics and the tombstones of a checkpoint are read on demand.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) location: Arc<TableLocation>,
    pub(super) options: LoadOptions,
    pub(super) tail: features::CatalogTail,
    pub(super) segment: Arc<LogSegment>,
    pub(super) checkpoint: Option<Arc<Checkpoint>>,
    pub(super) state: TableState,
    pub(super) configuration: TableConfiguration,
    pub(super) schema: Arc<StructType>,
    pub(super) column_mapping: ColumnMappingMode,
    pub(super) adds: Arc<Vec<Survivors>>,
    /// The surviving removes of the commits, without those of the checkpoint.
    pub(super) removes: Arc<Vec<Survivors>>,
    pub(super) newest_commit_info: Option<Arc<str>>,
    pub(super) file_time_ms: Option<i64>,
    /// When the log was last listed with this as its newest version; `None` if unknown.
    pub(super) listed: Option<Observed>,
    /// Result of comparing the version with a checksum.
    pub(super) agreement: Agreement,
    pub(super) warnings: Arc<Vec<String>>,
}

impl Snapshot {
    /// The same version for a dry run: what is written to its location is discarded.
    #[must_use]
    pub fn without_writes(&self) -> Self {
        Self {
            location: Arc::new(self.location.without_writes()),
            ..self.clone()
        }
    }

    /// The same files with another configuration, as after a commit that changes only the configuration.
    ///
    /// # Errors
    ///
    /// `CorruptLog` if the configuration is invalid.
    pub fn with_configuration(&self, configuration: TableConfiguration) -> Result<Self> {
        Ok(Self {
            schema: configuration.schema()?,
            column_mapping: configuration.column_mapping()?,
            configuration,
            ..self.clone()
        })
    }

    /// The location of the table.
    #[must_use]
    pub fn location(&self) -> &Arc<TableLocation> {
        &self.location
    }

    /// Adds the table and the version to the context of an error that does not name them.
    #[must_use]
    pub fn located(&self, error: Error) -> Error {
        let has = |error: &Error, wanted: &str| error.context().iter().any(|(key, _)| *key == wanted);
        let error = match has(&error, "table") {
            true => error,
            false => error.with("table", self.location().uri()),
        };
        match has(&error, "version") {
            true => error,
            false => error.with("version", self.version()),
        }
    }

    /// The version.
    #[must_use]
    pub fn version(&self) -> Version {
        self.segment.version
    }

    /// When the log was last listed with this as its newest version; `None` if unknown.
    pub(crate) fn listed(&self) -> Option<Observed> {
        self.listed
    }

    /// Result of comparing the version with a checksum.
    pub(crate) fn agreement(&self) -> Agreement {
        self.agreement
    }

    /// The options that the snapshot was loaded with.
    pub(crate) fn options(&self) -> LoadOptions {
        self.options
    }

    /// Maximum length of a line of the log, in bytes.
    pub(crate) fn max_line_bytes(&self) -> usize {
        self.options.max_line_bytes
    }

    /// The surviving adds, in the batches that loading produced.
    pub(crate) fn adds(&self) -> &[Survivors] {
        &self.adds
    }

    /// The surviving removes of the commits, in the batches that loading produced. Those of the checkpoint are not
    /// read.
    pub(crate) fn removes(&self) -> &[Survivors] {
        &self.removes
    }

    /// The checkpoint that the snapshot starts from.
    pub(crate) fn checkpoint(&self) -> Option<&Arc<Checkpoint>> {
        self.checkpoint.as_ref()
    }

    /// The log files that make up the version.
    #[must_use]
    pub fn segment(&self) -> &LogSegment {
        &self.segment
    }

    /// Protocol, metadata, schema and domains as one value.
    #[must_use]
    pub fn configuration(&self) -> &TableConfiguration {
        &self.configuration
    }

    /// The protocol: what the table requires of its readers and writers.
    #[must_use]
    pub fn protocol(&self) -> &Protocol {
        self.configuration.protocol()
    }

    /// The metadata of the table.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        self.configuration.metadata()
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Arc<StructType> {
        &self.schema
    }

    /// The partition columns, in the metadata's order.
    #[must_use]
    pub fn partition_fields(&self) -> Vec<&StructField> {
        self.metadata()
            .partition_columns
            .iter()
            .filter_map(|name| self.schema.field(name))
            .collect()
    }

    /// The newest transaction identifier of each application, including expired ones.
    #[must_use]
    pub fn txns(&self) -> &BTreeMap<String, Txn> {
        &self.state.txns
    }

    /// Whether loading the version again returns the same transaction identifiers, whichever checkpoint it starts from.
    pub(crate) fn has_all_txns(&self) -> bool {
        !self.state.remembers_longer
    }

    /// The transaction identifiers that have not expired at `now_ms`, in milliseconds since the epoch.
    ///
    /// Protocol: *Transaction Identifiers*. If the table's retention property is invalid, none expires: an
    /// expired identifier would allow the same data to be written again.
    #[must_use]
    pub fn current_txns(&self, now_ms: i64) -> Vec<&Txn> {
        let retention_ms = txn_retention_ms(self.metadata()).unwrap_or(None);
        let is_current = |txn: &&Txn| !txn_is_expired(txn.last_updated, retention_ms, now_ms);
        self.state.txns.values().filter(is_current).collect()
    }

    /// How columns are named in the data files and in the log's partition values and statistics.
    #[must_use]
    pub fn column_mapping(&self) -> ColumnMappingMode {
        self.column_mapping
    }

    /// The domain metadata, without removed domains.
    #[must_use]
    pub fn domains(&self) -> &BTreeMap<String, DomainMetadata> {
        self.configuration.domains()
    }

    /// The `commitInfo` of the version's own commit as JSON text; `None` if the commit was not read or has none.
    #[must_use]
    pub fn commit_info(&self) -> Option<&str> {
        self.newest_commit_info.as_deref()
    }

    /// The modification time of the version's commit file, adjusted to increase with the version, in milliseconds since
    /// the epoch; `None` if the listing did not reach far enough.
    #[must_use]
    pub fn file_time_ms(&self) -> Option<i64> {
        self.file_time_ms
    }

    /// Warnings about what was skipped while loading.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
