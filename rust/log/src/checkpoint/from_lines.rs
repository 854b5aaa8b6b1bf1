//! Reads the surviving actions of line-based files again, with every field: commits, compaction files,
//! top-level files in JSON.
//!
//! Loading a snapshot decodes only the fields that replay needs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;
use deltaic_protocol::actions::{ActionLine, AddLine, LogicalFileKey, PartitionText, RemoveLine, parse_line};
use deltaic_protocol::deletion_vector::{Descriptor, DescriptorText};
use deltaic_protocol::{Error, ErrorKind, Result};
use futures::StreamExt;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::columns::{add_schema, failed, remove_schema};
use super::surviving_rows::SurvivingFile;
use super::take_actions::TakeActions;
use crate::decode::action_text::{ActionText, Line};
use crate::listing::LogFile;
use deltaic_storage::location::TableLocation;
use deltaic_storage::store_error;

/// Number of files that are prefetched; only small ones are buffered in memory.
const FETCHES: usize = 8;

/// Number of actions that are buffered before they are written.
const TOGETHER: usize = 1024;

/// Writes the surviving actions of the files.
pub(super) async fn write_lines(
    location: &Arc<TableLocation>,
    files: Vec<SurvivingFile>,
    max_line_bytes: usize,
    out: &mut impl TakeActions,
) -> Result<()> {
    let fetched: Vec<_> = files
        .into_iter()
        .map(|surviving| {
            let location = Arc::clone(location);
            async move {
                let file = Arc::clone(&surviving.file);
                let text = ActionText::fetch(location, file, max_line_bytes).await;
                (surviving, text)
            }
        })
        .collect();
    let mut fetched = futures::stream::iter(fetched).buffered(FETCHES);
    let mut gathered = Gathered::try_new()?;
    while let Some((mut surviving, text)) = fetched.next().await {
        let file = Arc::clone(&surviving.file);
        let failed = |error: object_store::Error| unreadable(&error, &file);
        let mut pieces = text.map_err(failed)?.pieces().await.map_err(failed)?;
        let mut is_more = true;
        while is_more {
            let mut fault = None;
            let mut visit = |number: usize, line: Line<'_>| {
                if fault.is_none()
                    && let Err(error) = gathered.take(line, &mut surviving)
                {
                    fault = Some(error.with("line", i64::try_from(number).unwrap_or(i64::MAX)));
                }
            };
            is_more = pieces.next(&mut visit).await.map_err(failed)?;
            if let Some(error) = fault {
                return Err(locate(error, &file));
            }
            gathered.write(TOGETHER, out).await?;
        }
        if !surviving.adds.is_met() || !surviving.removes.is_met() {
            return Err(locate(changed(), &file));
        }
    }
    gathered.write(1, out).await
}

/// Buffered actions, which are decoded to columns.
struct Gathered {
    adds: Decoder,
    removes: Decoder,
}

impl Gathered {
    fn try_new() -> Result<Self> {
        let decoder = |schema| ReaderBuilder::new(schema).build_decoder().map_err(failed);
        Ok(Self {
            adds: decoder(add_schema())?,
            removes: decoder(remove_schema())?,
        })
    }

    /// Adds the action of a line if it survives.
    fn take(&mut self, line: Line<'_>, surviving: &mut SurvivingFile) -> Result<()> {
        let Line::Text(line) = line else {
            return Err(changed());
        };
        match parse_line(line)? {
            ActionLine::Add(add) if surviving.adds.meet(&key(&add.path, &add.deletion_vector)) => {
                self.adds.serialize(&[AddRow::of(&add)]).map_err(failed)
            }
            ActionLine::Remove(remove)
                if surviving
                    .removes
                    .meet(&key(&remove.path, &remove.deletion_vector)) =>
            {
                self.removes.serialize(&[RemoveRow::of(&remove)]).map_err(failed)
            }
            _ => Ok(()),
        }
    }

    /// Writes the buffered actions once there are at least `least`.
    async fn write(&mut self, least: usize, out: &mut impl TakeActions) -> Result<()> {
        let flush = |decoder: &mut Decoder| -> Result<Option<RecordBatch>> {
            match decoder.len() >= least {
                true => decoder.flush().map_err(failed),
                false => Ok(None),
            }
        };
        if let Some(adds) = flush(&mut self.adds)? {
            out.adds(&adds, None).await?;
        }
        if let Some(removes) = flush(&mut self.removes)? {
            out.removes(removes).await?;
        }
        Ok(())
    }
}

fn key<'a>(path: &'a str, vector: &'a Option<DescriptorText<'_>>) -> LogicalFileKey<'a> {
    let id = |vector: &'a DescriptorText<'_>| {
        (
            &*vector.storage_type as &'a str,
            &*vector.path_or_inline_dv as &'a str,
            vector.offset,
        )
    };
    LogicalFileKey::new(path, vector.as_ref().map(id))
}

/// An add with all fields; absent ones are NULL.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct AddRow<'a> {
    path: &'a str,
    partition_values: Values<'a>,
    size: i64,
    modification_time: i64,
    tags: Option<BTreeMap<String, Option<String>>>,
    deletion_vector: Option<Descriptor>,
    base_row_id: Option<i64>,
    default_row_commit_version: Option<i64>,
    clustering_provider: Option<&'a str>,
    stats: Option<Cow<'a, str>>,
}

impl<'a> AddRow<'a> {
    fn of(add: &'a AddLine<'_>) -> Self {
        Self {
            path: &add.path,
            partition_values: Values(&add.partition_values),
            size: add.size,
            modification_time: add.modification_time,
            tags: add.tags.and_then(tags),
            deletion_vector: add.deletion_vector.as_ref().map(Descriptor::from),
            base_row_id: add.base_row_id,
            default_row_commit_version: add.default_row_commit_version,
            clustering_provider: add.clustering_provider.as_deref(),
            // Statistics that are not a string cannot be used and are dropped.
            stats: add.stats.and_then(|raw| serde_json::from_str(raw.get()).ok()),
        }
    }
}

/// A tombstone with all fields of a checkpoint.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct RemoveRow<'a> {
    path: &'a str,
    deletion_timestamp: Option<i64>,
    /// Always false in a checkpoint.
    data_change: bool,
    extended_file_metadata: Option<bool>,
    partition_values: Option<Values<'a>>,
    size: Option<i64>,
    deletion_vector: Option<Descriptor>,
    base_row_id: Option<i64>,
    default_row_commit_version: Option<i64>,
}

impl<'a> RemoveRow<'a> {
    fn of(remove: &'a RemoveLine<'_>) -> Self {
        Self {
            path: &remove.path,
            deletion_timestamp: remove.deletion_timestamp,
            data_change: false,
            extended_file_metadata: remove.extended_file_metadata,
            partition_values: remove.partition_values.as_ref().map(Values),
            size: remove.size,
            deletion_vector: remove.deletion_vector.as_ref().map(Descriptor::from),
            base_row_id: remove.base_row_id,
            default_row_commit_version: remove.default_row_commit_version,
        }
    }
}

/// Partition values in the order of the line.
struct Values<'a>(&'a PartitionText<'a>);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.0.len()))?;
        for (name, value) in &self.0.0 {
            map.serialize_entry(&**name, &value.as_deref())?;
        }
        map.end()
    }
}

/// Converts tags, whose values should be strings; other values are converted to JSON text.
fn tags(raw: &RawValue) -> Option<BTreeMap<String, Option<String>>> {
    let Ok(Value::Object(tags)) = serde_json::from_str(raw.get()) else {
        return None;
    };
    let text = |value: Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    };
    Some(tags.into_iter().map(|(key, value)| (key, text(value))).collect())
}

fn changed() -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        "a file of the log changed since the table was opened",
    )
    .hint("open the table again; no checkpoint was written")
}

fn locate(error: Error, file: &LogFile) -> Error {
    error.with("path", file.relative())
}

fn unreadable(error: &object_store::Error, file: &LogFile) -> Error {
    match error {
        object_store::Error::NotFound { .. } => locate(changed(), file),
        other => store_error(other, &file.relative()),
    }
}
