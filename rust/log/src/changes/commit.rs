//! The file actions and the protocol and metadata of one commit.

use std::borrow::Cow;
use std::sync::Arc;

use deltaic_protocol::actions::{ActionLine, Cdc, Metadata, PartitionText, Protocol, Text, parse_line};
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::statistics::num_records;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use serde_json::value::RawValue;

use super::changed_file::{ChangedFile, PartitionValues};
use crate::decode::action_text::{ActionText, Line};
use crate::listing::LogFile;
use deltaic_storage::location::TableLocation;
use deltaic_storage::store_error;

/// An add or a remove.
pub(crate) struct FileAction {
    /// Whether this is an add.
    pub(crate) came: bool,
    /// The deletion time of a remove, in milliseconds since the epoch.
    pub(crate) deletion_timestamp: Option<i64>,
    /// The `dataChange` flag.
    pub(super) changes_data: bool,
    /// Whether the action has partition values.
    pub(super) has_values: bool,
    pub(crate) file: ChangedFile,
}

#[derive(Default)]
pub(crate) struct Actions {
    pub(crate) files: Vec<FileAction>,
    pub(crate) cdc: Vec<Cdc>,
    pub(super) protocol: Option<Protocol>,
    pub(super) metadata: Option<Metadata>,
    pub(super) commit_info: Option<String>,
}

pub(crate) struct Commit {
    pub(super) version: Version,
    pub(super) modified_ms: i64,
    pub(crate) actions: Actions,
}

pub(crate) async fn read_commit(
    location: &Arc<TableLocation>,
    file: Arc<LogFile>,
    max_line_bytes: usize,
) -> Result<Commit> {
    let (relative, version, modified_ms) = (file.relative(), file.path.version, file.modified_ms);
    let failed = |error: object_store::Error| store_error(&error, &relative).with("version", version);
    let text = ActionText::fetch(Arc::clone(location), file, max_line_bytes)
        .await
        .map_err(failed)?;
    let mut actions = Actions::default();
    let mut outcome = Ok(());
    text.for_each_line(&mut |number, line| {
        if outcome.is_ok() {
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            outcome = actions.take(&line).map_err(|error| error.with("line", number));
        }
    })
    .await
    .map_err(failed)?;
    outcome.map_err(|error| error.with("path", relative.as_str()).with("version", version))?;
    Ok(Commit {
        version,
        modified_ms,
        actions,
    })
}

impl Actions {
    fn take(&mut self, line: &Line<'_>) -> Result<()> {
        let Line::Text(line) = line else {
            return Err(Error::new(
                ErrorKind::CorruptLog,
                "a line is longer than max_line_bytes allows",
            )
            .hint("raise max_line_bytes if you trust the table"));
        };
        match parse_line(line)? {
            ActionLine::Add(add) => self.files.push(FileAction {
                came: true,
                deletion_timestamp: None,
                changes_data: add.data_change,
                has_values: true,
                file: ChangedFile {
                    path: add.path.0.into_owned(),
                    partition_values: owned(&add.partition_values),
                    size: Some(add.size),
                    deletion_vector: add.deletion_vector.as_ref().map(Descriptor::from),
                    base_row_id: add.base_row_id,
                    default_row_commit_version: add.default_row_commit_version,
                    num_records: add.stats.and_then(records_in),
                    live_files: None,
                },
            }),
            ActionLine::Remove(remove) => self.files.push(FileAction {
                came: false,
                deletion_timestamp: remove.deletion_timestamp,
                changes_data: remove.data_change,
                has_values: remove.partition_values.is_some(),
                file: ChangedFile {
                    path: remove.path.0.into_owned(),
                    partition_values: remove.partition_values.as_ref().map(owned).unwrap_or_default(),
                    size: remove.size,
                    deletion_vector: remove.deletion_vector.as_ref().map(Descriptor::from),
                    base_row_id: remove.base_row_id,
                    default_row_commit_version: remove.default_row_commit_version,
                    num_records: remove.stats.and_then(records_in),
                    live_files: None,
                },
            }),
            ActionLine::Cdc => {
                let text = std::str::from_utf8(line)
                    .map_err(|_| Error::new(ErrorKind::CorruptLog, "a cdc action is not UTF-8"))?;
                self.cdc.extend(Cdc::parse_line(text)?);
            }
            ActionLine::Protocol(protocol) => self.protocol = Some(protocol),
            ActionLine::Metadata(metadata) => self.metadata = Some(metadata),
            ActionLine::CommitInfo(info) => self.commit_info = Some(info.get().to_owned()),
            _ => {}
        }
        Ok(())
    }
}

/// Returns `numRecords` of the statistics, which are a JSON string that contains JSON.
fn records_in(stats: &RawValue) -> Option<i64> {
    let text: Cow<'_, str> = serde_json::from_str(stats.get()).ok()?;
    num_records(&text)
}

fn owned(values: &PartitionText<'_>) -> PartitionValues {
    let text = |text: &Text<'_>| text.0.clone().into_owned();
    values
        .0
        .iter()
        .map(|(name, value)| (text(name), value.as_ref().map(text)))
        .collect()
}
