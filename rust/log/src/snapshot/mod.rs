//! A table at one version.

mod files;
mod load;
mod refresh;

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::Version;
use deltaic_protocol::actions::{DomainMetadata, Metadata, Protocol, Txn};
use deltaic_protocol::schema::{StructField, StructType};

pub use files::{Files, PruneReport};
pub use load::{LoadOptions, exists};

use crate::decode::Actions;
use crate::location::TableLocation;
use crate::reconcile::Survivors;
use crate::segment::LogSegment;

/// A table at one version. Cheap to clone; what it holds never changes.
#[derive(Clone, Debug)]
pub struct Snapshot {
    location: Arc<TableLocation>,
    options: LoadOptions,
    segment: Arc<LogSegment>,
    checkpoint: Option<Arc<Actions>>,
    commits_newest_first: Arc<Vec<(Version, Arc<Actions>)>>,
    protocol: Arc<Protocol>,
    metadata: Arc<Metadata>,
    schema: Arc<StructType>,
    adds: Arc<Vec<Survivors>>,
    tombstones: Arc<Vec<Survivors>>,
    txns: Arc<BTreeMap<String, Txn>>,
    domains: Arc<BTreeMap<String, DomainMetadata>>,
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

    /// The newest transaction identifier of each application.
    #[must_use]
    pub fn txns(&self) -> &BTreeMap<String, Txn> {
        &self.txns
    }

    /// The domains' metadata, removed ones left out.
    #[must_use]
    pub fn domains(&self) -> &BTreeMap<String, DomainMetadata> {
        &self.domains
    }

    /// What was passed over on the way, for people.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
