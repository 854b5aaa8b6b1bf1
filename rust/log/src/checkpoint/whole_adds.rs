//! Reads the adds of live files with all their fields, for operations that commit them again.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{RecordBatch, StringViewArray, StructArray};
use arrow_buffer::BooleanBuffer;
use arrow_json::WriterBuilder;
use arrow_json::writer::LineDelimited;
use deltaic_protocol::actions::{Add, LogicalFileKey};
use deltaic_protocol::{Error, ErrorKind, Result};
use serde_json::Value;

use super::add_form::AddColumns;
use super::columns::failed;
use super::surviving_rows::surviving_files;
use super::take_actions::TakeActions;
use super::{from_checkpoint, from_lines};
use crate::reconcile::Survivors;
use crate::snapshot::Snapshot;

/// Returns the adds of the live files with these paths, or of all live files if `paths` is `None`, in no
/// order; paths without a live file are ignored. Every field is as in the log, except that `dataChange` is
/// false; statistics that a checkpoint has only as a struct are converted to JSON. Must be called inside a
/// runtime.
///
/// Reads only files of the log that contain one of the adds; if they were cleaned up since the snapshot was
/// opened, a checkpoint of the same version.
///
/// # Errors
///
/// `VersionNotFound` if the version was cleaned up; `CorruptLog` if a log file was replaced by another;
/// errors of the store.
pub async fn whole_adds(snapshot: &Snapshot, paths: Option<&[String]>) -> Result<Vec<Add>> {
    match read_adds(snapshot, paths).await {
        Err(error) if error.kind() == ErrorKind::CorruptLog => match snapshot.reopened().await? {
            Some(again) => read_adds(&again, paths).await,
            None => Err(error),
        },
        read => read,
    }
}

async fn read_adds(snapshot: &Snapshot, paths: Option<&[String]>) -> Result<Vec<Add>> {
    let form = AddColumns::of(snapshot)?;
    let keys = |paths: &'_ [String]| -> HashSet<String> {
        let keys = paths.iter().map(|path| LogicalFileKey::new(path, None));
        keys.map(|key| key.path().to_owned()).collect()
    };
    let wanted = paths.map(keys);
    let chosen = |survivors: &Survivors| {
        let Some(wanted) = &wanted else {
            return survivors.clone();
        };
        let keys = &survivors.files.keys;
        let mut live = vec![false; survivors.live.len()];
        for row in survivors.live.set_indices() {
            if let Some(live) = live.get_mut(row) {
                *live = wanted.contains(LogicalFileKey::new(keys.path(row), None).path());
            }
        }
        Survivors {
            files: Arc::clone(&survivors.files),
            live: BooleanBuffer::from(live),
        }
    };
    let adds: Vec<Survivors> = snapshot.adds().iter().map(chosen).collect();
    let mut found = Found {
        form: &form,
        adds: Vec::new(),
    };
    let written = from_checkpoint::write_adds(&adds, &mut found).await;
    written.map_err(|error| match snapshot.checkpoint() {
        Some(checkpoint) => checkpoint.locate(error),
        None => error,
    })?;
    let files = surviving_files(&adds, &[]);
    from_lines::write_lines(snapshot.location(), files, snapshot.max_line_bytes(), &mut found).await?;
    Ok(found.adds)
}

/// The adds found so far.
struct Found<'a> {
    form: &'a AddColumns,
    adds: Vec<Add>,
}

impl TakeActions for Found<'_> {
    async fn adds(&mut self, adds: &RecordBatch, parsed: Option<&StructArray>) -> Result<()> {
        let texts = adds
            .column_by_name("stats")
            .and_then(|stats| stats.as_string_view_opt());
        let none = StringViewArray::new_null(adds.num_rows());
        let texts = self.form.texts(texts.unwrap_or(&none), parsed)?;
        for (add, stats) in values_of(adds)?.into_iter().zip(&texts) {
            let mut add: Add = serde_json::from_value(add).map_err(unread)?;
            add.stats = stats.map(str::to_owned);
            self.adds.push(add);
        }
        Ok(())
    }

    async fn removes(&mut self, _: RecordBatch) -> Result<()> {
        Ok(())
    }
}

/// Converts rows to JSON objects of the log.
fn values_of(adds: &RecordBatch) -> Result<Vec<Value>> {
    let mut writer = WriterBuilder::new()
        .with_explicit_nulls(true)
        .build::<_, LineDelimited>(Vec::new());
    writer
        .write(adds)
        .and_then(|()| writer.finish())
        .map_err(failed)?;
    let mut values = Vec::with_capacity(adds.num_rows());
    for value in serde_json::Deserializer::from_slice(&writer.into_inner()).into_iter::<Value>() {
        let mut value = value.map_err(unread)?;
        // Surviving files do not change data; a writer that adds them again sets its own value.
        value["dataChange"] = Value::Bool(false);
        values.push(value);
    }
    Ok(values)
}

fn unread(error: serde_json::Error) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("an add cannot be serialized again: {error}"),
    )
}
