//! The per-file statistics in a checkpoint, in any of its formats.
//!
//! Protocol: *Per-file Statistics*, *Checkpoint Schema*.

use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use deltaic_protocol::Result;
use deltaic_protocol::actions::{ActionLine, LogicalFileKey, parse_line};
use deltaic_protocol::deletion_vector::Descriptor;

use super::folder::is_json_checkpoint;
use crate::check::file_actions::file_table::FileTable;
use crate::check::file_actions::fingerprint::Fingerprint;
use crate::decode::ActionsFile;
use crate::decode::action_text::{ActionText, Line};
use crate::decode::checkpoint::Checkpoint;
use crate::decode::{FileBatch, StatisticsSource};
use deltaic_storage::location::{TableLocation, without_secrets};
use deltaic_storage::store_error;

/// JSON statistics are read in batches of this fraction of the replay batch size, since each text is large.
const TEXT_SHARE: usize = 16;

/// Callback for each add: its key, the JSON text of its statistics, and `numRecords` if only the struct has it.
pub(super) type TakeStatistics<'a> = dyn FnMut(&LogicalFileKey<'_>, Option<&str>, Option<i64>) + Send + 'a;

/// Reads the statistics of every add, and for Parquet all of their columns, so that damage anywhere is
/// detected.
pub(super) async fn read_statistics(
    checkpoint: &Checkpoint,
    location: &Arc<TableLocation>,
    max_line_bytes: usize,
    take: &mut TakeStatistics<'_>,
) -> Result<()> {
    read_columns(checkpoint, take).await?;
    read_lines(checkpoint, location, max_line_bytes, take).await
}

/// Returns the files whose statistics in a checkpoint differ from the commits, as text for users.
pub(super) async fn other_statistics(
    checkpoint: &Checkpoint,
    location: &Arc<TableLocation>,
    max_line_bytes: usize,
    files: &FileTable,
) -> Result<Vec<String>> {
    let mut others = Vec::new();
    read_statistics(checkpoint, location, max_line_bytes, &mut |key, text, _| {
        if let (Some(text), Some(file)) = (text, files.find(key))
            && Fingerprint::contradicts(Some(Fingerprint::of(text)), file.statistics)
        {
            others.push(without_secrets(&file.path));
        }
    })
    .await?;
    Ok(others)
}

/// Reads every column of a Parquet checkpoint's adds, so that damage anywhere is detected.
async fn read_columns(checkpoint: &Checkpoint, take: &mut TakeStatistics<'_>) -> Result<()> {
    let mut groups: Vec<(Arc<ActionsFile>, usize, Vec<Arc<FileBatch>>)> = Vec::new();
    for batch in &checkpoint.adds {
        let StatisticsSource::RowGroup(place) = &batch.statistics else {
            continue;
        };
        match groups.last_mut() {
            Some((file, group, batches)) if Arc::ptr_eq(file, &place.file) && *group == place.group => {
                batches.push(Arc::clone(batch));
            }
            _ => groups.push((Arc::clone(&place.file), place.group, vec![Arc::clone(batch)])),
        }
    }
    for (file, group, batches) in groups {
        let mut seen = vec![0usize; batches.len()];
        file.read_adds(group, &["add".to_owned()], TEXT_SHARE, |ordinal, adds| {
            let Some(adds) = adds else { return Ok(()) };
            let place = batches.iter().position(|batch| ordinal_of(batch) == ordinal);
            let Some((batch, seen)) =
                place.and_then(|index| Some((batches.get(index)?, seen.get_mut(index)?)))
            else {
                return Ok(());
            };
            let texts = adds
                .column_by_name("stats")
                .and_then(|it| it.as_string_opt::<i32>());
            let parsed = adds
                .column_by_name("stats_parsed")
                .and_then(|it| it.as_struct_opt());
            let records = parsed.and_then(|parsed| {
                let records = parsed.column_by_name("numRecords")?;
                Some((parsed, records.as_primitive_opt::<Int64Type>()?))
            });
            for row in 0..adds.len() {
                if *seen >= batch.len() {
                    break;
                }
                let text = texts
                    .filter(|texts| texts.is_valid(row))
                    .map(|texts| texts.value(row));
                let records = records
                    .filter(|(parsed, records)| parsed.is_valid(row) && records.is_valid(row))
                    .map(|(_, records)| records.value(row));
                take(&batch.keys.key(*seen), text, records);
                *seen += 1;
            }
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// Reads the adds of a top-level file in JSON.
async fn read_lines(
    checkpoint: &Checkpoint,
    location: &Arc<TableLocation>,
    max_line_bytes: usize,
    take: &mut TakeStatistics<'_>,
) -> Result<()> {
    let [file] = checkpoint.files.files.as_slice() else {
        return Ok(());
    };
    if !is_json_checkpoint(file) {
        return Ok(());
    }
    let failed = |error| store_error(&error, &file.relative());
    let text = ActionText::fetch(Arc::clone(location), Arc::clone(file), max_line_bytes)
        .await
        .map_err(failed)?;
    let mut take_line = |_: usize, line: Line<'_>| {
        let Line::Text(line) = line else { return };
        let Ok(ActionLine::Add(add)) = parse_line(line) else {
            return;
        };
        let vector = add.deletion_vector.as_ref().map(Descriptor::from);
        let key = LogicalFileKey::new(&add.path, vector.as_ref().map(Descriptor::key));
        let raw = add.stats.map(|raw| serde_json::from_str::<String>(raw.get()));
        take(&key, raw.and_then(std::result::Result::ok).as_deref(), None);
    };
    text.for_each_line(&mut take_line).await.map_err(failed)
}

fn ordinal_of(batch: &FileBatch) -> usize {
    match &batch.statistics {
        StatisticsSource::RowGroup(place) => place.ordinal,
        _ => 0,
    }
}
