//! What one commit says about files and about the table.

use std::sync::Arc;

use deltaic_protocol::actions::{ActionLine, Cdc, Metadata, PartitionText, Protocol, Text, parse_line};
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::{Error, ErrorKind, Result, Version};

use super::{ChangedFile, Live, PartitionValues};
use crate::decode::action_text::{ActionText, Line};
use crate::listing::LogFile;
use crate::location::TableLocation;
use crate::store_error::store_error;

/// A file that went, with its partition values where the writer kept them.
pub(super) struct Removed {
    pub(super) file: ChangedFile,
    pub(super) has_values: bool,
}

#[derive(Default)]
struct Actions {
    touched: Vec<(String, Live, bool)>,
    adds: Vec<ChangedFile>,
    removes: Vec<Removed>,
    cdc: Vec<Cdc>,
    protocol: Option<Protocol>,
    metadata: Option<Metadata>,
    commit_info: Option<String>,
}

pub(super) struct Commit {
    pub(super) version: Version,
    pub(super) modified_ms: i64,
    /// Every file that came or went: its path, its vector, and whether it came.
    pub(super) touched: Vec<(String, Live, bool)>,
    pub(super) adds: Vec<ChangedFile>,
    pub(super) removes: Vec<Removed>,
    pub(super) cdc: Vec<Cdc>,
    pub(super) protocol: Option<Protocol>,
    pub(super) metadata: Option<Metadata>,
    pub(super) commit_info: Option<String>,
}

pub(super) async fn read_commit(
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
        touched: actions.touched,
        adds: actions.adds,
        removes: actions.removes,
        cdc: actions.cdc,
        protocol: actions.protocol,
        metadata: actions.metadata,
        commit_info: actions.commit_info,
    })
}

impl Actions {
    fn take(&mut self, line: &Line<'_>) -> Result<()> {
        let Line::Text(line) = line else {
            return Err(Error::new(
                ErrorKind::CorruptLog,
                "a line is longer than max_line_bytes allows",
            )
            .hint("raise max_line_bytes if the table is yours"));
        };
        let action = parse_line(line)?;
        match &action {
            ActionLine::Add(add) => {
                let vector = add.deletion_vector.as_ref().map(Descriptor::from);
                self.touched.push((add.path.0.clone().into_owned(), vector, true));
            }
            ActionLine::Remove(remove) => {
                let vector = remove.deletion_vector.as_ref().map(Descriptor::from);
                self.touched
                    .push((remove.path.0.clone().into_owned(), vector, false));
            }
            _ => {}
        }
        match action {
            ActionLine::Add(add) if add.data_change => self.adds.push(ChangedFile {
                path: add.path.0.into_owned(),
                partition_values: owned(&add.partition_values),
                size: Some(add.size),
                deletion_vector: add.deletion_vector.as_ref().map(Descriptor::from),
                base_row_id: add.base_row_id,
                default_row_commit_version: add.default_row_commit_version,
                standing: None,
            }),
            ActionLine::Remove(remove) if remove.data_change => self.removes.push(Removed {
                has_values: remove.partition_values.is_some(),
                file: ChangedFile {
                    path: remove.path.0.into_owned(),
                    partition_values: remove.partition_values.as_ref().map(owned).unwrap_or_default(),
                    size: remove.size,
                    deletion_vector: remove.deletion_vector.as_ref().map(Descriptor::from),
                    base_row_id: remove.base_row_id,
                    default_row_commit_version: remove.default_row_commit_version,
                    standing: None,
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

fn owned(values: &PartitionText<'_>) -> PartitionValues {
    let text = |text: &Text<'_>| text.0.clone().into_owned();
    values
        .0
        .iter()
        .map(|(name, value)| (text(name), value.as_ref().map(text)))
        .collect()
}
