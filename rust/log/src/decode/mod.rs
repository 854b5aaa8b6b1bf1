//! From a log file's bytes to actions.

pub mod checkpoint;
mod columns_builder;
pub mod commit;

use arrow_array::RecordBatch;
use deltaic_protocol::actions::{DomainMetadata, Metadata, Protocol, Txn};

/// What a commit or a checkpoint says. File actions are columns; the rare ones are values.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    /// The adds: batches of [`deltaic_protocol::actions::columns::add_schema`].
    pub adds: Vec<RecordBatch>,
    /// The removes: batches of [`deltaic_protocol::actions::columns::remove_schema`].
    pub removes: Vec<RecordBatch>,
    /// The protocol, where it is given.
    pub protocol: Option<Protocol>,
    /// The metadata, where it is given.
    pub metadata: Option<Metadata>,
    /// The transaction identifiers.
    pub txns: Vec<Txn>,
    /// The domains' metadata.
    pub domains: Vec<DomainMetadata>,
    /// The `commitInfo` action as JSON text.
    pub commit_info: Option<String>,
}
