//! The actions of a winning commit that matter for conflict detection.

use deltaic_protocol::actions::{
    ActionLine, AddLine, CommitInfo, DomainMetadata, Metadata, PartitionText, Protocol, RemoveLine, Text,
    Txn, parse_line,
};
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::row_tracking;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use serde_json::Value;

use super::Operation;
use crate::changes::PartitionValues;
use crate::decode::TableActions;
use crate::decode::action_text::{Line, for_each_line};

/// Tag of a commit whose metadata changes only the high water marks of identity columns.
const IDENTITY_ONLY: &str = "delta.identity.schemaUpdate";

/// A file that a commit added or removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WinningFile {
    /// The path, as in the log.
    pub path: String,
    /// The partition values; empty for a removed file if the writer omitted them.
    pub partition_values: PartitionValues,
    /// The `dataChange` flag.
    pub data_change: bool,
    /// The deletion vector.
    pub deletion_vector: Option<Descriptor>,
    /// The row id of its first row.
    pub base_row_id: Option<i64>,
    /// The default row commit version.
    pub default_row_commit_version: Option<i64>,
    /// The statistics of an added file, as JSON text; `None` if it has none, or if they are no text.
    pub stats: Option<String>,
}

/// A winning commit.
#[derive(Clone, Debug)]
pub struct WinningCommit {
    /// The version.
    pub version: Version,
    /// Modification time of the commit file, in milliseconds since the epoch.
    pub modified_ms: i64,
    /// The protocol, if it changed.
    pub protocol: Option<Protocol>,
    /// The metadata, if it changed.
    pub metadata: Option<Metadata>,
    /// Whether the metadata changes only high water marks of identity columns.
    pub is_identity_only: bool,
    /// Added files.
    pub adds: Vec<WinningFile>,
    /// Removed files.
    pub removes: Vec<WinningFile>,
    /// Application transaction versions.
    pub txns: Vec<Txn>,
    /// Changed domain metadata.
    pub domains: Vec<DomainMetadata>,
    /// The `isBlindAppend` flag; false if not specified.
    pub is_blind_append: bool,
    /// The unique id of the commit (`txnId`).
    pub txn_id: Option<String>,
    /// The in-commit timestamp in milliseconds since the epoch, if enabled.
    pub in_commit_timestamp: Option<i64>,
    /// The operation name.
    pub operation: Option<String>,
}

impl WinningCommit {
    /// Returns a commit without actions; `modified_ms` is in milliseconds since the epoch.
    #[must_use]
    pub fn silent(version: Version, modified_ms: i64) -> Self {
        Self {
            version,
            modified_ms,
            protocol: None,
            metadata: None,
            is_identity_only: false,
            adds: Vec::new(),
            removes: Vec::new(),
            txns: Vec::new(),
            domains: Vec::new(),
            is_blind_append: false,
            txn_id: None,
            in_commit_timestamp: None,
            operation: None,
        }
    }

    /// Decodes the bytes of a commit file last modified at `modified_ms`.
    ///
    /// # Errors
    ///
    /// `CorruptLog` with the `path`, the `version` and the `line`.
    pub fn decode(version: Version, modified_ms: i64, bytes: &[u8], max_line_bytes: usize) -> Result<Self> {
        let located = |error: Error| {
            let located = error
                .with("path", LogPath::commit(version))
                .with("version", version);
            located.or_hint("the commit is damaged: restore it from a backup of the table")
        };
        let mut winning_commit = Self::silent(version, modified_ms);
        let mut table = TableActions::default();
        let (mut lines, mut outcome) = (0, Ok(()));
        for_each_line(bytes, max_line_bytes, &mut |number, line| {
            if outcome.is_ok() {
                let number = i64::try_from(number).unwrap_or(i64::MAX);
                lines = number;
                outcome = winning_commit
                    .take(&mut table, &line)
                    .map_err(|error| error.with("line", number));
            }
        });
        outcome.and_then(|()| table.validate()).map_err(located)?;
        if lines == 0 {
            return Err(located(Error::new(
                ErrorKind::CorruptLog,
                "the commit contains no action",
            )));
        }
        winning_commit.protocol = table.protocol;
        winning_commit.metadata = table.metadata;
        winning_commit.txns = table.txns;
        winning_commit.domains = table.domains;
        let info = table
            .commit_info
            .and_then(|text| serde_json::from_str::<CommitInfo>(&text).ok())
            .unwrap_or_default();
        winning_commit.is_blind_append = info.is_blind_append == Some(true);
        winning_commit.txn_id = info.txn_id;
        winning_commit.in_commit_timestamp = info.in_commit_timestamp;
        winning_commit.operation = info.operation;
        winning_commit.is_identity_only = info.tags.is_some_and(|tags| is_true(tags.get(IDENTITY_ONLY)));
        Ok(winning_commit)
    }

    fn take(&mut self, table: &mut TableActions, line: &Line<'_>) -> Result<()> {
        let Line::Text(line) = line else {
            let what = "a line is longer than max_line_bytes allows";
            return Err(
                Error::new(ErrorKind::CorruptLog, what).hint("raise max_line_bytes if you trust the table")
            );
        };
        match parse_line(line)? {
            ActionLine::Add(add) => self.adds.push(came(&add)),
            ActionLine::Remove(remove) => self.removes.push(went(&remove)),
            other => table.take(other)?,
        }
        Ok(())
    }

    /// Whether the operation is a row-id backfill.
    #[must_use]
    pub fn is_backfill(&self) -> bool {
        self.operation.as_deref() == Some(Operation::RowTrackingBackfill.name())
    }

    /// Whether the operation removes row ids from files.
    #[must_use]
    pub fn is_unbackfill(&self) -> bool {
        self.operation.as_deref() == Some(Operation::RowTrackingUnbackfill.name())
    }

    /// The row-id high water mark that the commit sets; `None` if it assigns no row ids.
    ///
    /// # Errors
    ///
    /// `CorruptLog` if the domain metadata does not parse.
    pub fn high_water_mark(&self) -> Result<Option<i64>> {
        let mut domains = self.domains.iter();
        let domain = domains.find(|domain| domain.domain == row_tracking::DOMAIN);
        Ok(domain
            .map(row_tracking::high_water_mark)
            .transpose()
            .map_err(|error| error.with("version", self.version))?
            .flatten())
    }
}

/// The protocol defines tags as strings; some writers use a boolean.
fn is_true(tag: Option<&Value>) -> bool {
    match tag {
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
        Some(Value::Bool(value)) => *value,
        _ => false,
    }
}

fn came(add: &AddLine<'_>) -> WinningFile {
    WinningFile {
        path: add.path.0.clone().into_owned(),
        partition_values: owned(&add.partition_values),
        data_change: add.data_change,
        deletion_vector: add.deletion_vector.as_ref().map(Descriptor::from),
        base_row_id: add.base_row_id,
        default_row_commit_version: add.default_row_commit_version,
        stats: add.stats.and_then(|raw| serde_json::from_str(raw.get()).ok()),
    }
}

fn went(remove: &RemoveLine<'_>) -> WinningFile {
    WinningFile {
        path: remove.path.0.clone().into_owned(),
        partition_values: remove.partition_values.as_ref().map(owned).unwrap_or_default(),
        data_change: remove.data_change,
        deletion_vector: remove.deletion_vector.as_ref().map(Descriptor::from),
        base_row_id: remove.base_row_id,
        default_row_commit_version: remove.default_row_commit_version,
        stats: None,
    }
}

fn owned(values: &PartitionText<'_>) -> PartitionValues {
    let text = |text: &Text<'_>| text.0.clone().into_owned();
    let pairs = values.0.iter();
    pairs
        .map(|(name, value)| (text(name), value.as_ref().map(text)))
        .collect()
}

#[cfg(test)]
mod tests;
