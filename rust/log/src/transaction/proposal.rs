//! The staged actions of a transaction, and the facts that conflict detection needs.
//!
//! Protocol: *Actions*, *Add File and Remove File*, *Domain Metadata*, *Transaction Identifiers*.

use std::collections::HashSet;

use deltaic_protocol::actions::{Add, Cdc, DomainMetadata, LogicalFileKey, Metadata, Protocol, Remove, Txn};
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration, Version};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Operation;

/// What determines whether a row is changed, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecidedBy {
    /// The row alone: a DELETE or UPDATE whose predicate and new values depend on no other row, or a MERGE, whose read
    /// set has the rows that match.
    Row,
    /// Also other rows, or their absence: an overwrite, or unknown.
    #[default]
    Table,
}

/// The staged actions of one transaction.
#[derive(Clone, Debug, Default)]
pub struct Proposal {
    /// The operation.
    pub operation: Operation,
    /// What determines whether a row is changed.
    pub decided_by: DecidedBy,
    /// The new protocol, if it changes.
    pub protocol: Option<Protocol>,
    /// The new metadata, if it changes.
    pub metadata: Option<Metadata>,
    /// Added files.
    pub adds: Vec<Add>,
    /// Removed files.
    pub removes: Vec<Remove>,
    /// Change data files.
    pub cdc: Vec<Cdc>,
    /// Application transaction versions.
    pub txns: Vec<Txn>,
    /// Changed domain metadata.
    pub domains: Vec<DomainMetadata>,
    /// Whether rows that are copied to new files keep their row ids, which these files store.
    pub keeps_row_ids: bool,
    /// If the new protocol drops features: the latest version at which the table was verified not to use them.
    pub drop_proved_at: Option<Version>,
}

impl Proposal {
    /// Returns a table configuration as this commit changes it.
    #[must_use]
    pub fn applied_to(&self, table: &TableConfiguration) -> TableConfiguration {
        table.after(self.protocol.as_ref(), self.metadata.as_ref(), &self.domains)
    }

    /// Whether there is nothing to commit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.protocol.is_none()
            && self.metadata.is_none()
            && self.adds.is_empty()
            && self.removes.is_empty()
            && self.cdc.is_empty()
            && self.txns.is_empty()
            && self.domains.is_empty()
    }

    /// Whether any file action has `dataChange=true`.
    #[must_use]
    pub fn changes_rows(&self) -> bool {
        self.adds.iter().any(|add| add.data_change) || self.removes.iter().any(|remove| remove.data_change)
    }

    /// Whether removed rows may have been copied to a new file without their row ids. The actions do not distinguish
    /// copied rows from new ones.
    pub(super) fn may_copy_rows(&self) -> bool {
        if self.keeps_row_ids {
            return false;
        }
        let gone: HashSet<String> = self.removes.iter().map(|remove| key_of(&remove.path)).collect();
        let is_new = |add: &Add| !gone.contains(&key_of(&add.path));
        !gone.is_empty() && self.adds.iter().any(is_new)
    }

    pub(super) fn is_backfill(&self) -> bool {
        self.operation == Operation::RowTrackingBackfill
    }

    /// Whether the added files are live ones that are added again with other statistics.
    pub(super) fn is_about_statistics(&self) -> bool {
        self.operation == Operation::ComputeStatistics
    }

    pub(super) fn is_unbackfill(&self) -> bool {
        self.operation == Operation::RowTrackingUnbackfill
    }

    /// Validates that no two actions conflict: at most one add and one remove per path, no add and remove of the same
    /// logical file, one `txn` per application and one action per domain.
    ///
    /// # Errors
    ///
    /// `ValueError` with the `path`, `app_id` or `domain`.
    pub fn validate(&self) -> Result<()> {
        let twice = |what: &str| {
            Error::new(
                ErrorKind::InvalidArgument,
                format!("a commit must not contain {what}"),
            )
        };
        let mut added = HashSet::with_capacity(self.adds.len());
        for add in &self.adds {
            if !added.insert(key_of(&add.path)) {
                return Err(twice("two adds of one file").with("path", add.path.as_str()));
            }
        }
        let mut removed = HashSet::with_capacity(self.removes.len());
        for remove in &self.removes {
            if !removed.insert(key_of(&remove.path)) {
                return Err(twice("two removes of one file").with("path", remove.path.as_str()));
            }
        }
        let keys: HashSet<LogicalFileKey<'_>> = self.adds.iter().map(Add::key).collect();
        if let Some(remove) = self.removes.iter().find(|remove| keys.contains(&remove.key())) {
            return Err(twice("an add and a remove of one logical file").with("path", remove.path.as_str()));
        }
        let mut apps = HashSet::new();
        if let Some(txn) = self.txns.iter().find(|txn| !apps.insert(txn.app_id.as_str())) {
            return Err(twice("two versions of one application").with("app_id", txn.app_id.as_str()));
        }
        let mut domains = HashSet::new();
        let mut names = self.domains.iter().map(|domain| domain.domain.as_str());
        match names.find(|name| !domains.insert(*name)) {
            Some(name) => Err(twice("two actions for one domain").with("domain", name)),
            None => Ok(()),
        }
    }

    /// Returns the bytes of the commit: `commitInfo` first, then table-level actions, then file actions.
    ///
    /// Protocol: *Delta Log Entries*, *Writer Requirements for In-Commit Timestamps*.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch` for an action that is not valid UTF-8 JSON.
    pub fn to_bytes(&self, commit_info: &Value) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        push(&mut bytes, "commitInfo", commit_info)?;
        if let Some(protocol) = &self.protocol {
            push(&mut bytes, "protocol", protocol)?;
        }
        if let Some(metadata) = &self.metadata {
            push(&mut bytes, "metaData", metadata)?;
        }
        for domain in &self.domains {
            push(&mut bytes, "domainMetadata", domain)?;
        }
        for txn in &self.txns {
            push(&mut bytes, "txn", txn)?;
        }
        for remove in &self.removes {
            push(&mut bytes, "remove", remove)?;
        }
        for add in &self.adds {
            push(&mut bytes, "add", add)?;
        }
        for cdc in &self.cdc {
            push(&mut bytes, "cdc", cdc)?;
        }
        ensure_json_lines(&bytes)?;
        Ok(bytes)
    }
}

/// Last check before a commit is proposed: a line that does not parse would make the table unreadable.
fn ensure_json_lines(commit: &[u8]) -> Result<()> {
    for (number, line) in commit.split_inclusive(|byte| *byte == b'\n').enumerate() {
        serde_json::from_slice::<&RawValue>(line).map_err(|error| {
            let what = format!(
                "line {} of the commit is not valid UTF-8 JSON, so nothing was committed: {error}",
                number + 1
            );
            Error::new(ErrorKind::SchemaMismatch, what)
        })?;
    }
    Ok(())
}

fn push(bytes: &mut Vec<u8>, name: &str, action: &impl Serialize) -> Result<()> {
    let unwritten = |error: serde_json::Error| {
        let what = format!("a {name} action cannot be serialized: {error}");
        Error::new(ErrorKind::SchemaMismatch, what)
    };
    serde_json::to_writer(&mut *bytes, &json!({ name: action })).map_err(unwritten)?;
    bytes.push(b'\n');
    Ok(())
}

/// Returns the normalized path, which is equal for all spellings of a path.
pub(super) fn key_of(path: &str) -> String {
    LogicalFileKey::new(path, None).path().to_owned()
}

#[cfg(test)]
mod tests;
