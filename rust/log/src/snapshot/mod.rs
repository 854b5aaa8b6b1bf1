//! A table at one version.

mod assemble;
mod checksum;
mod deletion_vectors;
mod files;
mod follow;
mod live;
mod load;
mod prune;
mod refresh;
mod reopened;
mod standing;
mod statistics;
mod tombstones;

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::Version;
use deltaic_protocol::actions::{DomainMetadata, Metadata, Protocol, Txn};
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::features;
use deltaic_protocol::properties::{txn_is_expired, txn_retention_ms};
use deltaic_protocol::schema::{StructField, StructType};

pub(crate) use checksum::{Agreement, read_checksum};
pub use files::{Files, FilesBatch};
pub use load::{LoadOptions, exists};
pub use prune::{PruneReport, Pruning};
pub(crate) use standing::Standing;
pub use statistics::WithStatistics;

use crate::clock::Observed;
use crate::decode::checkpoint::Checkpoint;
use crate::location::TableLocation;
use crate::reconcile::{Survivors, TableState};
use crate::segment::LogSegment;

/// A table at one version. Cheap to clone; what it holds never changes.
///
/// The statistics of the files, and the tombstones of a checkpoint, are left where they are until they are asked for.
#[derive(Clone, Debug)]
pub struct Snapshot {
    location: Arc<TableLocation>,
    options: LoadOptions,
    tail: features::LogTail,
    segment: Arc<LogSegment>,
    checkpoint: Option<Arc<Checkpoint>>,
    state: TableState,
    protocol: Arc<Protocol>,
    metadata: Arc<Metadata>,
    schema: Arc<StructType>,
    column_mapping: ColumnMappingMode,
    adds: Arc<Vec<Survivors>>,
    /// Of the commits alone.
    removes: Arc<Vec<Survivors>>,
    domains: Arc<BTreeMap<String, DomainMetadata>>,
    newest_commit_info: Option<Arc<str>>,
    file_time_ms: Option<i64>,
    /// When the log was last listed and this was its newest version; none if that is not known.
    listed: Option<Observed>,
    /// What a checksum said of it.
    agreement: Agreement,
    warnings: Arc<Vec<String>>,
}

impl Snapshot {
    /// Where the table is.
    #[must_use]
    pub fn location(&self) -> &Arc<TableLocation> {
        &self.location
    }

    /// The version.
    #[must_use]
    pub fn version(&self) -> Version {
        self.segment.version
    }

    /// When the log was last listed and this was its newest version; none if that is not known.
    pub(crate) fn listed(&self) -> Option<Observed> {
        self.listed
    }

    /// What a checksum said of the version.
    pub(crate) fn agreement(&self) -> Agreement {
        self.agreement
    }

    /// How the snapshot was opened.
    pub(crate) fn options(&self) -> LoadOptions {
        self.options
    }

    /// How long a line of the log may be before it is refused, in bytes.
    pub(crate) fn max_line_bytes(&self) -> usize {
        self.options.max_line_bytes
    }

    /// The adds that stand, where opening left them.
    pub(crate) fn adds(&self) -> &[Survivors] {
        &self.adds
    }

    /// The removes of the commits that stand, where opening left them. Those of the checkpoint were not read.
    pub(crate) fn removes(&self) -> &[Survivors] {
        &self.removes
    }

    /// The checkpoint that the snapshot starts from.
    pub(crate) fn checkpoint(&self) -> Option<&Arc<Checkpoint>> {
        self.checkpoint.as_ref()
    }

    /// The files that make the version.
    #[must_use]
    pub fn segment(&self) -> &LogSegment {
        &self.segment
    }

    /// What the table asks of its readers and writers.
    #[must_use]
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// What the table says about itself.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Arc<StructType> {
        &self.schema
    }

    /// The partition columns, in the metadata's order.
    #[must_use]
    pub fn partition_fields(&self) -> Vec<&StructField> {
        self.metadata
            .partition_columns
            .iter()
            .filter_map(|name| self.schema.field(name))
            .collect()
    }

    /// The newest transaction identifier of each application, expired ones among them.
    #[must_use]
    pub fn txns(&self) -> &BTreeMap<String, Txn> {
        &self.state.txns
    }

    /// Whether who opens the version anew has the same transaction identifiers, whichever checkpoint stands by then.
    pub(crate) fn knows_all_txns(&self) -> bool {
        !self.state.remembers_longer
    }

    /// The transaction identifiers that have not expired at a time, in milliseconds since the epoch.
    ///
    /// Protocol: *Transaction Identifiers*. They expire where the table says after how long; where it says so in words
    /// that cannot be read none does, since one that is forgotten lets the same data in again.
    #[must_use]
    pub fn current_txns(&self, now_ms: i64) -> Vec<&Txn> {
        let retention_ms = txn_retention_ms(&self.metadata).unwrap_or(None);
        let is_current = |txn: &&Txn| !txn_is_expired(txn.last_updated, retention_ms, now_ms);
        self.state.txns.values().filter(is_current).collect()
    }

    /// How columns are named in the data files, and in the log's partition values and statistics.
    #[must_use]
    pub fn column_mapping(&self) -> ColumnMappingMode {
        self.column_mapping
    }

    /// The domains' metadata, removed ones left out.
    #[must_use]
    pub fn domains(&self) -> &BTreeMap<String, DomainMetadata> {
        &self.domains
    }

    /// The `commitInfo` of the version's own commit as JSON text, where the commit was read and has one.
    #[must_use]
    pub fn commit_info(&self) -> Option<&str> {
        self.newest_commit_info.as_deref()
    }

    /// When the version's commit was written by its file, made to rise over the versions, in milliseconds since the
    /// epoch; none where the log was not listed far enough to tell.
    #[must_use]
    pub fn file_time_ms(&self) -> Option<i64> {
        self.file_time_ms
    }

    /// What was passed over on the way, for people.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
