//! From a log file's bytes to actions.

pub mod checkpoint;
mod columns_builder;
pub mod commit;
mod lines;

use arrow_array::RecordBatch;
use deltaic_protocol::actions::{CheckpointMetadata, DomainMetadata, Metadata, Protocol, Sidecar, Txn};

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
    /// The files that hold the rest of a checkpoint.
    pub sidecars: Vec<Sidecar>,
    /// What marks a checkpoint of the V2 spec, where it is one.
    pub checkpoint_metadata: Option<CheckpointMetadata>,
    /// The `commitInfo` action as JSON text.
    pub commit_info: Option<String>,
}
