//! The actions on the table as a whole, as opposed to file actions.

use std::collections::HashSet;

use deltaic_protocol::actions::{
    ActionLine, CheckpointMetadata, DomainMetadata, Metadata, Protocol, Sidecar, Txn,
};
use deltaic_protocol::{Error, ErrorKind, Result};

/// The actions of one commit or checkpoint that are decoded to values.
#[derive(Clone, Debug, Default)]
pub struct TableActions {
    /// The protocol, if present.
    pub protocol: Option<Protocol>,
    /// The metadata, if present.
    pub metadata: Option<Metadata>,
    /// The transaction identifiers.
    pub txns: Vec<Txn>,
    /// The domain metadata.
    pub domains: Vec<DomainMetadata>,
    /// The sidecar files of a checkpoint.
    pub sidecars: Vec<Sidecar>,
    /// The marker of a V2 checkpoint, if present.
    pub checkpoint_metadata: Option<CheckpointMetadata>,
    /// The `commitInfo` action as JSON text.
    pub commit_info: Option<String>,
    /// Whether there are change data files, which are not part of the table's state.
    pub names_change_data: bool,
}

impl TableActions {
    /// Adds an action. A duplicate of an action that may occur once is a `CorruptLog`.
    pub(crate) fn take(&mut self, action: ActionLine<'_>) -> Result<()> {
        match action {
            ActionLine::Protocol(protocol) => self.merge(Self {
                protocol: Some(protocol),
                ..Self::default()
            }),
            ActionLine::Metadata(metadata) => self.merge(Self {
                metadata: Some(metadata),
                ..Self::default()
            }),
            ActionLine::Txn(txn) => {
                self.txns.push(txn);
                Ok(())
            }
            ActionLine::DomainMetadata(domain) => {
                self.domains.push(domain);
                Ok(())
            }
            ActionLine::CommitInfo(info) => {
                self.commit_info = Some(info.get().to_owned());
                Ok(())
            }
            ActionLine::Sidecar(sidecar) => {
                self.sidecars.push(sidecar);
                Ok(())
            }
            ActionLine::CheckpointMetadata(metadata) => self.merge(Self {
                checkpoint_metadata: Some(metadata),
                ..Self::default()
            }),
            ActionLine::Cdc => {
                self.names_change_data = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Merges the actions of another part of the same file.
    pub(super) fn merge(&mut self, other: Self) -> Result<()> {
        let (protocol, metadata) = (other.protocol, other.metadata);
        if protocol.is_some() && std::mem::replace(&mut self.protocol, protocol).is_some() {
            return Err(twice("protocol"));
        }
        if metadata.is_some() && std::mem::replace(&mut self.metadata, metadata).is_some() {
            return Err(twice("metaData"));
        }
        let marked = other.checkpoint_metadata;
        if marked.is_some() && std::mem::replace(&mut self.checkpoint_metadata, marked).is_some() {
            return Err(twice("checkpointMetadata"));
        }
        self.txns.extend(other.txns);
        self.domains.extend(other.domains);
        self.sidecars.extend(other.sidecars);
        self.commit_info = other.commit_info.or(self.commit_info.take());
        self.names_change_data |= other.names_change_data;
        Ok(())
    }

    /// Verifies that each application and each domain has at most one action.
    pub(crate) fn validate(&self) -> Result<()> {
        let mut apps = HashSet::new();
        if let Some(txn) = self.txns.iter().find(|txn| !apps.insert(txn.app_id.as_str())) {
            return Err(twice(&format!("txn ({})", txn.app_id)));
        }
        let mut domains = HashSet::new();
        match self
            .domains
            .iter()
            .find(|domain| !domains.insert(domain.domain.as_str()))
        {
            Some(domain) => Err(twice(&format!("domainMetadata ({})", domain.domain))),
            None => Ok(()),
        }
    }

    /// Verifies that a compaction file contains only reconciled actions, so neither `commitInfo` nor change
    /// data files.
    ///
    /// Protocol: *Log Compaction Files*.
    pub(super) fn validate_compaction(&self) -> Result<()> {
        let field = match (&self.commit_info, self.names_change_data) {
            (Some(_), _) => "commitInfo",
            (None, true) => "cdc",
            (None, false) => return Ok(()),
        };
        let message = format!("the compaction file contains {field}, so its actions were not reconciled");
        Err(Error::new(ErrorKind::CorruptLog, message).with("field", field))
    }

    /// Returns the actions without those that are valid only in a checkpoint.
    ///
    /// Protocol: *Action Reconciliation*.
    pub(super) fn of_a_commit(self) -> Self {
        Self {
            sidecars: Vec::new(),
            checkpoint_metadata: None,
            ..self
        }
    }

    /// Whether there is no action that a snapshot stores.
    pub(super) fn is_silent(&self) -> bool {
        self.protocol.is_none() && self.metadata.is_none() && self.txns.is_empty() && self.domains.is_empty()
    }
}

fn twice(what: &str) -> Error {
    Error::new(ErrorKind::CorruptLog, format!("there are two {what} actions"))
}
